/**
 * The requests of the MCP client. Their answers are read here, before the client does: it would refuse a whole answer for one
 * odd field, so it only gets what it needs.
 */
import { setMaxListeners } from 'node:events'
import { ReadableStream } from 'node:stream/web'
import { shortenText } from '../../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue, objectOf } from '../../base/json/json.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import type { Redactor } from '../../base/secret.ts'
import { tokenErrorOf } from '../oauth/authorization-server.ts'
import { readMcpMessage, type McpAnswer } from './mcp-answer.ts'
import {
  isEventStream,
  readAnswer,
  readEventAnswers,
  findEventAnswer,
  readBoundedBody,
  readBodyWithin,
} from './mcp-body.ts'
import { withEventData } from './mcp-events.ts'
import { MAX_OUTPUT_BYTES } from '../tool.ts'

/** Tells which request carries which attempt; servers ignore it. */
export const ATTEMPT_HEADER = 'svc-attempt'

/** Stands in `_meta` of a question that came with the answer to an attempt, once it was read here: the call that asks. */
export const ASKING_ATTEMPT = 'svc/attempt'

/** Result or error of the message that the client gets in place of an answer. */
export type ClientAnswer = { readonly result: JsonObject } | { readonly error: JsonObject }

export interface ExpectedAnswer {
  readonly maxBytes: number
  /** Called once for each request. */
  readonly onAnswer: (answer: McpAnswer) => ClientAnswer
}

export interface McpExchanges {
  readonly fetch: FetchFunction
  /** Reads the answers to the requests of an attempt until `done` is called. */
  expect(attempt: string, expected: ExpectedAnswer): { done(): void }
  /** Ends all answers that have not ended. */
  stopAll(): void
}

/** Larger than a result may be, because an answer wraps a result. */
export const MAX_MCP_ANSWER_BYTES = 4 * MAX_OUTPUT_BYTES

/** The peer answered in a form that cannot be used. No outage: waiting does not help. The message continues "MCP server x". */
export class McpFormError extends Error {
  override readonly name = 'McpFormError'
}

export interface McpExchangesParts {
  readonly fetch: FetchFunction
  /** How long a server may take to answer the newest handshake before the older one is tried. */
  readonly discoverMs: number
  /** Revisions of the protocol that the client speaks. */
  readonly versions: readonly string[]
  /** Knows the credentials: a server may say them in an answer that is shown in part. */
  readonly redactor: Redactor
  /** Called for an answer that cannot be used: the client does not say so of one that came on a stream. */
  readonly onProblem: (attempt: string | null, error: unknown) => void
}

export function createMcpExchanges({
  fetch,
  discoverMs,
  versions,
  redactor,
  onProblem,
}: McpExchangesParts): McpExchanges {
  const expectations = new Map<string, ExpectedAnswer>()
  /** Requests whose answer has not ended. */
  const open = new Set<AbortController>()

  const exchange: FetchFunction = async (url, init = {}) => {
    if (init.method !== 'POST') return fetch(url, init)
    const { id, method } = readRequest(init.body)
    const attempt = new Headers(init.headers).get(ATTEMPT_HEADER)
    const own = new AbortController()
    const stop = (): void => own.abort(init.signal?.reason)
    if (init.signal?.aborted) stop()
    // All requests of a connection may share one signal; Node takes many at once for a leak.
    if (init.signal) setMaxListeners(0, init.signal)
    init.signal?.addEventListener('abort', stop, { once: true })
    open.add(own)
    const close = (): void => {
      open.delete(own)
      init.signal?.removeEventListener('abort', stop)
    }
    const send = (): Promise<Response> => fetch(url, { ...init, signal: own.signal })
    let isStream = false
    try {
      if (id === undefined) return await acceptNotification(await send())
      if (method === 'server/discover') return await discover(send, id, { own, limitMs: discoverMs, redactor })
      const expected = reportingProblems(
        expectations.get(attempt ?? '') ?? handshakeAnswer(method, versions, redactor),
        (error) => onProblem(attempt, error),
      )
      const response = await send()
      const streamed = streamAnswer(response, id, { expected, attempt, own, close })
      isStream = streamed !== undefined
      return streamed ?? (await readWholeAnswer(response, id, expected, redactor))
    } finally {
      if (!isStream) close()
    }
  }

  return {
    fetch: exchange,
    expect(attempt, expected) {
      expectations.set(attempt, expected)
      return { done: () => void expectations.delete(attempt) }
    },
    stopAll: () => open.forEach((each) => each.abort()),
  }
}

const reportingProblems = (expected: ExpectedAnswer, report: (error: unknown) => void): ExpectedAnswer => ({
  ...expected,
  onAnswer(answer) {
    try {
      return expected.onAnswer(answer)
    } catch (error) {
      report(error)
      throw error
    }
  },
})

