import { createRequire } from 'node:module'
import type stringWidth from 'string-width'
import { isPlain } from '../base/text/escape-text.ts'

let measure: typeof stringWidth | undefined

/** Number of columns of a text; styles take none. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length
  // Loaded on demand: its Unicode tables take longer to load than most commands to run.
  measure ??= (createRequire(import.meta.url)('string-width') as { readonly default: typeof stringWidth }).default
  return measure(text)
}
