/**
 * An MCP server that is a program, as the client of streamable HTTP sees it: each request is a line on the program's input, and its
 * answer an event stream with the lines that belong to it. So what reads answers is the same for both.
 * Source: docs/design/models-and-tools.md#mcp-servers-as-programs
 */
import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { parseKeepingDigits } from '../../base/json/keep-digits.ts'
import { createHeldBackError, type FetchFunction, unsentBecause } from '../../base/net/transport.ts'
import { UNKNOWN_ASKER } from './mcp-question.ts'
import { startMcpProcess, type McpProcess, type McpProcessParts } from './mcp-process.ts'
import type { OutputLine } from './output-lines.ts'

/** What carries the requests of a connection. */
export interface McpLink {
  readonly fetch: FetchFunction
  /** Aborted, with an error as its reason, once nothing more will be answered. Absent where each request has a connection of its own. */
  readonly ended?: AbortSignal
  close(): Promise<void>
}

interface OpenRequest {
  readonly method: string
  readonly controller: ReadableStreamDefaultController<Uint8Array>
}

/** A program that was asked to stop a request must say something within this time, if only to a ping. */
const ALIVE_MS = 10_000

/**
 * Starts the program on the first request.
 * @param onEnd called once, with the reason, when the program ended by itself or could not be started
 */
export function openMcpProgram(parts: Omit<McpProcessParts, 'onLine'>, onEnd: (why: Error) => void): McpLink {
  const open = new Map<string, OpenRequest>()
  const ended = new AbortController()
  let isClosed = false
  let heard = 0
  let pings = 0
  let starting: Promise<McpProcess> | undefined
  /** The request for the newest handshake, while the program has got nothing else. */
  let greeting: string | undefined
  let isGreeted = false
  let greetedAgain: string | undefined

  const reply = (process: McpProcess, id: JsonValue, answer: JsonObject): void =>
    void process.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer })).catch(() => {})

  /** The open request that a line belongs to. */
  const ownerOf = (message: JsonObject): OpenRequest | undefined => {
    if (!('method' in message)) return open.get(textOfId(message['id']))
    const { params } = message
    const token = isJsonObject(params) ? params['progressToken'] : undefined
    if (message['method'] === 'notifications/progress') return open.get(textOfId(token))
    if (message['method'] !== 'elicitation/create') return undefined
    // The question does not say which call it belongs to.
    const calls = [...open.values()].filter(({ method }) => method === 'tools/call')
    return calls.length === 1 ? calls[0] : undefined
  }
  const answer = (id: string, text: string): void => {
    const request = open.get(id)
    if (!request) return
    open.delete(id)
    send(request, text)
    request.controller.close()
  }
  /** What an error without an id is about. Never a call: it may be about a notice that was sent since, and the call under way. */
  const unreadRequest = (): string => {
    const id = soleOf(open)
    return id === undefined || open.get(id)?.method === 'tools/call' ? '' : id
  }
  const readLine = (process: McpProcess, line: OutputLine): void => {
    heard++
    if (line.text.trim() === '') return process.countUnasked(line.bytes)
    if (line.end !== undefined) {
      const id = idIn(line.text) ?? idIn(line.end) ?? soleOf(open)
      return id !== undefined && open.has(id) ? answer(id, line.text) : process.countUnasked(line.bytes)
    }
    let isAsked = false
    const messages = messagesOf(line.text)
    const broken = messages.length === 0 && !line.isOpen ? brokenAnswerIn(line.text) : undefined
    if (broken !== undefined && open.has(broken)) return answer(broken, line.text)
    for (const [each, text] of messages) {
      const id = isErrorOfUnknown(each) ? unreadRequest() : textOfId(each['id'])
      if (!('method' in each) && open.has(id)) {
        isAsked = true
        answer(id, text)
        continue
      }
      const owner = ownerOf(each)
      if (owner) send(owner, text)
      else if (each['id'] !== undefined && 'method' in each) reply(process, each['id'], answerToServer(each['method']))
    }
    if (!isAsked) process.countUnasked(line.bytes)
  }

  const start = async (): Promise<McpProcess> => {
    let process: McpProcess | undefined
    const stop = (why: Error): void => {
      if (ended.signal.aborted) return
      if (!isClosed && greeting !== undefined && open.has(greeting)) return greetAgain(greeting)
      ended.abort(why)
      for (const { controller } of open.values()) controller.error(why)
      open.clear()
      if (!isClosed) onEnd(why)
    }
    try {
      process = await startMcpProcess({ ...parts, onLine: (line) => readLine(process!, line) })
    } catch (error) {
      stop(error as Error)
      throw error
    }
    const { ended: processEnded } = process
    if (processEnded.aborted) stop(processEnded.reason as Error)
    else processEnded.addEventListener('abort', () => stop(processEnded.reason as Error), { once: true })
    if (isClosed) await process.end(CLOSED)
    return process
  }

  /**
   * Servers of earlier revisions end at a greeting that they do not know, those by the Rust SDK before its third version among them: the
   * older one goes to a new process.
   */
  function greetAgain(id: string): void {
    starting = undefined
    greetedAgain = id
    answer(id, JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }))
  }

  /** Tells the program that nobody waits for an answer. A program that says nothing more is ended. */
  const callOff = (process: McpProcess, id: string, { method }: OpenRequest): void => {
    open.delete(id)
    if (method === 'initialize' || process.ended.aborted) return
    const before = heard
    const notice = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: numberOr(id) } }
    void process.write(JSON.stringify(notice)).catch(() => {})
    void process.write(JSON.stringify({ jsonrpc: '2.0', id: `svc-ping-${++pings}`, method: 'ping' })).catch(() => {})
    const timer = setTimeout(() => {
      if (heard === before && !isClosed)
        process.kill(`said nothing for ${ALIVE_MS / 1000} s after a call was cancelled`)
    }, ALIVE_MS)
    timer.unref()
  }

  return {
    ended: ended.signal,
    async fetch(_url, init = {}) {
      // There is no stream of messages that belong to no request, and no session to end.
      if (init.method !== 'POST') return new Response(null, { status: 405 })
      if (ended.signal.aborted) throw unsentBecause(ended.signal.reason as Error)
      const text = init.body as string
      const {
        id: given,
        method,
        params,
      } = JSON.parse(text) as { id?: string | number; method?: string; params?: JsonValue }
      const process = await (starting ??= start())
      const { signal } = init
      const checkLeaving = (): void => {
        if (signal?.aborted) throw unsentBecause(signal.reason as Error)
        if (init.mayLeave?.() === false) throw createHeldBackError()
      }
      if (method === 'notifications/cancelled' && isJsonObject(params)) {
        // By the revisions of the protocol before 2026 the client says so, and leaves the request open.
        const cancelled = textOfId(params['requestId'])
        const request = open.get(cancelled)
        if (request) {
          callOff(process, cancelled, request)
          request.controller.close()
        }
        return new Response(null, { status: 202 })
      }
      if (given === undefined || method === undefined) {
        await process.write(text, checkLeaving)
        return new Response(null, { status: 202 })
      }
      const id = textOfId(given)
      greeting = !isGreeted && method === 'server/discover' ? id : undefined
      isGreeted = true
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => void open.set(id, { method, controller }),
        cancel: () => void open.delete(id),
      })
      const request = open.get(id)!
      const stop = (): void => {
        if (open.get(id) !== request) return
        callOff(process, id, request)
        request.controller.error(signal!.reason)
      }
      signal?.addEventListener('abort', stop, { once: true })
      try {
        await Promise.race([process.write(text, checkLeaving), ...(signal ? [rejectedOn(signal)] : [])])
      } catch (error) {
        if (greetedAgain !== id) {
          open.delete(id)
          throw error
        }
      }
      return new Response(body as BodyInit, { headers: { 'content-type': 'text/event-stream' } })
    },
    async close() {
      isClosed = true
      const process = await starting?.catch(() => {})
      await process?.end(CLOSED)
    },
  }
}

