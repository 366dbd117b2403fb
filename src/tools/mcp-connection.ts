/** A connection to one MCP server with the credentials of one agent. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { JsonObject } from '../base/json/json.ts'
import type { FetchFunction } from '../base/net/transport.ts'
import type { McpServer } from '../spec/document.ts'
import { MAX_OUTPUT_BYTES } from './tool.ts'

export interface McpConnection {
  /**
   * @param attempt identifies this attempt in the header `ATTEMPT_HEADER`; unique among concurrent calls
   * @throws the client's errors, and an error when the answer breaks off, for which the client would wait until its timeout
   */
  call(
    params: CallParams,
    attempt: string,
    headers: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<CallToolResult>
  /** The server's tools by name, listed again for each new run. */
  toolsFor(runId: string | undefined, options: CallOptions): Promise<ReadonlyMap<string, Tool>>
  close(): Promise<void>
}

export interface CallParams {
  readonly name: string
  readonly arguments: JsonObject
  readonly _meta: JsonObject
}

/** Tells which request carries which attempt; servers ignore it. */
export const ATTEMPT_HEADER = 'svc-attempt'

export interface CallOptions {
  readonly signal: AbortSignal
  /** Milliseconds. */
  readonly timeout: number
}

export interface McpParts {
  readonly server: McpServer
  /** Authentication headers by name. */
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: FetchFunction
  /** Our version, sent to the server. */
  readonly version: string
}

/** A refusal that another attempt would get too, so it is no outage. */
export class OversizedAnswer extends Error {
  override readonly name = 'OversizedAnswer'
  constructor() {
    super('The answer is larger than svc reads.')
  }
}

/** A page has some hundred tools; the limit stops a server that never ends its list. */
const MAX_PAGES = 20
/** Runs remembered as having a fresh listing; forgetting an older one only costs another listing. */
const MAX_RUNS = 1000

/**
 * @param timeoutMs for each request of the handshake
 * @param signal aborts the handshake only, not the connection
 * @throws the client's errors, with an UnsentError as a cause when the server could not be reached
 */
export async function connectMcp(
  { server, headers, fetch, version }: McpParts,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<McpConnection> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client(
    { name: 'svc', version },
    {
      versionNegotiation: { mode: 'auto' },
      // A server must not ask a person directly, which would bypass our approvals; it can return a tool error instead.
      inputRequired: { autoFulfill: false },
      // The SDK would compile the server's schemas without limits; the engine checks results against the agent's own schemas.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  )
  /** Attempts whose answer was cut because of its size. */
  const oversized = new Set<string>()
  /** Requests whose answer has not ended. */
  const openRequests = new Set<AbortController>()
  const stopAll = (): void => openRequests.forEach((each) => each.abort())
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { ...headers } },
    fetch: (url, init) => boundedFetch(fetch, url, init, openRequests, (attempt) => void oversized.add(attempt)),
    onInsufficientScope: 'throw',
  })
  /** Callbacks for the end of the answer stream, by attempt. */
  const onEnd = new Map<string, () => void>()
  const send = transport.send.bind(transport)
  transport.send = (message, sendOptions) => {
    const ended = onEnd.get(sendOptions?.headers?.[ATTEMPT_HEADER] ?? '')
    return send(message, { ...sendOptions, ...(ended && { onRequestStreamEnd: ended }) })
  }
  try {
    await Promise.race([client.connect(transport, { timeout: timeoutMs, signal }), abortOf(signal)])
  } catch (error) {
    stopAll()
    throw oversized.size > 0 ? new OversizedAnswer() : error
  }

  /** Waits for the answer to a request, which carries the attempt in its headers, and fails when the answer breaks off. */
  async function untilAnswered<T>(attempt: string, request: () => Promise<T>): Promise<T> {
    const broken = new Promise<never>((_, reject) => {
      // Deferred, because an answer that arrived with the end of the stream is delivered first.
      onEnd.set(attempt, () => void setImmediate(() => reject(new Error('The answer broke off.'))))
    })
    try {
      return await Promise.race([request(), broken])
    } catch (error) {
      throw oversized.delete(attempt) ? new OversizedAnswer() : error
    } finally {
      onEnd.delete(attempt)
    }
  }

  let tools: ReadonlyMap<string, Tool> | undefined
  let pages = 0
  const listed = new Set<string>()
  const list = async (callOptions: CallOptions): Promise<ReadonlyMap<string, Tool>> => {
    const found = new Map<string, Tool>()
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const attempt = `${LIST_ATTEMPT}${++pages}`
      const headers = { [ATTEMPT_HEADER]: attempt }
      const params = cursor === undefined ? {} : { cursor }
      const answer = await untilAnswered(attempt, () =>
        client.listTools(params, { ...callOptions, headers, cacheMode: 'refresh' }),
      )
      for (const tool of answer.tools) found.set(tool.name, tool)
      cursor = answer.nextCursor
      if (cursor === undefined) break
    }
    return found
  }
  return {
    call: (params, attempt, callHeaders, callOptions) =>
      untilAnswered(attempt, async () => {
        const options = { ...callOptions, headers: { ...callHeaders, [ATTEMPT_HEADER]: attempt } }
        return (await client.callTool(params, options)) as CallToolResult
      }),
    async toolsFor(runId, callOptions) {
      if (tools && (runId === undefined || listed.has(runId))) return tools
      tools = await list(callOptions)
      if (runId !== undefined) {
        if (listed.size >= MAX_RUNS) listed.delete(listed.keys().next().value!)
        listed.add(runId)
      }
      return tools
    },
    async close() {
      stopAll()
      // Lets the server end its session, but does not wait longer than this for it.
      let timer: NodeJS.Timeout | undefined
      const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, 500)))
      await Promise.race([transport.terminateSession().catch(() => {}), timeout])
      clearTimeout(timer)
      await client.close()
    },
  }
}

