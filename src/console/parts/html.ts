/** The template language of the page. All that is put into it becomes text or a property, never markup. */
import { html as template } from 'htm/preact'
import type { VNode } from 'preact'

export type View = VNode<any>
export type Child = View | string | number | null | undefined | false | readonly Child[]

export const html = template as (strings: TemplateStringsArray, ...values: unknown[]) => View
