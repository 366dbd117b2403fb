/** Event streams of MCP servers, split into events without buffering more than a bound. */
import { createParser } from 'eventsource-parser'

/** The text of one event, or the beginning of one that is longer than the bound. */
export interface EventText {
  readonly text: string
  readonly isCut: boolean
}

/** A blank line, which ends an event. */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n)){2}/

/** Splits a stream into events. What an event has beyond `maxBytes` is skipped, and no more than that is kept of it. */
export async function* splitEvents(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<EventText> {
  const decoder = new TextDecoder()
  let pieces: string[] = []
  let bytes = 0
  let isSkipping = false
  /** The end of the last piece: a blank line may be split. */
  let tail = ''
  for await (const chunk of body) {
    let rest = decoder.decode(chunk, { stream: true })
    for (let found; (found = BLANK_LINE.exec(tail + rest)); tail = '') {
      const end = found.index + found[0].length - tail.length
      const text = pieces.join('') + rest.slice(0, end)
      if (!isSkipping) yield { text, isCut: Buffer.byteLength(text) > maxBytes }
      rest = rest.slice(end)
      ;[pieces, bytes, isSkipping] = [[], 0, false]
    }
    tail = (tail + rest).slice(-3)
    if (isSkipping || rest === '') continue
    pieces.push(rest)
    bytes += chunk.byteLength
    if (bytes <= maxBytes) continue
    yield { text: pieces.join(''), isCut: true }
    ;[pieces, isSkipping] = [[], true]
  }
  // Some servers end the stream without the blank line.
  if (pieces.length > 0) yield { text: pieces.join(''), isCut: false }
}

/** The data of an event; undefined for one without data, such as a comment. */
export function dataOfEvent(text: string): string | undefined {
  let data: string | undefined
  const parser = createParser({
    onEvent(event) {
      if (data === undefined && event.data.trim() !== '') data = event.data
    },
  })
  parser.feed(`${text}\n\n`)
  return data
}

/** The event with other data. */
export function withEventData(text: string, data: string): string {
  const kept = text.split(/\r\n|\n|\r/).filter((line) => line !== '' && !/^(?:data|\uFEFF?data)(?::|$)/.test(line))
  return [...kept, `data: ${data}`, '', ''].join('\n')
}

/** True for a body that is an event stream although its content type does not say so. */
export const looksLikeEvents = (text: string): boolean => /^\uFEFF?\s*(?:event|data|id|retry)?:/.test(text)
