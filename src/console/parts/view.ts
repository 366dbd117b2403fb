/** What components return, and what stands between their tags. What is put into markup becomes text or a property, never markup. */
import type { VNode } from 'preact'

export type View = VNode
export type Child = View | string | number | null | undefined | false | readonly Child[]
