import { createRequire } from 'node:module'
import type stringWidth from 'string-width'

let measure: typeof stringWidth | undefined

/** Columns that text takes; styles take none. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  // Its tables of Unicode take longer to read than most commands take to run.
  measure ??= (createRequire(import.meta.url)('string-width') as { readonly default: typeof stringWidth }).default
  return measure(text)
}
