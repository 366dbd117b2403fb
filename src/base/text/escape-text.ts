/**
 * Makes untrusted text safe to show: model output, tool results, arguments, file names, messages of others.
 * Characters that move the cursor, colour, hide, reorder or end a line are removed or escaped, so that a value cannot forge
 * what is shown around it. Pure, so that a terminal and a browser show the same text.
 * Source: docs/design/security.md#text-of-others
 */

import { UNSEEN_CHARACTER } from './unseen-character.ts'
import { firstCodePoint } from './text-parts.ts'

/** True for printable ASCII, one column per character: most text. */
export const isPlain = (text: string): boolean => PLAIN.test(text)

const PLAIN = /^[\x20-\x7e]*$/

/**
 * Whole control sequences: CSI, then OSC, DCS, SOS, PM and APC with their payload, then the short ones. A payload ends at
 * the first control character, so an unclosed one hides nothing, and the search stays linear.
 */
const SEQUENCES = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]`,
    String.raw`(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)`,
    String.raw`\x1b[ -/]+[0-~]`,
    String.raw`\x1b[0-OQ-WYZ\\\x60-~]`,
  ].join('|'),
  'g',
)

/** Characters that still have an effect, or are invisible. */
const UNSAFE = new RegExp(
  [
    String.raw`[\x00-\x1f\x7f-\x9f]`, // C0, DEL, C1
    UNSEEN_CHARACTER, // no width, blank, or a direction
    String.raw`[\u2028\u2029]`, // line separators
    String.raw`[\ud800-\udfff]`, // lone surrogates
    String.raw`[\ufff0-\ufffc\ufffe\uffff]`, // specials
  ].join('|'),
  'gu',
)

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b' }

/** Text for one line: line breaks and tabs are shown as escapes too. */
export const safeText = (text: string): string =>
  isPlain(text) ? text : text.replace(SEQUENCES, '').replace(UNSAFE, escapeOf)

/** Text of several lines; line breaks (also CR LF) and tabs stay. */
export const safeBlock = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(SEQUENCES, '')
    .replaceAll('\t', '    ')
    .replace(UNSAFE, (found) => (found === '\n' ? '\n' : escapeOf(found)))

/**
 * A value as JSON in one line, or indented. Nothing is removed: what is unsafe becomes a JSON escape, so the text still
 * says exactly the value.
 */
export function safeJson(value: unknown, form: 'line' | 'block' = 'line'): string {
  const text = JSON.stringify(value, null, form === 'block' ? 2 : undefined) ?? 'null'
  // Outside strings the only control character is the line break of the block form.
  return escapeAsJson(text)
}

/** Text in which unsafe characters other than line breaks and tabs are JSON escapes: JSON stays the same value. */
export const escapeAsJson = (text: string): string =>
  PLAIN_BLOCK.test(text)
    ? text
    : text.replace(UNSAFE, (found) => (found === '\n' || found === '\t' ? found : jsonEscapeOf(found)))

const PLAIN_BLOCK = /^[\n\t\x20-\x7e]*$/

function escapeOf(found: string): string {
  const named = NAMED[found]
  if (named !== undefined) return named
  const code = firstCodePoint(found)
  if (code <= 0xff) return `\\x${hex(code, 2)}`
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 1)}}`
}

const jsonEscapeOf = (found: string): string =>
  Array.from({ length: found.length }, (_, at) => `\\u${hex(found.charCodeAt(at), 4)}`).join('')

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

const HTML_NAMES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A text as HTML shows it, in content and in attributes with double quotes. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (char) => HTML_NAMES[char] ?? char)
