/** What patterns say about texts, without running foreign ones in the regular expression engine of JavaScript. */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { loadRe2 } from '../../base/pattern/re2.ts'

/** Syntax that means the same in a schema (ECMAScript) and in RE2, for texts of printable ASCII. */
const SHARED =
  /^(?:[^\\[(]|\\[dDwWsS.\-/^$*+?()[\]{}|\\tnr]|\[(?:[^[\]\\]|\\[dDwWsS.\-/^$*+?()[\]{}|\\])+\]|\((?!\?)|\(\?:)*$/
const PRINTABLE = /^[\x20-\x7e]*$/
/** Longer patterns prove nothing here. */
const MAX_PATTERN = 256

/** True where the `pattern` of a schema certainly refuses a text. */
export function isRefusedByPattern({ pattern }: JsonObject, value: JsonValue): boolean {
  if (typeof pattern !== 'string' || typeof value !== 'string') return false
  if (pattern.length > MAX_PATTERN || !PRINTABLE.test(value) || !SHARED.test(pattern)) return false
  try {
    return !loadRe2().compile(pattern).test(value)
  } catch {
    return false
  }
}

export interface LiteralPattern {
  readonly text: string
  /** It stands at the beginning, and at the end. */
  readonly start: boolean
  readonly end: boolean
}

/** What a pattern of plain characters, with or without `^` and `$`, asks for; undefined for any other. */
export function literalPattern(pattern: string): LiteralPattern | undefined {
  const [, start, body, end] = /^(\^?)((?:[^\\^$.*+?()[\]{}|]|\\[^A-Za-z0-9])*)(\$?)$/su.exec(pattern) ?? []
  if (body === undefined) return undefined
  return { text: body.replaceAll(/\\(.)/gsu, '$1'), start: start === '^', end: end === '$' }
}
