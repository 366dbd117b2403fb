/** A connection to one MCP server with the credentials of one agent. */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { Redactor } from '../../base/secret.ts'
import type { McpServer } from '../../spec/document.ts'
import type { ServerAnswer } from '../../spec/server-question.ts'
import type { ToolList } from './listed-tool.ts'
import type { McpAnswer } from './mcp-answer.ts'
import {
  ASKING_ATTEMPT,
  ATTEMPT_HEADER,
  createMcpExchanges,
  MAX_MCP_ANSWER_BYTES,
  type ClientAnswer,
  type ExpectedAnswer,
} from './mcp-exchange.ts'
import type { McpLink } from './mcp-program.ts'
import { QuestionProblem, UNKNOWN_ASKER } from './mcp-question.ts'
import { createToolListReader } from './mcp-tool-list.ts'
import { withDeadline } from '../outcome.ts'
import { dropOldest, onlyItem } from '../../base/values/collections.ts'

export interface McpConnection {
  /**
   * Returns what the server answers, in whatever form.
   * @param attempt identifies this attempt in the header `ATTEMPT_HEADER`; unique among concurrent calls
   * @throws the client's errors, and an error when the answer breaks off, for which the client would wait until its timeout
   */
  call(
    params: CallParams,
    attempt: string,
    headers: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<McpAnswer>
  /** The server's tools, listed again for each new run. */
  toolsFor(runId: string | undefined, options: CallOptions): Promise<ToolList>
  close(): Promise<void>
}

export interface CallParams {
  readonly name: string
  readonly arguments: JsonObject
  /** Answers to the questions of an earlier attempt, and the state that came with them. */
  readonly inputResponses?: JsonObject
  readonly requestState?: string
  readonly _meta: JsonObject
}

export interface CallOptions {
  readonly signal: AbortSignal
  /** Milliseconds. */
  readonly timeout: number
  /** Asks the server for reports of progress, and gets each. */
  readonly onprogress?: (progress: unknown) => void
  /** Answers what the server asks a person while the call is open. @throws what the server is told */
  readonly onquestion?: (params: JsonValue) => Promise<ServerAnswer>
}

export interface McpParts {
  readonly server: McpServer
  /** Sends the requests with the credentials. Closed with the connection, and when the handshake fails. */
  readonly link: McpLink
  /** Our version, sent to the server. */
  readonly version: string
  readonly redactor: Redactor
}

/** Runs remembered as having a fresh listing; forgetting an older one only costs another listing. */
const MAX_RUNS = 1000

/** One page of tools. A schema of more than 64 KiB is refused anyway. */
const MAX_LIST_BYTES = 512 * 1024

/** Begins the attempt of a request for tools. */
const LIST_ATTEMPT = 'list-'

/** The part of the time for the handshake in which a server may answer its newest form. */
const DISCOVER_SHARE = 1 / 3

/**
 * @param timeoutMs for the whole handshake
 * @param signal aborts the handshake only, not the connection
 * @throws the client's errors, with an UnsentError as a cause when the server could not be reached
 * @throws McpFormError where the server answers in a form that cannot be used
 */
export async function connectMcp(
  { server, link, version, redactor }: McpParts,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<McpConnection> {
  const { Client, ProtocolError, StreamableHTTPClientTransport, SUPPORTED_PROTOCOL_VERSIONS } =
    await import('@modelcontextprotocol/client')
  const client = new Client(
    { name: 'svc', version },
    {
      versionNegotiation: { mode: 'auto' },
      capabilities: { elicitation: { form: {}, url: {} } },
      // The engine asks people, and makes the call again with their answers.
      inputRequired: { autoFulfill: false },
      // The SDK would compile the server's schemas without limits; the engine checks results against the agent's own schemas.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  )
  /** Open calls that may ask a person, by attempt. */
  const asking = new Map<string, NonNullable<CallOptions['onquestion']>>()
  client.setRequestHandler('elicitation/create', async (request) => {
    const params = request.params as JsonObject
    const { [ASKING_ATTEMPT]: attempt } = (params['_meta'] ?? {}) as JsonObject
    // A question that came on no stream of a call belongs to the only one that is open.
    const ask = typeof attempt === 'string' ? asking.get(attempt) : onlyItem([...asking.values()])
    if (!ask) throw new ProtocolError(INVALID_REQUEST, UNKNOWN_ASKER)
    try {
      const { action, content } = await ask(params)
      return { action, ...(content && { content: content as Record<string, string> }) }
    } catch (error) {
      if (error instanceof QuestionProblem) throw new ProtocolError(INVALID_PARAMS, describeProblem(error))
      throw error
    }
  })
  const watched = new Map<string, WatchedAttempt>()
  const handshake = watchAttempt()
  const exchanges = createMcpExchanges({
    fetch: link.fetch,
    onProblem: (attempt, error) => (attempt === null ? handshake : watched.get(attempt))?.fail(error),
    discoverMs: timeoutMs * DISCOVER_SHARE,
    versions: SUPPORTED_PROTOCOL_VERSIONS,
    redactor,
  })
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: exchanges.fetch,
    onInsufficientScope: 'throw',
  })
  const send = transport.send.bind(transport)
  transport.send = (message, sendOptions) => {
    const ended = watched.get(sendOptions?.headers?.[ATTEMPT_HEADER] ?? '')?.begin()
    return send(message, { ...sendOptions, ...(ended && { onRequestStreamEnd: () => ended(link.ended?.reason) }) })
  }
  const limit = withDeadline(timeoutMs, signal)
  try {
    await Promise.race([
      client.connect(transport, { timeout: timeoutMs, signal: limit.signal }),
      abortOf(limit.signal),
      handshake.failed,
      ...(link.ended ? [abortOf(link.ended)] : []),
    ])
  } catch (error) {
    exchanges.stopAll()
    await link.close()
    throw error
  } finally {
    limit.release()
  }

  /** Waits for the answer to a request, which carries the attempt in its headers, and fails when the answer breaks off. */
  async function untilAnswered<T>(attempt: string, expected: ExpectedAnswer, request: () => Promise<T>): Promise<T> {
    const watch = watchAttempt()
    watched.set(attempt, watch)
    const expecting = exchanges.expect(attempt, {
      ...expected,
      onAnswer(answer) {
        watch.answered()
        return expected.onAnswer(answer)
      },
    })
    try {
      return await Promise.race([request(), watch.failed])
    } finally {
      expecting.done()
      watched.delete(attempt)
    }
  }

  let tools: ToolList | undefined
  let listings = 0
  const listed = new Set<string>()
  const list = async (callOptions: CallOptions): Promise<ToolList> => {
    const attempt = `${LIST_ATTEMPT}${++listings}`
    const reader = createToolListReader()
    const expected = { maxBytes: MAX_LIST_BYTES, onAnswer: reader.readPage }
    const options = { ...callOptions, headers: { [ATTEMPT_HEADER]: attempt }, cacheMode: 'refresh' } as const
    // The client asks for all pages.
    const offered = await untilAnswered(attempt, expected, () => client.listTools({}, options))
    return reader.list(new Set(offered.tools.map(({ name }) => name)))
  }
  return {
    async call(params, attempt, callHeaders, { onquestion, ...callOptions }) {
      let answer: McpAnswer | undefined
      const onAnswer = (given: McpAnswer): ClientAnswer => {
        answer = given
        return given.at === 'error' ? { error: { code: given.code, message: given.message } } : { result: ANSWERED }
      }
      const options = { ...callOptions, headers: { ...callHeaders, [ATTEMPT_HEADER]: attempt } }
      if (onquestion) asking.set(attempt, onquestion)
      try {
        const result = await untilAnswered(attempt, { maxBytes: MAX_MCP_ANSWER_BYTES, onAnswer }, () =>
          client.callTool(params, options),
        )
        // A stream that was resumed is read by the client alone.
        return answer ?? { at: 'result', result: result as JsonValue }
      } catch (error) {
        if (answer) return answer
        throw error
      } finally {
        asking.delete(attempt)
      }
    },
    async toolsFor(runId, callOptions) {
      if (tools && (runId === undefined || listed.has(runId))) return tools
      tools = await list(callOptions)
      if (runId !== undefined) {
        listed.add(runId)
        dropOldest(listed, MAX_RUNS)
      }
      return tools
    },
    async close() {
      exchanges.stopAll()
      // Lets the server end its session, but does not wait longer than this for it.
      let timer: NodeJS.Timeout | undefined
      const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, 500)))
      await Promise.race([transport.terminateSession().catch(() => {}), timeout])
      clearTimeout(timer)
      await client.close()
      await link.close()
    },
  }
}

