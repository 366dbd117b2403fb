/** The part that providers built on a vendor's SDK share: one streamed completion, with the SDK's errors converted. */
import { cutText, isHighHalf } from '../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { wellFormedJson } from '../base/json/well-formed.ts'
import type { FetchFunction, GuardedRequestInit } from '../base/net/transport.ts'
import type { CompletionRequest, ModelCompletion, ModelProvider } from './provider.ts'
import { FormProblem } from './reading/form-problem.ts'
import { STREAM_DONE, type KEPT_ALIVE } from './reading/server-events.ts'
import { untilOver, type StreamEnd } from './reading/until-over.ts'
import { isConnectionFault, toProviderError, unreadableAnswerError, type SdkErrorParts } from './sdk-error.ts'

export interface SdkParts extends SdkErrorParts {
  /** The vendor's own address when absent. */
  readonly baseUrl?: string
  /** Sends the requests, through the egress checks. */
  readonly fetch: FetchFunction
}

/** Assembles a completion from the events of one stream. */
export interface StreamCollector<Event> {
  /** Returns the text that the event adds, and the text that is not displayed. */
  add(event: Event): { readonly text: string; readonly hidden: string }
  /** Whether the server has said why the answer ended. Only its usage may follow. */
  isWhole(): boolean
  /**
   * @param isDone the server said that the stream is whole
   * @throws ProviderError when the answer is not complete, FormProblem when it is in no known form
   */
  finish(isDone: boolean): ModelCompletion
}

/** Options of one request for an SDK that sends `headers`, and hands `fetchOptions` to our `fetch`. */
export const sendOptions = ({ mayLeave, trace }: CompletionRequest) => ({
  ...(trace && { headers: { ...trace } }),
  ...(mayLeave && { fetchOptions: { mayLeave } satisfies GuardedRequestInit as object }),
})

interface SdkAdapter<Client, Event> {
  /** Loads the SDK, once, with the first completion. */
  readonly load: () => Promise<Client>
  readonly open: (
    client: Client,
    request: CompletionRequest,
    signal: AbortSignal,
  ) => Promise<AsyncIterable<Event | typeof STREAM_DONE | typeof KEPT_ALIVE>>
  readonly collect: (request: CompletionRequest) => StreamCollector<Event>
}

export function createSdkProvider<Client, Event>(
  parts: SdkParts,
  { load, open, collect }: SdkAdapter<Client, Event>,
): ModelProvider {
  let loading: Promise<Client> | undefined
  /** Reads a part of the answer. What a collector does not expect is a form of the vendor's, not a bug of ours. */
  const read = <T>(action: () => T): T => {
    try {
      return action()
    } catch (error) {
      throw error instanceof TypeError
        ? new FormProblem('the answer', `has an unexpected form: ${error.message}`)
        : error
    }
  }
  return {
    async *complete(request, signal) {
      signal.throwIfAborted()
      const client = await (loading ??= load())
      const collector = collect(request)
      const [shown, hidden] = [joinHalves(), joinHalves()]
      let isEmpty = true
      let isDone = false
      let isOver = false
      let served: string | undefined
      const sending = new AbortController()
      const stop = (): void => sending.abort(signal.reason)
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
      let heardAt = parts.clock.monotonic()
      const end: StreamEnd = {
        heardAt: () => heardAt,
        isOver: () => isOver,
        mayBreak: (error) => (isOver || collector.isWhole()) && isHarmless(error) && !signal.aborted,
        close: () => sending.abort(),
        clock: parts.clock,
      }
      try {
        for await (const event of untilOver(await open(client, request, sending.signal), end)) {
          if (event === STREAM_DONE) {
            isDone = true
            isOver = true
            continue
          }
          isEmpty = false
          isOver ||= isLast(event)
          served ??= servedModel(event)
          const added = read(() => collector.add(event))
          if (added.text + added.hidden !== '') heardAt = parts.clock.monotonic()
          const [text, other] = [shown(added.text), hidden(added.hidden)]
          if (text !== '') yield { type: 'text', text }
          if (other !== '') yield { type: 'hidden', text: other }
        }
        // The SDKs end a stream without an error when it is aborted and when the connection is cut.
        signal.throwIfAborted()
        if (isEmpty) throw unreadableAnswerError(parts.remedies)
        const answer = wellFormedJson(read(() => collector.finish(isDone)))
        const isOther = served !== undefined && served !== request.model.name
        const completion = isOther ? { ...answer, servedBy: served! } : answer
        const rest = shown('', true)
        if (rest !== '') yield { type: 'text', text: rest }
        yield { type: 'end', completion }
      } catch (error) {
        signal.throwIfAborted()
        throw toProviderError(error, parts)
      } finally {
        signal.removeEventListener('abort', stop)
      }
    },
  }
}

/** What takes nothing from an answer that is whole: a connection that breaks, or something odd behind it. */
const isHarmless = (error: unknown): boolean => isConnectionFault(error) || error instanceof FormProblem

/** Events after which a server has nothing more to say. */
const LAST_EVENTS: ReadonlySet<unknown> = new Set(['message_stop', 'response.completed', 'response.incomplete'])

const isLast = (event: unknown): boolean => isJsonObject(event) && LAST_EVENTS.has(event['type'])

/** Longest name of a model that is kept. */
const MOST_NAME = 200

/** The model that an event of a stream names: beside it (OpenAI, Gemini), or in the message or response that it begins. */
function servedModel(event: unknown): string | undefined {
  if (!isJsonObject(event as JsonValue)) return undefined
  const { model, modelVersion, message, response } = event as JsonObject
  const inside = [message, response].map((each) =>
    each !== undefined && isJsonObject(each) ? each['model'] : undefined,
  )
  const name = [model, modelVersion, ...inside].find((each) => typeof each === 'string' && each !== '')
  return typeof name === 'string' ? cutText(name.toWellFormed(), MOST_NAME).text : undefined
}

/** Joins pieces of a text so that none ends within a pair of code units: the half waits for the next piece. */
function joinHalves(): (piece: string, isLast?: boolean) => string {
  let held = ''
  return (piece, isLast = false) => {
    const text = held + piece
    held = !isLast && isHighHalf(text.charCodeAt(text.length - 1)) ? text.slice(-1) : ''
    return (held === '' ? text : text.slice(0, -1)).toWellFormed()
  }
}