const CLOSED = new Error('svc ends the program.')

/** Pieces of an event, as a connection would bring them: their reader cuts a long event between two. */
const PIECE_BYTES = 64 * 1024

function send({ controller }: OpenRequest, text: string): void {
  const event = Buffer.from(`event: message\ndata: ${text}\n\n`)
  for (let from = 0; from < event.byteLength; from += PIECE_BYTES)
    controller.enqueue(event.subarray(from, from + PIECE_BYTES))
}

/** What a program gets that asks us something. */
function answerToServer(method: JsonValue | undefined): JsonObject {
  if (method === 'ping') return { result: {} }
  return method === 'elicitation/create'
    ? { error: { code: -32600, message: UNKNOWN_ASKER } }
    : { error: { code: -32601, message: 'Method not found' } }
}

const textOfId = (id: JsonValue | undefined): string =>
  typeof id === 'number' || typeof id === 'string' ? String(id) : ''

/** The id near the beginning of a part of a message. */
const idIn = (text: string): string | undefined => /^.{0,256}?"id"\s*:\s*"?([\w-]+)"?/s.exec(text)?.[1]

/** The id of an answer that arrived, although it is no JSON. */
const brokenAnswerIn = (text: string): string | undefined =>
  text.includes('"jsonrpc"') && BROKEN_ANSWER.test(text) ? idIn(text) : undefined

const BROKEN_ANSWER = /^\s*\{(?:(?!"method"\s*:).){0,256}?"(?:result|error)"\s*:/s

const isErrorOfUnknown = ({ jsonrpc, id, error }: JsonObject): boolean =>
  jsonrpc === '2.0' && id === null && isJsonObject(error ?? null)

const soleOf = (open: ReadonlyMap<string, OpenRequest>): string | undefined =>
  open.size === 1 ? open.keys().next().value : undefined

const numberOr = (id: string): string | number => (/^\d+$/.test(id) ? Number(id) : id)

/** The messages of a line with their texts. Some servers answer several requests with one batch. */
function messagesOf(line: string): readonly (readonly [JsonObject, string])[] {
  try {
    const message = JSON.parse(line) as JsonValue
    if (isJsonObject(message)) return [[message, line]]
    if (!Array.isArray(message)) return []
    const batch = parseKeepingDigits(line)
    return (Array.isArray(batch) ? batch : []).filter(isJsonObject).map((each) => [each, JSON.stringify(each)])
  } catch {
    return []
  }
}

const rejectedOn = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
