/** Values and places that parser events have in their text. */
import {
  COLLECTION_STYLE,
  SCALAR_STYLE,
  getScalarValue,
  type MappingEvent,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml'
import { plainValue, type YamlNode } from './node.ts'

/** The value of a scalar with its place, quotes included. */
export function toScalarNode(text: string, event: ScalarEvent): YamlNode {
  const { valueStart: start, valueEnd: end, style } = event
  const value = getScalarValue(text, event)
  if (style === SCALAR_STYLE.PLAIN) return { start, end, value: plainValue(value), plain: true }
  if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED)
    return { start: start - 1, end: end + 1, value }
  return { start, end: start + text.slice(start, end).trimEnd().length, value }
}

/** Offset after a mapping or a list whose last child ends at `last`. */
export const endOfCollection = (text: string, event: MappingEvent | SequenceEvent, last: number): number =>
  isBracketed(text, event) ? closingBracket(text, last) : last

/** False for the implicit mapping of a pair in a list: `[key: value]`. */
const isBracketed = (text: string, { style, start }: MappingEvent | SequenceEvent): boolean =>
  style === COLLECTION_STYLE.FLOW && (text[start] === '[' || text[start] === '{')

/** Offset after the closing bracket of a flow collection whose last child ends at `from`; only space, commas and comments are between. */
function closingBracket(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (char === ']' || char === '}') return at + 1
    if (char === '#') while (at + 1 < text.length && text[at + 1] !== '\n' && text[at + 1] !== '\r') at++
  }
  return text.length
}
