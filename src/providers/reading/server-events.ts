/**
 * The event streams of model servers. Frames without data, comments and keep-alives are no events; a plain JSON body in place of a
 * stream is one answer. The SDKs' own readers fail on both.
 */
import { createParser } from 'eventsource-parser'
import { shortenText } from '../../base/text/cut-text.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { ENDLESS_ANSWER } from '../../base/net/chunk-response.ts'
import { CutStream, FormProblem } from './form-problem.ts'

/** The server said `[DONE]`: the answer is whole, whatever else it left out. */
export const STREAM_DONE = Symbol('[DONE]')

/** The longest answer that is no stream. */
const MAX_WHOLE_BYTES = 16 * 1024 * 1024

export type ServerEvent = JsonObject | typeof STREAM_DONE

/**
 * The events of an answer, each an object.
 * @param toEvents the events that a stream would have had, for an answer that came as one JSON body
 * @throws FormProblem for data that is no JSON; what the server sent as its error
 */
export async function* readServerEvents(
  response: Response,
  toEvents: (whole: JsonObject) => readonly JsonObject[],
): AsyncGenerator<ServerEvent, void> {
  let number = 0
  for await (const frame of readFrames(response)) {
    const place = frame.isWhole ? 'the body' : `event ${++number}`
    if (frame.data.trim().startsWith('[DONE]')) {
      yield STREAM_DONE
      continue
    }
    for (const value of listOf(parseFrame(frame, place))) {
      // Sent to keep the connection alive.
      if (value === null) continue
      if (!isJsonObject(value))
        throw new FormProblem(place, `is ${shortenText(JSON.stringify(value), 20)}, not an object`)
      refuseError(value)
      if (frame.isWhole) yield* toEvents(value)
      else yield value
    }
    if (frame.isWhole) yield STREAM_DONE
  }
}

/** An answer whose stream has only events with data, for an SDK that reads it itself. */
export function withCleanEvents(response: Response): Response {
  if (!response.ok) return response
  const frames = readFrames(response)
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    const { value: frame, done } = await frames.next()
    if (done === true) return { done: true, value: undefined }
    if (frame.data.trim().startsWith('[DONE]')) return next()
    const events = frame.isWhole
      ? listOf(parseFrame(frame, 'the body')).map((each) => JSON.stringify(each))
      : [frame.data]
    const text = events.map((each) => `data: ${each.replaceAll(/\r\n|\r|\n/g, ' ')}\n\n`).join('')
    return { done: false, value: Buffer.from(text) }
  }
  const cancel = async (): Promise<void> => void (await frames.return())
  const body = {
    getReader: () => ({ read: next, releaseLock() {}, cancel }),
    cancel,
    [Symbol.asyncIterator]: () => ({ next }),
  }
  const { status, statusText, headers } = response
  return { status, statusText, headers, ok: true, url: '', body } as unknown as Response
}

interface Frame {
  readonly data: string
  /** The whole body, which is JSON and no stream. */
  readonly isWhole?: true
  /** The stream ended without the blank line that ends an event. */
  readonly isUnended?: boolean
}

/** Frames with data. Bytes that belong to none, such as those of a web page, give no frame. */
async function* readFrames(response: Response): AsyncGenerator<Frame, void> {
  const decoder = new TextDecoder()
  let frames: Frame[] = []
  let isEnded = false
  const parser = createParser({
    onEvent: ({ data }) => void (data.trim() !== '' && frames.push({ data, isUnended: isEnded })),
  })
  let start = ''
  let isStream = false
  for await (const bytes of response.body ?? []) {
    const text = decoder.decode(bytes, { stream: true })
    if (isStream) parser.feed(text)
    else {
      start += text
      const first = /[^\s\ufeff]/.exec(start)?.[0]
      if (first === undefined) continue
      if (first === '{' || first === '[') {
        if (start.length > MAX_WHOLE_BYTES)
          throw Object.assign(new Error('A body of more than 16 MiB.'), { code: ENDLESS_ANSWER })
        continue
      }
      isStream = true
      parser.feed(start)
    }
    yield* frames
    frames = []
  }
  if (!isStream) return void (start.trim() !== '' && (yield { data: start, isWhole: true }))
  isEnded = true
  parser.feed(`${decoder.decode()}\n\n`)
  yield* frames
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** @throws CutStream where a stream broke off within an event; FormProblem for any other data that is no JSON */
function parseFrame({ data, isUnended }: Frame, place: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    if (isUnended) throw new CutStream()
    throw new FormProblem(place, `is no JSON: ${JSON.stringify(shortenText(data, 80))}`)
  }
}

/** Throws what the server sent in place of an answer, as the SDKs do: an error whose `error` is the body. */
function refuseError(event: JsonObject): void {
  const { error, type, message } = event
  if (type === 'error') throw Object.assign(new Error('error event'), { error: event })
  if (error === undefined || error === null || error === '' || error === false) return
  // A response of the Responses API has the member as well.
  if (typeof type === 'string' || event['object'] === 'response') return
  const body = isJsonObject(error)
    ? error
    : { message: [error, message].find((each) => typeof each === 'string') ?? 'error' }
  throw Object.assign(new Error('error in the stream'), { error: body })
}
