import { createRequire } from 'node:module'
import type stringWidth from 'string-width'

let measure: typeof stringWidth | undefined

/** True for text of which each letter is shown as it is, in one column: nearly all is so. */
export const isPlain = (text: string): boolean => PLAIN.test(text)

const PLAIN = /^[\x20-\x7e]*$/

/** Columns that text takes; styles take none. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length
  // Its tables of Unicode take longer to read than most commands take to run.
  measure ??= (createRequire(import.meta.url)('string-width') as { readonly default: typeof stringWidth }).default
  return measure(text)
}
