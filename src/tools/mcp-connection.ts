/** A client of one MCP server as one agent may use it, kept as long as it works. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { JsonObject } from '../base/json.ts'
import type { FetchFunction } from '../base/transport.ts'
import type { McpServer } from '../spec/document.ts'
import { MAX_OUTPUT_BYTES } from './tool.ts'

export interface McpConnection {
  /**
   * @param attempt names this attempt in the header `ATTEMPT_HEADER`, unique among the calls under way
   * @throws what the client throws; an error also where the answer breaks off, which the client would wait out
   */
  call(
    params: CallParams,
    attempt: string,
    headers: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<CallToolResult>
  /** The server's tools by name, asked again for each run. */
  toolsFor(runId: string | undefined, options: CallOptions): Promise<ReadonlyMap<string, Tool>>
  close(): Promise<void>
}

export interface CallParams {
  readonly name: string
  readonly arguments: JsonObject
  readonly _meta: JsonObject
}

/** Tells which requests carry which attempt; harmless to servers. */
export const ATTEMPT_HEADER = 'svc-attempt'

export interface CallOptions {
  readonly signal: AbortSignal
  /** Milliseconds. */
  readonly timeout: number
}

export interface McpParts {
  readonly server: McpServer
  /** What authenticates us, by header name. */
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: FetchFunction
  /** Our version, told to the server. */
  readonly version: string
}

/** One page of tools holds some hundreds; a server that has no end is cut off. */
const MAX_PAGES = 20
/** Runs whose listing is remembered; an older one is only asked for again. */
const MAX_RUNS = 1000

/**
 * @param timeoutMs for each request of the greeting
 * @param signal ends the greeting, not what comes after it
 * @throws what the client throws; an UnsentError in it where the server could not be reached
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
      // A server that wants more from a person than the arguments asks through a tool error, not around our approvals.
      inputRequired: { autoFulfill: false },
      // The SDK would compile the server's schemas unmeasured; results are checked by the engine against the agent's own.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  )
  /** Requests whose answer has not ended. */
  const open = new Set<AbortController>()
  const stopAll = (): void => open.forEach((each) => each.abort())
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { ...headers } },
    fetch: (url, init) => boundedFetch(fetch, url, init, open),
    onInsufficientScope: 'throw',
  })
  /** What to do when the stream that answers an attempt ends. */
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
    throw error
  }

  let tools: ReadonlyMap<string, Tool> | undefined
  const listed = new Set<string>()
  const list = async (callOptions: CallOptions): Promise<ReadonlyMap<string, Tool>> => {
    const found = new Map<string, Tool>()
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer = await client.listTools(cursor === undefined ? {} : { cursor }, {
        ...callOptions,
        cacheMode: 'refresh',
      })
      for (const tool of answer.tools) found.set(tool.name, tool)
      cursor = answer.nextCursor
      if (cursor === undefined) break
    }
    return found
  }
  return {
    async call(params, attempt, callHeaders, callOptions) {
      const broken = new Promise<never>((_, reject) => {
        // An answer that came with the end of the stream is still on its way to the caller.
        onEnd.set(attempt, () => void setImmediate(() => reject(new Error('The answer broke off.'))))
      })
      try {
        const answer = client.callTool(params, {
          ...callOptions,
          headers: { ...callHeaders, [ATTEMPT_HEADER]: attempt },
        })
        return (await Promise.race([answer, broken])) as CallToolResult
      } finally {
        onEnd.delete(attempt)
      }
    },
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
      // A server that keeps sessions may forget this one; it must not keep us waiting for that.
      let timer: NodeJS.Timeout | undefined
      const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, 500)))
      await Promise.race([transport.terminateSession().catch(() => {}), patience])
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

/** An answer may be a little larger than a result, since it wraps one. */
const MAX_ANSWER_BYTES = 4 * MAX_OUTPUT_BYTES

/**
 * Cuts the answer to a request off where it grows without end; the stream of notifications has no end by design.
 * @param open holds the request until its answer has ended: aborting it ends the answer
 */
async function boundedFetch(
  fetch: FetchFunction,
  url: string | URL,
  init: RequestInit | undefined,
  open: Set<AbortController>,
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
  let bytes = 0
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > MAX_ANSWER_BYTES) controller.error(new Error(`The answer is larger than ${MAX_ANSWER_BYTES} bytes.`))
      else controller.enqueue(chunk)
    },
  })
  // Whoever reads the answer is told how it ended.
  void response.body
    .pipeTo(bounded.writable, { signal: own.signal })
    .catch(() => {})
    .finally(ended)
  const { status, statusText, headers } = response
  return new Response(bounded.readable, { status, statusText, headers })
}
