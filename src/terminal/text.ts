/**
 * Makes untrusted text safe for a terminal: model output, tool results, arguments, file names, messages of others.
 * Characters that move the cursor, colour, hide, reorder or end a line are removed or escaped, so that a value cannot forge
 * what is drawn around it. Source: command line, 1.2; security, S18.
 */
import { isPlain, widthOf } from './width.ts'

export { isPlain, widthOf }

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
    String.raw`[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]`, // bidi controls
    String.raw`[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0]`, // no width, or blank
    String.raw`[\u2028\u2029]`, // line separators
    String.raw`[\ud800-\udfff]`, // lone surrogates
    String.raw`[\ufff0-\ufffc\ufffe\uffff]|[\u{e0000}-\u{e0fff}]`, // specials and tags
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
    .replace(UNSAFE, (found) => (found === '\n' ? '\n' : found === '\t' ? '    ' : escapeOf(found)))

/**
 * A value as JSON in one line, or indented. Nothing is removed: what is unsafe becomes a JSON escape, so the text still
 * says exactly the value.
 */
export function safeJson(value: unknown, form: 'line' | 'block' = 'line'): string {
  const text = JSON.stringify(value, null, form === 'block' ? 2 : undefined) ?? 'null'
  // Outside strings the only control character is the line break of the block form.
  return text.replace(UNSAFE, (found) => (found === '\n' ? '\n' : jsonEscapeOf(found)))
}

/** Plain text cut to `width` columns, the last of them an ellipsis. */
export function truncateText(text: string, width: number): string {
  if (text.length <= width && widthOf(text) <= width) return text
  if (width <= 0) return ''
  let columns = 0
  let fits = 0
  let at = 0
  for (const each of graphemesOf(text)) {
    columns += widthOf(each)
    if (columns > width) return `${text.slice(0, fits)}…`
    at += each.length
    if (columns < width) fits = at
  }
  return text
}

/** Plain text in lines of at most `width` columns, broken between words where that is possible. */
export function wrapText(text: string, width: number): string[] {
  if (!Number.isFinite(width)) return text.split('\n')
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(1, width)))
}

/** Plain text of one line in pieces of at most `width` columns; together they are exactly the text. */
export function foldText(text: string, width: number): string[] {
  const pieces: string[] = []
  let current = ''
  let columns = 0
  for (const each of graphemesOf(text)) {
    const next = widthOf(each)
    if (current !== '' && columns + next > width) {
      pieces.push(current)
      current = ''
      columns = 0
    }
    current += each
    columns += next
  }
  return [...pieces, current]
}

/** Fills up to `width` columns; longer text stays as it is. */
export function padText(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'left' ? text + space : space + text
}

function wrapLine(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line]
  const lines: string[] = []
  let current = ''
  const flush = (): void => {
    lines.push(current.trimEnd())
    current = ''
  }
  for (const word of line.match(/\s+|\S+/g) ?? []) {
    if (widthOf(current) + widthOf(word) <= width) {
      current += word
      continue
    }
    if (/^\s/.test(word)) {
      flush()
      continue
    }
    if (current !== '') flush()
    const pieces = foldText(word, width)
    lines.push(...pieces.slice(0, -1))
    current = pieces.at(-1)!
  }
  if (current !== '') flush()
  return lines
}

function* graphemesOf(text: string): Generator<string, void, undefined> {
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) yield segment
}

const escapeOf = (found: string): string => {
  const code = found.codePointAt(0)!
  return (
    NAMED[found] ??
    (code <= 0xff ? `\\x${hex(code, 2)}` : code <= 0xffff ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 1)}}`)
  )
}

const jsonEscapeOf = (found: string): string =>
  Array.from({ length: found.length }, (_, at) => `\\u${hex(found.charCodeAt(at), 4)}`).join('')

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')
