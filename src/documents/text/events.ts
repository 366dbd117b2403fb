/** A text as the parser of js-yaml takes it apart. */
import { EVENT_ID, YAMLException, parseEvents, type Event, type ScalarEvent } from 'js-yaml'
import { indentOf, openAtEnd, TOO_LITTLE } from './text-fault.ts'

/**
 * What the parser says of a text. A bracket that closes right below the key or dash of the line that opens it, as other readers
 * allow and many write it, is one column short for the parser of YAML 1.2: it is given one more, and the offsets are taken back.
 * @param maxDepth levels of nodes
 * @throws YAMLException
 */
export function eventsOf(text: string, maxDepth: number): readonly Event[] {
  try {
    return parseEvents(text, { maxDepth })
  } catch (error) {
    if (!isTooLittle(error)) throw error
    let brackets = closingsBelow(text)
    if (!brackets.includes(error.mark?.position ?? 0)) throw error
    // Without those in texts what remains may be read in another way; nobody writes what takes more turns than these.
    for (let turn = 0; turn < 4; turn++) {
      const { events, own } = padded(text, brackets, maxDepth)
      if (own.length === brackets.length) return events
      brackets = own
    }
    throw error
  }
}

const isTooLittle = (error: unknown): error is YAMLException =>
  error instanceof YAMLException && error.reason === TOO_LITTLE

/**
 * @param pads offsets before which a space more is read, ascending
 * @returns own: those of them that stand in no text, which is to be read as it stands
 */
function padded(
  text: string,
  pads: readonly number[],
  maxDepth: number,
): { readonly events: readonly Event[]; readonly own: readonly number[] } {
  const pieces = [0, ...pads].map((start, at) => text.slice(start, pads[at]))
  // Where the spaces stand in what is parsed.
  const spaces = pads.map((offset, at) => offset + at)
  const back = (offset: number): number => {
    let [low, high] = [0, spaces.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (spaces[middle]! < offset) low = middle + 1
      else high = middle
    }
    return offset - low
  }
  let events: readonly Event[]
  try {
    events = parseEvents(pieces.join(' '), { maxDepth })
  } catch (error) {
    if (error instanceof YAMLException && error.mark !== undefined) error.mark.position = back(error.mark.position)
    throw error
  }
  for (const event of events) {
    const offsets = event as unknown as Record<string, unknown>
    for (const name of OFFSETS) {
      const offset = offsets[name]
      if (typeof offset === 'number' && offset > 0) offsets[name] = back(offset)
    }
  }
  const texts = events.filter((event): event is ScalarEvent => event.type === EVENT_ID.SCALAR)
  let next = 0
  const own = pads.filter((pad) => {
    while (next < texts.length && texts[next]!.valueEnd <= pad) next++
    return texts[next] === undefined || texts[next]!.valueStart >= pad
  })
  return { events, own }
}

const OFFSETS = ['start', 'valueStart', 'valueEnd', 'anchorStart', 'anchorEnd', 'tagStart', 'tagEnd']

/** Offsets of the brackets that stand right below the key, or the dash, of the line that opens them: nothing else is meant. */
function closingsBelow(text: string): readonly number[] {
  const closings: number[] = []
  // Of the lines so far those below which another can stand, each indented further than the one before.
  const above: { readonly line: string; readonly indent: number; readonly own: number }[] = []
  let start = 0
  for (const line of text.split('\n')) {
    const [, dashes = '', rest = ''] = /^( *(?:- +)*)(.*)/.exec(line) ?? []
    if (rest !== '' && !rest.startsWith('#')) {
      const indent = indentOf(line)
      while ((above.at(-1)?.indent ?? 0) > indent) above.pop()
      const opening = above.at(-1)
      if (opening?.own === indent && /[}\]]/.test(line[indent]!) && /[[{]/.test(openAtEnd(opening.line) ?? ''))
        closings.push(start + indent)
      if (opening?.indent === indent) above.pop()
      above.push({ line, indent, own: /^[[{]/.test(rest) ? dashes.lastIndexOf('-') : dashes.length })
    }
    start += line.length + 1
  }
  return closings
}
