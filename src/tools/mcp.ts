/**
 * Tools of an MCP server over streamable HTTP. Source: decisions, section 14; reliability, "MCP revision 2026-07-28".
 *
 * What a failure means depends on one thing: whether the request that carries the call may have been received.
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { Clock } from '../base/clock.ts'
import { InexactNumberError, unsafeNumberIn } from '../base/exact-number.ts'
import { isTooDeep, parseJson, type JsonObject, type JsonValue } from '../base/json.ts'
import type { Redactor } from '../base/secret.ts'
import { isUnsent, type FetchFunction } from '../base/transport.ts'
import type { McpServer } from '../spec/document.ts'
import type { BoundTool, JsonSchema, AgentSnapshot } from '../spec/snapshot.ts'
import { checkForeignSchema } from './check.ts'
import { ATTEMPT_HEADER, connectMcp, type CallOptions, type McpConnection } from './mcp-connection.ts'
import { mcpCredentials, missingSecret } from './mcp-credentials.ts'
import { digestOfTool } from './listed-tool.ts'
import { innermostCause, toListed } from './mcp-listing.ts'
import { cutOutput, withDeadline, inexact, returnedOutcome, tooDeep } from './outcome.ts'
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
  /** The guarded way out. */
  readonly fetch: FetchFunction
  readonly clock: Clock
  readonly version: string
}

