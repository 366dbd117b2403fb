/**
 * Tools of an MCP server over streamable HTTP. Source: decisions, section 14; reliability, "MCP revision 2026-07-28".
 *
 * The outcome of a failed call depends on whether the server may have received the request that carries it.
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { Clock } from '../base/clock.ts'
import { retryAfterMs } from '../base/retry.ts'
import { InexactNumberError, unsafeNumberIn } from '../base/json/exact-number.ts'
import { findExceededBound, parseJson, type JsonObject, type JsonValue } from '../base/json/json.ts'
import type { Redactor } from '../base/secret.ts'
import { isHeldBack, isUnsent, unsentCode, type FetchFunction } from '../base/net/transport.ts'
import { innermostMessage } from '../base/innermost-cause.ts'
import type { McpServer } from '../spec/document.ts'
import type { BoundTool, JsonSchema, AgentSnapshot } from '../spec/snapshot.ts'
import { checkForeignSchema } from './check.ts'
import { ATTEMPT_HEADER, connectMcp, OversizedAnswer, type CallOptions, type McpConnection } from './mcp-connection.ts'
import { mcpCredentials, missingSecret } from './mcp-credentials.ts'
import { digestOfTool } from './listed-tool.ts'
import { toListedTool } from './mcp-listing.ts'
import {
  HELD_BACK,
  exceededOutcome,
  failedOutcome,
  inexactNumberOutcome,
  returnedOutcome,
  saysNotExecuted,
  truncatedOutcome,
  withDeadline,
} from './outcome.ts'
import { MAX_OUTPUT_BYTES, type ToolInvocation, type ToolOutcome } from './tool.ts'

export interface McpServers {
  call(agent: AgentSnapshot, invocation: ToolInvocation, timeoutMs: number, signal: AbortSignal): Promise<ToolOutcome>
  describe(
    agent: AgentSnapshot,
    tool: BoundTool,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<{ description: string; schema: JsonSchema } | undefined>
  close(): Promise<void>
}

export interface McpServersParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly redactor: Redactor
  /** Sends the requests, through the egress checks. */
  readonly fetch: FetchFunction
  readonly clock: Clock
  readonly version: string
}

