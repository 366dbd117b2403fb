/** A tool's effect on the world: one call in, one outcome out. What runs where is decided by `Toolbox`. */
import type { Instant } from '../base/clock.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { BoundTool, JsonSchema, AgentSnapshot } from '../spec/snapshot.ts'

export interface ToolInvocation {
  readonly tool: BoundTool
  readonly arguments: JsonValue
  /** The same for every attempt of one call. */
  readonly idempotencyKey: string
  readonly callId: string
  readonly attempt: number
  /** The call must not be sent after this. */
  readonly notAfter: Instant
  readonly run: { readonly id: string; readonly sessionId: string; readonly agent: string; readonly version: string }
}

/**
 * What became of a call.
 * `returned`: a complete answer, error or not. `not_sent`: certainly nothing happened, any class may try again.
 * `unknown`: it may have happened. A tool that answers with an error has `returned`.
 */
export type ToolOutcome =
  | { readonly at: 'returned'; readonly result: JsonValue; readonly isError: boolean; readonly durationMs: number }
  | {
      readonly at: 'not_sent'
      readonly code: 'no_handler' | 'refused' | 'unreachable' | 'cancelled'
      readonly error: string
    }
  | { readonly at: 'unknown'; readonly code: 'timeout' | 'broken'; readonly error: string }

export interface ToolRoute {
  readonly route: 'mcp' | 'command' | 'http' | 'builtin' | 'mock'
  readonly timeoutMs: number
  /** Calls of the tool that may be under way at once, where it sets a bound of its own. */
  readonly concurrency?: number
  invoke(invocation: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome>
}

export interface Toolbox {
  /** Undefined when nothing handles the tool (`dispatch:no_handler`). */
  route(agent: AgentSnapshot, tool: BoundTool): ToolRoute | undefined
  /** Input schemas of MCP tools that neither binding nor Tool document describe, asked once per run and server. */
  describe(
    agent: AgentSnapshot,
    tool: BoundTool,
    signal: AbortSignal,
    sessionId?: string,
  ): Promise<{ readonly description: string; readonly schema: JsonSchema } | undefined>
  /** A secret of an MCP server that the agent's tools need and that has no value here. */
  unset(agent: AgentSnapshot, sessionId?: string): { readonly secret: string; readonly env: string } | undefined
  close(): Promise<void>
}

/** What a command tool reads on stdin and an http tool in its body. Source: decisions, section 14. */
export interface InvocationBody {
  readonly tool: string
  readonly arguments: JsonValue
  readonly idempotency_key: string
  readonly run: JsonObject
}

/** Default of a tool's timeout and the cap on its output. Source: decisions, section 14. */
export const DEFAULT_TIMEOUT_MS = 60_000
export const MAX_OUTPUT_BYTES = 1024 * 1024
