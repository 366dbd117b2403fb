import { shortenText } from '../base/text/cut-text.ts'
import { UNSEEN_CHARACTER } from '../base/text/unseen-character.ts'
import type { JsonValue } from '../base/json/json.ts'
import { maskCredentials } from '../documents/text/credentials.ts'

const UNSEEN = new RegExp(UNSEEN_CHARACTER, 'gu')

/** A description of a foreign document without characters that nobody sees, cut; undefined where nothing is left. */
export function cleanForeignText(value: JsonValue | undefined, most: number): string | undefined {
  if (typeof value !== 'string' || most === 0) return undefined
  const text = value
    .slice(0, most * 8)
    .replace(UNSEEN, '')
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ')
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n\s*/g, '\n')
    .trim()
  return text === '' ? undefined : shortenText(text, most)
}

/** A name or value of a foreign document within a sentence: in quotes, cut, on one line, without what looks like a credential. */
export const quoteForeign = (value: JsonValue, most = 80): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `"${shortenText(maskCredentials(text.replace(/[^\x20-\x7e\p{L}]/gu, '?')), most)}"`
}
