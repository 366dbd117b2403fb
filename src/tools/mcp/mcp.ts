/**
 * Tools of an MCP server over streamable HTTP, or of one that is a program. Source: docs/design/models-and-tools.md#where-a-tool-runs
 *
 * The outcome of a failed call depends on whether the server may have received the request that carries it.
 */
import type { Clock } from '../../base/clock.ts'
import { cutText, shortenText } from '../../base/text/cut-text.ts'
import { retryAfterMs } from '../../base/retry.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { Log } from '../../base/log.ts'
import type { Redactor } from '../../base/secret.ts'
import { isHeldBack, isUnsent, type FetchFunction } from '../../base/net/transport.ts'
import type { McpServer } from '../../spec/document.ts'
import type { BoundTool, AgentSnapshot } from '../../spec/snapshot.ts'
import { digestOfTool, whyNotListed, type ListedTool, type ToolList } from './listed-tool.ts'
import type { CallOptions, CallParams, McpConnection } from './mcp-connection.ts'
import { missingCredentials } from './mcp-credentials.ts'
import { ATTEMPT_HEADER } from './mcp-exchange.ts'
import {
  answerCodeOf,
  toAbortedCallOutcome,
  toCallOutcome,
  toFailedCallOutcome,
  toTokenOutcome,
  toUnauthorizedOutcome,
} from './mcp-outcome.ts'
import { createAsker } from './mcp-question.ts'
import { createProgressReporter } from './mcp-progress.ts'
import { createMcpPool, waitForOpening } from './mcp-pool.ts'
import type { McpPrograms } from './mcp-programs.ts'
import { tokenErrorOf } from '../oauth/authorization-server.ts'
import type { LoginStore } from '../oauth/login-tokens.ts'
import { HELD_BACK, returnedOutcome, withDeadline } from '../outcome.ts'
import { repairSchema } from '../check/schema-repair.ts'
import type { DescribedTool, ToolInvocation, ToolOutcome } from '../tool.ts'

export interface McpServers {
  call(
    agent: AgentSnapshot,
    invocation: ToolInvocation,
    limits: McpCallLimits,
    signal: AbortSignal,
  ): Promise<ToolOutcome>
  describe(
    agent: AgentSnapshot,
    tool: BoundTool,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<DescribedTool | undefined>
  close(): Promise<void>
}

/** Milliseconds. */
export interface McpCallLimits {
  /** For the whole call. */
  readonly timeoutMs: number
  /** Without an answer or a report of its progress, once it was sent; undefined where progress is not asked for. */
  readonly idleMs?: number
}

export interface McpServersParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly redactor: Redactor
  /** Sends the requests, through the egress checks. */
  readonly fetch: FetchFunction
  readonly clock: Clock
  readonly version: string
  readonly log: Log
  readonly programs: McpPrograms
  /** Consents of persons; absent where there is no data directory. */
  readonly logins?: LoginStore | undefined
}

