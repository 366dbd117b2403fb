/** Parses YAML into the events of js-yaml. */
import { EVENT_ID, YAMLException, parseEvents, type Event, type ScalarEvent } from 'js-yaml'
import { indentOf, unclosedAtEnd, DEFICIENT_INDENTATION } from './text-fault.ts'
import { countLeading } from '../../base/values/collections.ts'

/**
 * Parser events of a text. YAML 1.2 requires a closing bracket to be indented further than the key or dash of the line that
 * opens it; other parsers accept the same column, and many authors write it. Such brackets are parsed with one more space,
 * and the offsets of the events are corrected.
 * @param maxDepth maximum nesting of nodes
 * @throws YAMLException
 */
export function eventsOf(text: string, maxDepth: number): readonly Event[] {
  try {
    return parseEvents(text, { maxDepth })
  } catch (error) {
    if (!isDeficientIndentation(error)) throw error
    let brackets = findUnindentedClosings(text)
    if (!brackets.includes(error.mark?.position ?? 0)) throw error
    // Leaving out brackets inside scalars can change what is a scalar, so it repeats; real documents need fewer rounds than this.
    for (let turn = 0; turn < 4; turn++) {
      const { events, own } = parsePadded(text, brackets, maxDepth)
      if (own.length === brackets.length) return events
      brackets = own
    }
    throw error
  }
}

const isDeficientIndentation = (error: unknown): error is YAMLException =>
  error instanceof YAMLException && error.reason === DEFICIENT_INDENTATION

/**
 * Parses the text with one more space before each offset.
 * @param pads the offsets, ascending
 * @returns own: the offsets outside of scalars, whose text must not change
 */
function parsePadded(
  text: string,
  pads: readonly number[],
  maxDepth: number,
): { readonly events: readonly Event[]; readonly own: readonly number[] } {
  const pieces = [0, ...pads].map((start, at) => text.slice(start, pads[at]))
  // Offsets of the added spaces in the parsed text.
  const spaces = pads.map((offset, at) => offset + at)
  const back = (offset: number): number => offset - countLeading(spaces, (space) => space < offset)
  let events: readonly Event[]
  try {
    events = parseEvents(pieces.join(' '), { maxDepth })
  } catch (error) {
    if (error instanceof YAMLException && error.mark !== undefined) error.mark.position = back(error.mark.position)
    throw error
  }
  for (const event of events) {
    for (const [name, offset] of Object.entries(event))
      if (OFFSETS.has(name) && typeof offset === 'number' && offset > 0) Object.assign(event, { [name]: back(offset) })
  }
  const texts = events.filter((event): event is ScalarEvent => event.type === EVENT_ID.SCALAR)
  const own = pads.filter((pad) => {
    const next = texts[countLeading(texts, ({ valueEnd }) => valueEnd <= pad)]
    return next === undefined || next.valueStart >= pad
  })
  return { events, own }
}

const OFFSETS = new Set(['start', 'valueStart', 'valueEnd', 'anchorStart', 'anchorEnd', 'tagStart', 'tagEnd'])

/** Offsets of closing brackets in the column of the key or dash of the line that opens them. */
function findUnindentedClosings(text: string): readonly number[] {
  const closings: number[] = []
  // The enclosing lines, each indented further than the one before.
  const above: { readonly line: string; readonly indent: number; readonly own: number }[] = []
  let start = 0
  for (const line of text.split('\n')) {
    const [, dashes = '', rest = ''] = /^( *(?:- +)*)(.*)/.exec(line) ?? []
    if (rest !== '' && !rest.startsWith('#')) {
      const indent = indentOf(line)
      while ((above.at(-1)?.indent ?? 0) > indent) above.pop()
      const opening = above.at(-1)
      if (
        opening?.own === indent &&
        /[}\]]/.test(line.charAt(indent)) &&
        /[[{]/.test(unclosedAtEnd(opening.line) ?? '')
      )
        closings.push(start + indent)
      if (opening?.indent === indent) above.pop()
      above.push({ line, indent, own: /^[[{]/.test(rest) ? dashes.lastIndexOf('-') : dashes.length })
    }
    start += line.length + 1
  }
  return closings
}
