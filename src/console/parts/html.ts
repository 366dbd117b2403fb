/** The template language of the page. All that is put into it becomes text or a property, never markup. */
import htm from 'htm'
import { h, type VNode } from 'preact'

export type View = VNode<any>
export type Child = View | string | number | null | undefined | false | readonly Child[]

/** Tells htm that an element depends on values: it keeps no element without any, which would keep the tree it stood in. */
const DYNAMIC = 3

function createView(this: number[], ...given: Parameters<typeof h>): View {
  this[0] = DYNAMIC
  return h(...given)
}

// Its types describe the module for CommonJS; the bundle has the other one.
const template = (htm as unknown as typeof htm.default).bind(createView as never)

export const html = template as (strings: TemplateStringsArray, ...values: unknown[]) => View