export function createMcpServers(parts: McpServersParts): McpServers {
  const { env, redactor, fetch, clock, version, log, programs, logins } = parts
  /** Attempts whose request the server may have received. */
  const dispatched = new Set<string>()
  /** The `mayLeave` of each attempt. */
  const guards = new Map<string, ToolInvocation['mayLeave']>()
  /** `Retry-After` of the answers to attempts, in milliseconds. */
  const waits = new Map<string, number>()

  const track =
    (send: FetchFunction): FetchFunction =>
    async (input, init) => {
      const attempt = new Headers(init?.headers).get(ATTEMPT_HEADER)
      // Before sending, because a call that is cut off is judged before its request settles.
      if (attempt !== null) dispatched.add(attempt)
      try {
        const response = await send(input, attempt === null ? init : { ...init, mayLeave: guards.get(attempt) })
        const wait = retryAfterMs(response.headers.get('retry-after'), clock.now())
        if (attempt !== null && wait !== undefined) waits.set(attempt, wait)
        return response
      } catch (error) {
        if (attempt !== null && isUnsent(error)) dispatched.delete(attempt)
        throw error
      }
    }
  /** What each server listed wrongly when it was logged last. */
  const logged = new Map<string, string>()
  const logFaults = ({ name, url }: McpServer, { faults }: ToolList): void => {
    const problems = faults.slice(0, MAX_LOGGED).map(({ problem }) => shortenText(problem, 300))
    const key = JSON.stringify([name, url])
    const text = JSON.stringify(problems)
    if (faults.length === 0 || logged.get(key) === text) return
    if (logged.size >= MAX_LOGGED_SERVERS) logged.clear()
    logged.set(key, text)
    log.write('warn', 'An MCP server lists tools that cannot be used.', {
      server: name,
      faults: faults.length,
      problems,
    })
  }
  const pool = createMcpPool({ env, redactor, fetch, track, clock, version, programs, logins })

  /** One attempt on one connection; undefined if the server has forgotten the session, so that it did not run the call. */
  const callOnce = async (call: McpCall): Promise<ToolOutcome | undefined> => {
    const { agent, server, attempt, limit } = call
    const pooled = pool.acquire(agent, server)
    try {
      const connection = await waitForOpening(pooled, limit.signal)
      return await sendCall(connection, call, (list) => logFaults(server, list))
    } catch (error) {
      // Waits for the aborted request to report whether it was sent.
      if (limit.signal.aborted) await new Promise((resolve) => setImmediate(resolve))
      const isDispatched = dispatched.has(attempt)
      if (limit.signal.aborted) {
        // The connection must be closed to end the answer that nobody waits for. A program is told.
        if (!pooled.isProgram) pool.drop(pooled)
        return toAbortedCallOutcome(server.name, isDispatched, call)
      }
      if (isHeldBack(error)) return HELD_BACK
      const unauthorized = tokenErrorOf(error)
      if (unauthorized) {
        pool.drop(pooled)
        return toTokenOutcome(server, agent.secrets, unauthorized)
      }
      const answer = answerCodeOf(error)
      if (answer === 'protocol') {
        const { message } = error as Error
        return isDispatched
          ? returnedOutcome(message, true, call.elapsedMs())
          : { at: 'not_sent', code: 'refused', error: `MCP server "${server.name}" refused: ${message}` }
      }
      pool.drop(pooled)
      if (call.mayReconnect && (answer === 404 || answer === 400)) return undefined
      if (answer === 401) return toUnauthorizedOutcome(server, agent.secrets)
      return toFailedCallOutcome(server.name, error, answer, isDispatched, waits.get(attempt))
    } finally {
      pool.release(pooled)
    }
  }

  return {
    async call(agent, invocation, { timeoutMs, idleMs }, signal) {
      const name = invocation.tool.mcp?.server
      const server = agent.mcpServers.find((each) => each.name === name)
      if (!server) return { at: 'not_sent', code: 'no_handler', error: `${agent.id} declares no MCP server "${name}".` }
      const missing = missingCredentials(agent, server, env, programs.find(server))
      if (missing !== undefined) return { at: 'not_sent', ...missing }
      const attempt = `${invocation.idempotencyKey}#${invocation.attempt}`
      const limit = withDeadline(timeoutMs, signal, idleMs)
      const started = clock.monotonic()
      const elapsedMs = (): number => clock.monotonic() - started
      const call = {
        agent,
        server,
        invocation,
        attempt,
        limit,
        timeoutMs,
        elapsedMs,
        clock,
        redactor,
        ...(idleMs !== undefined && { idleMs }),
      }
      guards.set(attempt, invocation.mayLeave)
      try {
        const outcome = await callOnce({ ...call, mayReconnect: true })
        if (outcome !== undefined) return outcome
        dispatched.delete(attempt)
        return (await callOnce({ ...call, mayReconnect: false }))!
      } finally {
        limit.release()
        dispatched.delete(attempt)
        guards.delete(attempt)
        waits.delete(attempt)
      }
    },

    async describe(agent, tool, timeoutMs, signal) {
      const server = agent.mcpServers.find((each) => each.name === tool.mcp?.server)
      if (!server || missingCredentials(agent, server, env, programs.find(server)) !== undefined) return undefined
      const limit = withDeadline(timeoutMs, signal)
      const pooled = pool.acquire(agent, server)
      try {
        const connection = await waitForOpening(pooled, limit.signal)
        const list = await connection.toolsFor(undefined, toCallOptions(limit, timeoutMs))
        logFaults(server, list)
        const found = list.tools.get(serverNameOf(tool))
        // A tool that differs from its pin is not described to the model either; its calls are refused.
        if (!found || !isAsPinned(tool, found)) return undefined
        const { shown, checked } = await repairSchema(found.inputSchema)
        return {
          description: toSafeDescription(found.description),
          schema: shown,
          ...(checked !== shown && { checked }),
        }
      } catch {
        // The call itself will report the error of the server.
        if (!pooled.isProgram) pool.drop(pooled)
        signal.throwIfAborted()
        return undefined
      } finally {
        pool.release(pooled)
        limit.release()
      }
    },

    close: () => pool.close(),
  }
}