type RequestId = string | number

function readRequest(body: unknown): { readonly id?: RequestId; readonly method: string } {
  const { id, method } = JSON.parse(String(body)) as { id?: RequestId; method?: string }
  return { ...(id !== undefined && method !== undefined && { id }), method: method ?? '' }
}

/** Servers need not like our notifications; only a lost session or lost credentials matter to what comes next. */
async function acceptNotification(response: Response): Promise<Response> {
  if (response.ok || response.status === 401 || response.status === 404) return response
  await response.body?.cancel()
  return new Response(null, { status: 202 })
}

/** Any answer but a valid one means that the server does not know the newest handshake, so that the client tries the older one. */
async function discover(
  send: () => Promise<Response>,
  id: RequestId,
  { own, limitMs, redactor }: { readonly own: AbortController; readonly limitMs: number; readonly redactor: Redactor },
): Promise<Response> {
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    own.abort(new Error(`no answer within ${limitMs} ms`))
  }, limitMs)
  const unknown = { error: { code: -32601, message: 'Method not found' } }
  try {
    const response = await send()
    // Another handshake would be answered alike.
    if (response.status === 401 || response.status === 429) return await failedResponse(response, redactor)
    const answer = response.ok ? await readHandshake(response) : undefined
    await response.body?.cancel().catch(() => {})
    if (answer?.at !== 'result' || answer.cutAt !== undefined) return toResponse(undefined, id, unknown)
    const { capabilities, ...result } = objectOf(answer.result)
    return toResponse(response, id, { result: { ...result, capabilities: withTools(capabilities) } })
  } catch (error) {
    // The older handshake would need a token, too.
    if (!isLate || tokenErrorOf(error)) throw error
    return toResponse(undefined, id, unknown)
  } finally {
    clearTimeout(timer)
  }
}

const readHandshake = async (response: Response): Promise<McpAnswer | undefined> =>
  isEventStream(response)
    ? findEventAnswer(response.body ?? [], MAX_MCP_ANSWER_BYTES)
    : readAnswer(response, MAX_MCP_ANSWER_BYTES)

/** What the client is told of answers that nobody else reads. */
const handshakeAnswer = (method: string, versions: readonly string[], redactor: Redactor): ExpectedAnswer => ({
  maxBytes: MAX_MCP_ANSWER_BYTES,
  onAnswer(answer) {
    if (answer.at === 'unreadable' || (answer.at === 'result' && answer.cutAt !== undefined))
      throw new McpFormError(`answers "${method}" with what ${whyUnreadable(answer)}: ${beginningOf(answer, redactor)}`)
    if (answer.at === 'result' && method === 'initialize')
      return { result: toInitializeResult(answer.result, versions, redactor) }
    return toClientAnswer(answer)
  },
})

const whyUnreadable = (answer: McpAnswer): string =>
  answer.at === 'unreadable' ? answer.why : `is longer than ${MAX_MCP_ANSWER_BYTES} bytes`

const beginningOf = (answer: McpAnswer, redactor: Redactor): string =>
  JSON.stringify(answer.at === 'unreadable' ? redactor.cut(answer.text.trim(), 200).text : '')

function toClientAnswer(answer: McpAnswer): ClientAnswer {
  if (answer.at === 'error') {
    const { at: _, ...error } = answer
    return { error }
  }
  return { result: answer.at === 'result' ? objectOf(answer.result) : {} }
}

/** What the client wants to know of a server, where the server says it; the rest is nothing that matters to calls. */
function toInitializeResult(result: JsonValue, versions: readonly string[], redactor: Redactor): JsonObject {
  const { protocolVersion, capabilities, serverInfo, instructions } = objectOf(result)
  if (typeof protocolVersion !== 'string')
    throw new McpFormError(
      `answers "initialize" without a protocolVersion: ${shortenText(JSON.stringify(redactor.json(result)), 200)}`,
    )
  if (!versions.includes(protocolVersion))
    throw new McpFormError(`speaks protocol version ${JSON.stringify(protocolVersion)}, which svc does not.`)
  const { name, version } = objectOf(serverInfo)
  return {
    protocolVersion,
    capabilities: withTools(capabilities),
    serverInfo: {
      name: typeof name === 'string' ? name : 'unknown',
      version: typeof version === 'string' ? version : 'unknown',
    },
    ...(typeof instructions === 'string' && { instructions }),
  }
}

/** The client asks no server for tools that does not say that it has some; ours is asked in any case. */
const withTools = (capabilities: JsonValue | undefined): JsonObject => ({
  ...Object.fromEntries(Object.entries(objectOf(capabilities)).filter(([, each]) => isJsonObject(each))),
  tools: {},
})

