import type { JsonObject, JsonValue } from '../../base/json/json.ts'

/**
 * JSON text for a column, always well-formed Unicode: what comes from outside is made so where it enters, and this catches what was
 * missed. `JSON.stringify` escapes each half of a pair; no database accepts the half that a reader gets back.
 */
export const toColumnText = (value: object | JsonValue): string => {
  const text = JSON.stringify(value)
  return text.includes(String.raw`\ud`) ? text.replace(ESCAPED_HALF, '$1\ufffd') : text
}

/** The first group is what escapes the backslash: `\\ud800` is text about a half. */
const ESCAPED_HALF = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** Plain text for a column: no database stores half of a surrogate pair, and SQLite cuts a text at its first NUL. */
export const toPlainText = (text: string | null): string | null =>
  text === null ? null : text.toWellFormed().replaceAll('\0', '\ufffd')

/** JSON text for a column. Both `null` and undefined become NULL. */
export const toText = (value: object | JsonValue | undefined): string | null =>
  value == null ? null : toColumnText(value)

export const toValue = (text: string | null): JsonValue => (text === null ? null : (JSON.parse(text) as JsonValue))

/** Parses a column that always holds an object. The cast holds because only the store writes the column. */
export const toObject = (text: string): JsonObject => JSON.parse(text) as JsonObject