/** Faults of one list that are logged, and servers whose last ones are remembered. */
const MAX_LOGGED = 20
const MAX_LOGGED_SERVERS = 1000

/** A call and the limits under which it is attempted. */
interface McpCall {
  readonly agent: AgentSnapshot
  readonly server: McpServer
  readonly invocation: ToolInvocation
  /** Identifies the attempt in `ATTEMPT_HEADER`. */
  readonly attempt: string
  readonly limit: ReturnType<typeof withDeadline>
  readonly timeoutMs: number
  readonly idleMs?: number
  readonly elapsedMs: () => number
  readonly clock: Clock
  readonly redactor: Redactor
  readonly mayReconnect: boolean
}

/** Sends the call if the server still offers the tool as it was pinned. */
async function sendCall(
  connection: McpConnection,
  call: McpCall,
  onList: (list: ToolList) => void,
): Promise<ToolOutcome> {
  const { server, invocation, attempt, limit, timeoutMs } = call
  const { tool, idempotencyKey, completionToken, run, onProgress, onQuestion, trace, input } = invocation
  const report = onProgress && createProgressReporter(call.clock, call.redactor, onProgress)
  const name = serverNameOf(tool)
  const options = toCallOptions(limit, timeoutMs)
  const list = await connection.toolsFor(run.id, options)
  onList(list)
  const found = list.tools.get(name)
  if (!found) {
    const { error, isLost } = whyNotListed(list, server.name, name)
    return { at: 'not_sent', code: isLost ? 'refused' : 'no_handler', error }
  }
  if (!isAsPinned(tool, found)) return { at: 'not_sent', code: 'refused', error: otherThanPinned(server.name, name) }
  const notAfter = new Date(invocation.notAfter).toISOString()
  limit.extend()
  const answer = await connection.call(
    {
      name,
      arguments: invocation.arguments as JsonObject,
      ...(input && toInputResponses(input)),
      _meta: {
        'svc/idempotencyKey': idempotencyKey,
        'svc/notAfter': notAfter,
        ...(completionToken !== undefined && { 'svc/completionToken': completionToken }),
        ...trace,
      },
    },
    attempt,
    { 'idempotency-key': idempotencyKey, 'svc-not-after': notAfter, ...trace },
    {
      ...options,
      onprogress(given) {
        limit.extend()
        report?.(given)
      },
      ...(onQuestion && {
        onquestion: createAsker(async (question) => {
          const until = invocation.notAfter - Math.min(ANSWER_MS, timeoutMs / 10)
          limit.hold()
          const answer = await onQuestion(question, until)
          limit.extend()
          return answer
        }),
      }),
    },
  )
  return toCallOutcome(server.name, answer, call.elapsedMs())
}

/** Left for the server to answer the call once it knows that nobody answers its question. */
const ANSWER_MS = 5000

const toInputResponses = ({ answers, state }: NonNullable<ToolInvocation['input']>): Partial<CallParams> => ({
  ...(answers.length > 0 && {
    inputResponses: Object.fromEntries(answers.map(({ name, ...answer }) => [name, answer as JsonObject])),
  }),
  ...(state !== undefined && { requestState: state }),
})

/** Name of the tool on its server. */
const serverNameOf = (tool: BoundTool): string => tool.mcp?.tool ?? tool.wire

/** The client's own timeout comes later than ours, which tells what happened. */
const toCallOptions = ({ signal }: McpCall['limit'], timeoutMs: number): CallOptions => ({
  signal,
  timeout: timeoutMs + 1000,
})

const isAsPinned = ({ mcp }: BoundTool, found: ListedTool): boolean =>
  mcp?.integrity === undefined || mcp.integrity === digestOfTool(found)

const otherThanPinned = (server: string, name: string): string =>
  `The description of tool "${name}" by MCP server "${server}" is not what svc.lock pins. Review it, then run svc compile --mcp and publish again.`

/**
 * Makes an untrusted description safe to show: at most 4096 characters, none of them invisible.
 * Source: docs/design/security.md#tools-that-change
 */
const toSafeDescription = (text: string): string =>
  cutText(
    text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (each) => (each === '\n' || each === '\t' ? each : '')),
    4096,
  ).text