export function createMcpServers({ env, redactor, fetch, clock, version }: McpServersParts): McpServers {
  const connections = new Map<string, PooledConnection>()
  /** Attempts whose request the server may have received. */
  const dispatched = new Set<string>()
  /** The `mayLeave` of each attempt. */
  const guards = new Map<string, ToolInvocation['mayLeave']>()
  /** `Retry-After` of the answers to attempts, in milliseconds. */
  const waits = new Map<string, number>()

  const trackingFetch: FetchFunction = async (input, init) => {
    const attempt = new Headers(init?.headers).get(ATTEMPT_HEADER)
    // Before sending, because a call that is cut off is judged before its request settles.
    if (attempt !== null) dispatched.add(attempt)
    try {
      const response = await fetch(input, attempt === null ? init : { ...init, mayLeave: guards.get(attempt) })
      const wait = retryAfterMs(response.headers.get('retry-after'), clock.now())
      if (attempt !== null && wait !== undefined) waits.set(attempt, wait)
      return response
    } catch (error) {
      if (attempt !== null && isUnsent(error)) dispatched.delete(attempt)
      throw error
    }
  }

  const acquire = (agent: AgentSnapshot, server: McpServer): PooledConnection => {
    const key = `${agent.digest} ${server.name}`
    let pooled = connections.get(key)
    if (!pooled) {
      const headers = mcpCredentials(agent, server, env, redactor)
      const stop = new AbortController()
      const parts = { server, headers, fetch: trackingFetch, version }
      const made: PooledConnection = {
        key,
        opening: connectMcp(parts, CONNECT_MS, stop.signal),
        stop,
        isOpen: false,
        users: 0,
      }
      made.opening.then(
        () => (made.isOpen = true),
        () => drop(made),
      )
      connections.set(key, (pooled = made))
    }
    pooled.users++
    return pooled
  }
  /** Removes a connection from the pool, so that no further call uses it. */
  const drop = (pooled: PooledConnection): void => {
    if (connections.get(pooled.key) === pooled) connections.delete(pooled.key)
  }
  const release = (pooled: PooledConnection): void => {
    pooled.users--
    // A handshake that is still running ends with the last call that waits for it.
    if (pooled.users === 0 && !pooled.isOpen) drop(pooled)
    // A dropped connection is closed by its last call.
    if (pooled.users === 0 && connections.get(pooled.key) !== pooled) void close(pooled)
  }

  return {
    async call(agent, invocation, timeoutMs, signal) {
      const { tool } = invocation
      const server = agent.mcpServers.find((each) => each.name === tool.mcp?.server)
      if (!server)
        return {
          at: 'not_sent',
          code: 'no_handler',
          error: `${agent.id} declares no MCP server "${tool.mcp?.server}".`,
        }
      const missing = missingSecret(agent, server, env)
      if (missing !== undefined) return { at: 'not_sent', ...missing }
      const name = tool.mcp?.tool ?? tool.wire
      const started = clock.monotonic()
      const limit = withDeadline(timeoutMs, signal)
      const options: CallOptions = { signal: limit.signal, timeout: timeoutMs + 1000 }
      const attempt = `${invocation.idempotencyKey}#${invocation.attempt}`
      const notAfter = new Date(invocation.notAfter).toISOString()
      guards.set(attempt, invocation.mayLeave)
      try {
        for (let again = false; ; again = true) {
          const pooled = acquire(agent, server)
          try {
            const connection = await waitUnlessAborted(pooled.opening, limit.signal)
            const tools = await connection.toolsFor(invocation.run.id, options)
            const found = tools.get(name)
            if (!found)
              return { at: 'not_sent', code: 'no_handler', error: `MCP server "${server.name}" has no tool "${name}".` }
            if (!isAsPinned(tool, found))
              return { at: 'not_sent', code: 'refused', error: otherThanPinned(server.name, name) }
            const result = await connection.call(
              {
                name,
                arguments: invocation.arguments as JsonObject,
                _meta: {
                  'svc/idempotencyKey': invocation.idempotencyKey,
                  'svc/notAfter': notAfter,
                  ...(invocation.completionToken !== undefined && {
                    'svc/completionToken': invocation.completionToken,
                  }),
                },
              },
              attempt,
              { 'idempotency-key': invocation.idempotencyKey, 'svc-not-after': notAfter },
              options,
            )
            return toOutcome(result, clock.monotonic() - started)
          } catch (error) {
            // Waits for the aborted request to report whether it was sent.
            if (limit.signal.aborted) await new Promise((resolve) => setImmediate(resolve))
            if (limit.signal.aborted) {
              // The connection must be closed to end the answer that nobody waits for.
              drop(pooled)
              return toAbortedOutcome(server.name, dispatched.has(attempt), limit.timedOut(), timeoutMs)
            }
            if (isHeldBack(error)) return HELD_BACK
            const answer = answerCodeOf(error)
            if (answer === 'protocol')
              return dispatched.has(attempt)
                ? returnedOutcome((error as Error).message, true, clock.monotonic() - started)
                : {
                    at: 'not_sent',
                    code: 'refused',
                    error: `MCP server "${server.name}" refused: ${(error as Error).message}`,
                  }
            drop(pooled)
            // The server no longer knows the session, so it did not run the call: retry once in a new session.
            if (!again && (answer === 404 || answer === 400)) {
              dispatched.delete(attempt)
              continue
            }
            return toFailedOutcome(server.name, error, answer, dispatched.has(attempt), waits.get(attempt))
          } finally {
            release(pooled)
          }
        }
      } finally {
        limit.release()
        dispatched.delete(attempt)
        guards.delete(attempt)
        waits.delete(attempt)
      }
    },

    async describe(agent, tool, timeoutMs, signal) {
      const server = agent.mcpServers.find((each) => each.name === tool.mcp?.server)
      if (!server || missingSecret(agent, server, env) !== undefined) return undefined
      const limit = withDeadline(timeoutMs, signal)
      const options: CallOptions = { signal: limit.signal, timeout: timeoutMs + 1000 }
      const pooled = acquire(agent, server)
      try {
        const tools = await (await waitUnlessAborted(pooled.opening, limit.signal)).toolsFor(undefined, options)
        const found = tools.get(tool.mcp?.tool ?? tool.wire)
        // A tool that differs from its pin is not described to the model either; its calls are refused.
        if (!found || !isAsPinned(tool, found) || (await checkForeignSchema(found.inputSchema as JsonObject)))
          return undefined
        return { description: toSafeDescription(found.description ?? ''), schema: found.inputSchema as JsonObject }
      } catch {
        // The call itself will report the error of the server.
        drop(pooled)
        signal.throwIfAborted()
        return undefined
      } finally {
        release(pooled)
        limit.release()
      }
    },

    async close() {
      const open = [...connections.values()]
      connections.clear()
      await Promise.all(open.map(close))
    },
  }
}

const isAsPinned = ({ mcp }: BoundTool, found: Tool): boolean =>
  mcp?.integrity === undefined || mcp.integrity === digestOfTool(toListedTool(found))

const otherThanPinned = (server: string, name: string): string =>
  `The description of tool "${name}" by MCP server "${server}" is not what svc.lock pins. Review it, then run svc compile --mcp and publish again.`

