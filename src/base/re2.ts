import { createRequire } from 'node:module'
import type * as Re2js from 're2js'

let loaded: typeof Re2js.RE2JS | undefined

/** RE2, loaded with the first pattern: most policies and scripts have none, and every command that reads documents would wait for it. */
export function loadRe2(): typeof Re2js.RE2JS {
  loaded ??= (createRequire(import.meta.url)('re2js') as typeof Re2js).RE2JS
  return loaded
}
