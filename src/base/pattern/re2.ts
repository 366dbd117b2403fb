import { createRequire } from 'node:module'
import type * as Re2js from 're2js'

let loaded: typeof Re2js.RE2JS | undefined

/** Loads RE2 at the first pattern: most policies and scripts have none, and loading it would slow every command that reads documents. */
export function loadRe2(): typeof Re2js.RE2JS {
  loaded ??= (createRequire(import.meta.url)('re2js') as typeof Re2js).RE2JS
  return loaded
}