/** The answer as the client reads it. */
function toResponse(source: Response | undefined, id: RequestId, answer: ClientAnswer): Response {
  const headers = new Headers(source?.headers)
  headers.delete('content-length')
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify({ jsonrpc: '2.0', id, ...answer }), { status: 200, headers })
}

/** Reads an answer that is no event stream. */
async function readWholeAnswer(
  response: Response,
  id: RequestId,
  expected: ExpectedAnswer,
  redactor: Redactor,
): Promise<Response> {
  if (!response.ok) return answerOfFailure(response, id, expected, redactor)
  const answer = await readAnswer(response, expected.maxBytes)
  // The server has only accepted the request, and will answer elsewhere.
  if (response.status === 202 && answer.at === 'unreadable' && answer.text.trim() === '')
    return new Response(null, { status: 202 })
  return toResponse(response, id, expected.onAnswer(answer))
}

/** An answer of the MCP layer stays one if the HTTP status is that of a server error. Other failures are for the client. */
async function answerOfFailure(
  response: Response,
  id: RequestId,
  expected: ExpectedAnswer,
  redactor: Redactor,
): Promise<Response> {
  if (response.status < 500) return failedResponse(response, redactor)
  const { text } = await readBoundedBody(response.body ?? [], expected.maxBytes)
  const answer = isAnswerTo(text, id) ? readMcpMessage(text) : undefined
  if (answer === undefined || answer.at === 'other' || answer.at === 'unreadable')
    return toFailedResponse(response, redactor.text(text))
  return toResponse(undefined, id, expected.onAnswer(answer))
}

function isAnswerTo(text: string, id: RequestId): boolean {
  try {
    return (JSON.parse(text) as { id?: unknown } | null)?.id === id
  } catch {
    return false
  }
}

/** For the rest of an answer whose status says that nothing was done. */
const FAILURE_MS = 2000

/** A failure whose status says all that matters: what else the server says is awaited for a moment. */
async function failedResponse(response: Response, redactor: Redactor): Promise<Response> {
  const { status, headers } = response
  const text = await readBodyWithin(response.body, MAX_FAILURE_BYTES, FAILURE_MS)
  const scope = status === 403 ? missingScopeIn(headers.get('www-authenticate') ?? '') : undefined
  return toFailedResponse(response, redactor.text(`${scope ?? ''}${text}`))
}

const MAX_FAILURE_BYTES = 64 * 1024

/** Source: RFC 6750, 3.1. */
function missingScopeIn(challenge: string): string | undefined {
  if (!/error="?insufficient_scope/.test(challenge)) return undefined
  const scope = /[\s,]scope="([^"\\]*)"/.exec(challenge)?.[1]
  return `The token lacks the scope${scope === undefined ? '' : ` "${shortenText(scope, 200)}"`} (auth.scope). `
}

/** Without its challenge: the client would make an error of its own of it, without the status. */
function toFailedResponse({ status, statusText, headers: given }: Response, text: string): Response {
  const headers = new Headers(given)
  headers.delete('www-authenticate')
  return new Response(text === '' ? null : text, { status, statusText, headers })
}

interface StreamedAnswer {
  readonly expected: ExpectedAnswer
  readonly attempt: string | null
  readonly own: AbortController
  /** Called when the stream has ended. */
  readonly close: () => void
}

/** Passes an event stream on to the client, with the answer replaced; undefined for an answer that is none. */
function streamAnswer(
  response: Response,
  id: RequestId,
  { expected, attempt, own, close }: StreamedAnswer,
): Response | undefined {
  if (!response.ok || !isEventStream(response) || response.body === null) return undefined
  const body = response.body
  const relay = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for await (const event of readEventAnswers(body, expected.maxBytes)) {
        if ('answer' in event) {
          const message = { jsonrpc: '2.0', id, ...expected.onAnswer(event.answer) }
          yield Buffer.from(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
          return
        }
        const asked = attempt === null ? undefined : withAskingAttempt(event.request, attempt)
        yield Buffer.from(asked === undefined ? event.text : withEventData(event.text, asked))
      }
    } finally {
      // Ends what the server goes on to send.
      own.abort()
      close()
    }
  }
  const { status, statusText, headers } = response
  return new Response(ReadableStream.from(relay()) as BodyInit, { status, statusText, headers })
}

/** A question of the server with the attempt on whose stream it came, as text; undefined for every other message. */
function withAskingAttempt(message: JsonObject | undefined, attempt: string): string | undefined {
  if (message?.['method'] !== 'elicitation/create') return undefined
  const params = objectOf(message['params'])
  const meta = { ...objectOf(params['_meta']), [ASKING_ATTEMPT]: attempt }
  return JSON.stringify({ ...message, params: { ...params, _meta: meta } })
}