/** What becomes of the requests of an attempt; a list has one for each page. */
interface WatchedAttempt {
  /** Rejects for an answer that cannot be used, or that breaks off. */
  readonly failed: Promise<never>
  /** A request leaves. Returns what to call at the end of the stream on which its answer comes. */
  begin(): (why: unknown) => void
  /** The answer to the last request has come. */
  answered(): void
  fail(error: unknown): void
}

function watchAttempt(): WatchedAttempt {
  let last = { isAnswered: false }
  let fail!: (error: unknown) => void
  const failed = new Promise<never>((_, reject) => (fail = reject))
  failed.catch(() => {})
  return {
    failed,
    fail,
    begin() {
      const request = { isAnswered: false }
      last = request
      return (why) => {
        if (!request.isAnswered) fail(new Error('The answer broke off.', { cause: why }))
      }
    },
    answered: () => void (last.isAnswered = true),
  }
}

/** Codes of JSON-RPC. */
const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602

/** What is wrong with a question, for its server. */
const describeProblem = ({ message }: QuestionProblem): string =>
  `svc does not pass the question on: the server ${message}.`

/** What the client gets in place of each answer to a call. As an error it need not fit the tool's output schema. */
const ANSWERED: JsonObject = { resultType: 'complete', content: [], isError: true }

/** Rejects when the signal is aborted. */
const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })
