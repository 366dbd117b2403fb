/**
 * JSON on one line, whoever reads it. JSON allows U+0085, U+2028 and U+2029 as they are within strings, and some readers of lines end one
 * there: Node's readline from version 24, Python's `splitlines` and with it httpx. A text of a model could then forge an event.
 */

/** @param json JSON text, which has such characters within strings only */
export const escapeLineEnds = (json: string): string =>
  json.replaceAll(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Without the line end. */
export const toJsonLine = (value: unknown): string => escapeLineEnds(JSON.stringify(value))
