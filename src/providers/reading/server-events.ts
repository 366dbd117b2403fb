/**
 * The event streams of model servers. Frames without data, comments and keep-alives are no events; a plain JSON body in place of a
 * stream is one answer. The SDKs' own readers fail on both.
 */
import { createParser } from 'eventsource-parser'
import { EXTERNAL_JSON, isJsonObject, jsonDepth, parseJsonIfAny, type JsonObject } from '../../base/json/json.ts'
import { ENDLESS_ANSWER } from '../../base/net/chunk-response.ts'
import { CutStream, describeForm, FormProblem, quote } from './form-problem.ts'
import { isOfAnswer, namedError, refuseError, type StreamError } from './stream-error.ts'

/** The server said `[DONE]`: the answer is whole, whatever else it left out. */
export const STREAM_DONE = Symbol('[DONE]')
/** The server sent something that is no event, such as a comment: it is there, and says nothing. */
export const KEPT_ALIVE = Symbol('kept alive')

/** The longest answer that is no stream, and the longest event of one, in characters. */
const MAX_WHOLE = 16 * 1024 * 1024
/** What is kept of lines that belong to no event. */
const MAX_STRAY = 64 * 1024

export type ServerEvent = JsonObject | typeof STREAM_DONE | typeof KEPT_ALIVE

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
  let isEmpty = true
  for await (const frame of readFrames(response)) {
    if (frame === KEPT_ALIVE) {
      yield KEPT_ALIVE
      continue
    }
    isEmpty = false
    const place = frame.isWhole ? 'the body' : `event ${++number}`
    if (frame.data.trim().startsWith('[DONE]')) {
      yield STREAM_DONE
      continue
    }
    for (const value of listOf(parseFrame(frame, place))) {
      // Sent to keep the connection alive.
      if (value === null) {
        yield KEPT_ALIVE
        continue
      }
      if (!isJsonObject(value)) throw new FormProblem(place, `${describeForm(value)}, not an object`)
      refuseError(value)
      // A body of something else, such as a status page, is no answer that broke off.
      if (frame.isWhole) yield* isOfAnswer(value) ? toEvents(value) : []
      else yield value
    }
    if (frame.isWhole) yield STREAM_DONE
  }
  // Whoever stands before the model answered for it, and the model never did.
  if (isEmpty && response.headers.get('content-type')?.startsWith('text/event-stream')) throw new CutStream()
}

/** An answer whose stream has only events with data, for an SDK that reads it itself. */
export function withCleanEvents(response: Response): Response {
  if (!response.ok) return response
  const frames = readFrames(response)
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    const { value: frame, done } = await frames.next()
    if (done === true) return { done: true, value: undefined }
    if (frame === KEPT_ALIVE) return next()
    if (frame.data.trim().startsWith('[DONE]')) return next()
    const values = listOf(parseFrame(frame, frame.isWhole ? 'the body' : 'an event')).filter((each) => each !== null)
    for (const each of values) if (isJsonObject(each)) refuseError(each)
    if (values.length === 0) return next()
    // As it came where it can be: printed again, a number beyond all bounds would be null.
    const events = frame.isWhole ? values.map((each) => JSON.stringify(each)) : [frame.data]
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
  /** The frame is the server's error. */
  readonly error?: StreamError
}

/**
 * Frames with data, and a sign of life for bytes that complete none. Lines that belong to no event, such as those of a web page, give
 * no frame.
 * @throws StreamError for a frame, a field or stray lines that are the server's error
 */
async function* readFrames(response: Response): AsyncGenerator<Frame | typeof KEPT_ALIVE, void> {
  const decoder = new TextDecoder()
  let frames: Frame[] = []
  let stray = ''
  let isEnded = false
  const parser = createParser({
    maxBufferSize: MAX_WHOLE,
    onEvent({ event, data: sent }) {
      // Frameworks write the name of the field, and so do many who use them.
      const data = sent.replace(/^(?:data: *)+/, '')
      if (data.trim() === '') return
      frames.push(event === 'error' ? { data, error: namedError(data) } : { data, isUnended: isEnded })
    },
    onError({ type, field, value = '', line = '' }) {
      if (type === 'max-buffer-size-exceeded') throw endless('An event')
      if (type === 'unknown-field' && field === 'error') frames.push({ data: value, error: namedError(value) })
      else if (stray.length < MAX_STRAY) stray += `${line}\n`
    },
  })
  let start = ''
  let isStream = false
  for await (const bytes of response.body ?? []) {
    const text = decoder.decode(bytes, { stream: true })
    if (isStream) parser.feed(text)
    else {
      start = start === '' ? text.trimStart() : start + text
      const first = start[0]
      if (first === '{' || first === '[') {
        if (start.length > MAX_WHOLE) throw endless('A body')
      } else if (first !== undefined) {
        isStream = true
        parser.feed(start)
      }
    }
    if (frames.length === 0) yield KEPT_ALIVE
    else yield* untilError(frames)
    frames = []
  }
  if (!isStream) return void (start.trim() !== '' && (yield { data: start, isWhole: true }))
  isEnded = true
  parser.feed(`${decoder.decode()}\n\n`)
  yield* untilError(frames)
  // Some servers end a stream with the body that a refusal would have had.
  const body = parseJsonIfAny(stray)
  if (isJsonObject(body)) refuseError(body)
}

/** @throws StreamError after the frames before it */
function* untilError(frames: readonly Frame[]): Generator<Frame, void> {
  for (const frame of frames) {
    if (frame.error) throw frame.error
    yield frame
  }
}

const endless = (what: string): Error =>
  Object.assign(new Error(`${what} of more than 16 MiB.`), { code: ENDLESS_ANSWER })

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** @throws CutStream where a stream broke off within an event; FormProblem for any other data that is no JSON */
function parseFrame({ data, isUnended }: Frame, place: string): unknown {
  if (data.length > 2 * EXTERNAL_JSON.maxLevels && jsonDepth(data) > EXTERNAL_JSON.maxLevels)
    throw new FormProblem(place, `is nested deeper than ${EXTERNAL_JSON.maxLevels} levels`)
  try {
    return JSON.parse(data)
  } catch {
    if (isUnended) throw new CutStream()
    throw new FormProblem(place, `is no JSON: ${quote(data)}`)
  }
}