/** Rejects when the signal is aborted. */
const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })

/** Larger than a result may be, because an answer wraps a result. */
const MAX_ANSWER_BYTES = 4 * MAX_OUTPUT_BYTES

/** One page of tools. The client reads it in one piece, and a schema of more than 64 KiB is refused anyway. */
const MAX_LIST_BYTES = 512 * 1024

/** Begins the attempt of a request for tools. The body does not tell, because arguments of a call may look like one. */
const LIST_ATTEMPT = 'list-'

const maxBytesOf = ({ headers }: RequestInit): number =>
  new Headers(headers).get(ATTEMPT_HEADER)?.startsWith(LIST_ATTEMPT) ? MAX_LIST_BYTES : MAX_ANSWER_BYTES

/**
 * Limits the size of answers to POST requests. The stream of notifications (GET) is unlimited by design.
 * @param onOversized called with the attempt whose answer is larger
 * @param open receives a controller for the request until its answer has ended; aborting it ends the answer
 */
async function boundedFetch(
  fetch: FetchFunction,
  url: string | URL,
  init: RequestInit | undefined,
  open: Set<AbortController>,
  onOversized: (attempt: string) => void,
): Promise<Response> {
  if (init?.method !== 'POST') return fetch(url, init)
  const own = new AbortController()
  const stop = (): void => own.abort(init.signal?.reason)
  const ended = (): void => {
    open.delete(own)
    init.signal?.removeEventListener('abort', stop)
  }
  open.add(own)
  if (init.signal?.aborted) stop()
  init.signal?.addEventListener('abort', stop, { once: true })
  let response: Response | undefined
  try {
    response = await fetch(url, { ...init, signal: own.signal })
  } finally {
    if (!response?.body) ended()
  }
  if (response.body === null) return response
  const maxBytes = maxBytesOf(init)
  let bytes = 0
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes <= maxBytes) return controller.enqueue(chunk)
      onOversized(new Headers(init.headers).get(ATTEMPT_HEADER) ?? '')
      controller.error(new Error(`The answer is larger than ${maxBytes} bytes.`))
    },
  })
  // The reader of the answer gets the error, so it is ignored here.
  void response.body
    .pipeTo(bounded.writable, { signal: own.signal })
    .catch(() => {})
    .finally(ended)
  const { status, statusText, headers } = response
  return new Response(bounded.readable, { status, statusText, headers })
}