/** A connection and the number of calls that use it. */
interface PooledConnection {
  /** Agent digest and server name. */
  readonly key: string
  readonly opening: Promise<McpConnection>
  /** Aborts the opening. */
  readonly stop: AbortController
  isOpen: boolean
  users: number
}

/** Timeout of opening a connection, which several calls may wait for. */
const CONNECT_MS = 30_000

async function close({ opening, stop, isOpen }: PooledConnection): Promise<void> {
  if (!isOpen) stop.abort(new Error('The connection is no longer wanted.'))
  try {
    await (await opening).close()
  } catch {
    // The connection never opened, or its server is gone.
  }
}

/** Waits for a connection that another call may be opening, but no longer than the signal allows. */
function waitUnlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** The HTTP status of an answer that did not come from the tool, or `protocol` for an error of the server's MCP layer. */
function answerCodeOf(error: unknown): number | 'protocol' | undefined {
  const { code, status } = Object(error) as { code?: unknown; status?: unknown }
  if (typeof status === 'number') return status
  return typeof code === 'number' ? 'protocol' : undefined
}

function toFailedOutcome(
  server: string,
  error: unknown,
  status: number | 'protocol' | undefined,
  dispatched: boolean,
  waitMs?: number,
): ToolOutcome {
  const later = waitMs !== undefined && { retryAfterMs: waitMs }
  const why = innermostMessage(error).slice(0, 500)
  if (typeof status === 'number' && status < 500) {
    const error = `MCP server "${server}" answered ${status}: ${why}`
    return status === 429
      ? { at: 'not_sent', code: 'unreachable', error, ...later }
      : { at: 'not_sent', code: 'refused', error }
  }
  if (!dispatched && error instanceof OversizedAnswer)
    return { at: 'not_sent', code: 'refused', error: `MCP server "${server}" cannot be used: ${why}` }
  if (!dispatched)
    return { at: 'not_sent', code: unsentCode(error), error: `MCP server "${server}" cannot be reached: ${why}` }
  return {
    at: 'unknown',
    code: 'broken',
    error: `The connection to MCP server "${server}" broke during the call: ${why}`,
    ...later,
  }
}

function toAbortedOutcome(server: string, dispatched: boolean, timedOut: boolean, timeoutMs: number): ToolOutcome {
  const late = `MCP server "${server}" did not answer within ${timeoutMs} ms.`
  if (dispatched)
    return timedOut
      ? { at: 'unknown', code: 'timeout', error: late }
      : { at: 'unknown', code: 'broken', error: 'The run was cancelled during the call.' }
  return timedOut
    ? { at: 'not_sent', code: 'unreachable', error: late }
    : { at: 'not_sent', code: 'cancelled', error: 'The run was cancelled before the call.' }
}

/** The structured content; else the text, parsed if it is a JSON object or list; else the content parts. */
function toOutcome(result: CallToolResult, durationMs: number): ToolOutcome {
  const content = result.content ?? []
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const isText = texts.length === content.length
  const isError = result.isError === true
  const value = (
    result.structuredContent !== undefined && !isError
      ? result.structuredContent
      : isText
        ? isError
          ? texts.join('\n')
          : parseText(texts.join('\n'))
        : content
  ) as JsonValue | InexactNumberError
  if (value instanceof InexactNumberError) return inexactNumberOutcome(value, texts.join('\n'), durationMs)
  const exceeded = findExceededBound(value)
  if (exceeded !== undefined) return exceededOutcome(exceeded, durationMs)
  // The SDK parsed the structured content and may have changed a number.
  const unsafe = unsafeNumberIn(value)
  if (unsafe)
    return inexactNumberOutcome(
      new InexactNumberError(unsafe.pointer, String(unsafe.value)),
      texts.join('\n'),
      durationMs,
    )
  const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  return bytes.byteLength > MAX_OUTPUT_BYTES
    ? truncatedOutcome(bytes, durationMs)
    : isError
      ? failedOutcome(value, durationMs, saysNotExecuted(result.structuredContent) || saysNotExecuted(value))
      : returnedOutcome(value, false, durationMs)
}

function parseText(text: string): JsonValue | InexactNumberError {
  if (/^\s*[[{]/.test(text)) {
    try {
      return parseJson(text)
    } catch (error) {
      if (error instanceof InexactNumberError) return error
      // Text that only begins like JSON is text.
    }
  }
  return text
}

/** Makes an untrusted description safe to show: at most 4096 characters, none of them invisible. Source: security, S16. */
const toSafeDescription = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (each) => (each === '\n' || each === '\t' ? each : '')).slice(0, 4096)