export function createMcpServers({ env, redactor, fetch, clock, version }: McpServersParts): McpServers {
  const connections = new Map<string, PooledConnection>()
  /** Attempts whose request may have been received. */
  const dispatched = new Set<string>()

  const markingFetch: FetchFunction = async (input, init) => {
    const mark = new Headers(init?.headers).get(ATTEMPT_HEADER)
    // Before anything leaves: a call that is cut off is looked at before its request has settled.
    if (mark !== null) dispatched.add(mark)
    try {
      return await fetch(input, init)
    } catch (error) {
      if (mark !== null && isUnsent(error)) dispatched.delete(mark)
      throw error
    }
  }

  const use = (agent: AgentSnapshot, server: McpServer): PooledConnection => {
    const key = `${agent.digest} ${server.name}`
    let kept = connections.get(key)
    if (!kept) {
      const headers = mcpCredentials(agent, server, env, redactor)
      const stop = new AbortController()
      const parts = { server, headers, fetch: markingFetch, version }
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
      connections.set(key, (kept = made))
    }
    kept.users++
    return kept
  }
  /** Not given out again. */
  const drop = (kept: PooledConnection): void => {
    if (connections.get(kept.key) === kept) connections.delete(kept.key)
  }
  const release = (kept: PooledConnection): void => {
    kept.users--
    // A server that does not finish its greeting is not waited for beyond the calls that wanted it.
    if (kept.users === 0 && !kept.isOpen) drop(kept)
    // Other calls may still be under way on a dropped one.
    if (kept.users === 0 && connections.get(kept.key) !== kept) void close(kept)
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
      if (missing !== undefined) return { at: 'not_sent', code: 'refused', error: missing }
      const name = tool.mcp?.tool ?? tool.wire
      const started = clock.monotonic()
      const limit = withDeadline(timeoutMs, signal)
      const options: CallOptions = { signal: limit.signal, timeout: timeoutMs + 1000 }
      const attempt = `${invocation.idempotencyKey}#${invocation.attempt}`
      const notAfter = new Date(invocation.notAfter).toISOString()
      try {
        for (let again = false; ; again = true) {
          const kept = use(agent, server)
          try {
            const connection = await until(kept.opening, limit.signal)
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
                _meta: { 'svc/idempotencyKey': invocation.idempotencyKey, 'svc/notAfter': notAfter },
              },
              attempt,
              { 'idempotency-key': invocation.idempotencyKey, 'svc-not-after': notAfter },
              options,
            )
            return toOutcome(result, clock.monotonic() - started)
          } catch (error) {
            // The request that was cut off tells in its own time whether it had left.
            if (limit.signal.aborted) await new Promise((resolve) => setImmediate(resolve))
            if (limit.signal.aborted) {
              // Closing the connection is what ends an answer that nobody waits for.
              drop(kept)
              return cutOff(server.name, dispatched.has(attempt), limit.timedOut(), timeoutMs)
            }
            const answer = codeOf(error)
            if (answer === 'protocol')
              return dispatched.has(attempt)
                ? returnedOutcome((error as Error).message, true, clock.monotonic() - started)
                : {
                    at: 'not_sent',
                    code: 'refused',
                    error: `MCP server "${server.name}" refused: ${(error as Error).message}`,
                  }
            drop(kept)
            // The server has forgotten the session, so it has not run the call: once more, with a new one.
            if (!again && (answer === 404 || answer === 400)) {
              dispatched.delete(attempt)
              continue
            }
            return failed(server.name, error, answer, dispatched.has(attempt))
          } finally {
            release(kept)
          }
        }
      } finally {
        limit.release()
        dispatched.delete(attempt)
      }
    },

    async describe(agent, tool, timeoutMs, signal) {
      const server = agent.mcpServers.find((each) => each.name === tool.mcp?.server)
      if (!server || missingSecret(agent, server, env) !== undefined) return undefined
      const limit = withDeadline(timeoutMs, signal)
      const options: CallOptions = { signal: limit.signal, timeout: timeoutMs + 1000 }
      const kept = use(agent, server)
      try {
        const tools = await (await until(kept.opening, limit.signal)).toolsFor(undefined, options)
        const found = tools.get(tool.mcp?.tool ?? tool.wire)
        // What differs from its pin is not shown to the model either; the call is refused.
        if (!found || !isAsPinned(tool, found) || (await checkForeignSchema(found.inputSchema as JsonObject)))
          return undefined
        return { description: plain(found.description ?? ''), schema: found.inputSchema as JsonObject }
      } catch {
        // The call itself will say what is wrong with the server.
        drop(kept)
        signal.throwIfAborted()
        return undefined
      } finally {
        release(kept)
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
  mcp?.integrity === undefined || mcp.integrity === digestOfTool(toListed(found))

const otherThanPinned = (server: string, name: string): string =>
  `What MCP server "${server}" says of its tool "${name}" is not what svc.lock pins. Review it, then svc compile --mcp and publish again.`

/** A connection and how many calls are on it. */
interface PooledConnection {
  /** Agent digest and server name. */
  readonly key: string
  readonly opening: Promise<McpConnection>
  /** Ends the opening. */
  readonly stop: AbortController
  isOpen: boolean
  users: number
}

/** Bound on making a connection, which several calls may wait for. */
const CONNECT_MS = 30_000

async function close({ opening, stop, isOpen }: PooledConnection): Promise<void> {
  if (!isOpen) stop.abort(new Error('The connection is no longer wanted.'))
  try {
    await (await opening).close()
  } catch {
    // It never opened, or its server is gone.
  }
}

/** Waits for a connection that another call may have begun, but no longer than this one may take. */
function until<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** The HTTP status of an answer that never reached the tool, `protocol` for an error the server's MCP layer answered with. */
function codeOf(error: unknown): number | 'protocol' | undefined {
  const { code, status } = Object(error) as { code?: unknown; status?: unknown }
  if (typeof status === 'number') return status
  return typeof code === 'number' ? 'protocol' : undefined
}

function failed(
  server: string,
  error: unknown,
  status: number | 'protocol' | undefined,
  dispatched: boolean,
): ToolOutcome {
  const why = innermostCause(error)
  if (typeof status === 'number' && status < 500)
    return { at: 'not_sent', code: 'refused', error: `MCP server "${server}" answered ${status}: ${why}` }
  if (!dispatched)
    return { at: 'not_sent', code: 'unreachable', error: `MCP server "${server}" cannot be reached: ${why}` }
  return {
    at: 'unknown',
    code: 'broken',
    error: `The connection to MCP server "${server}" broke during the call: ${why}`,
  }
}

function cutOff(server: string, dispatched: boolean, timedOut: boolean, timeoutMs: number): ToolOutcome {
  const late = `MCP server "${server}" did not answer within ${timeoutMs} ms.`
  if (dispatched)
    return timedOut
      ? { at: 'unknown', code: 'timeout', error: late }
      : { at: 'unknown', code: 'broken', error: 'The run was cancelled during the call.' }
  return timedOut
    ? { at: 'not_sent', code: 'unreachable', error: late }
    : { at: 'not_sent', code: 'cancelled', error: 'The run was cancelled before the call.' }
}

/** Structured content as it is; else the text, read as JSON where it is an object or a list; else the content parts. */
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
          : fromText(texts.join('\n'))
        : content
  ) as JsonValue | InexactNumberError
  if (value instanceof InexactNumberError) return inexact(value, texts.join('\n'), durationMs)
  if (isTooDeep(value)) return tooDeep(durationMs)
  // The SDK has parsed structured content: a number may be another than the server wrote by now.
  const unsafe = unsafeNumberIn(value)
  if (unsafe) return inexact(new InexactNumberError(unsafe.pointer, String(unsafe.value)), texts.join('\n'), durationMs)
  const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  return bytes.byteLength > MAX_OUTPUT_BYTES
    ? cutOutput(bytes, durationMs)
    : returnedOutcome(value, isError, durationMs)
}

function fromText(text: string): JsonValue | InexactNumberError {
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

/** Of a description that strangers wrote: bounded, and without characters that people do not see. Source: security, S16. */
const plain = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (each) => (each === '\n' || each === '\t' ? each : '')).slice(0, 4096)
