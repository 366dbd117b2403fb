/** The interface to tools: one call in, one outcome out. A `Toolbox` decides where each tool runs. */
import type { Instant } from '../base/clock.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import type { TraceContext } from '../base/trace-context.ts'
import type { ServerAnswer, ServerInput, ServerQuestion } from '../spec/server-question.ts'
import type { BoundTool, JsonSchema, AgentSnapshot } from '../spec/snapshot.ts'
import type { ToolMedia } from '../spec/tool-media.ts'

export interface ToolInvocation {
  readonly tool: BoundTool
  readonly arguments: JsonValue
  /** Equal for every attempt of one call. */
  readonly idempotencyKey: string
  readonly callId: string
  readonly attempt: number
  /** The call must not be sent after this. */
  readonly notAfter: Instant
  /**
   * Called when the connection is open, right before the first byte leaves: false once another process may make the call
   * instead; then nothing may be sent. Calls of this process alone need no such guard.
   */
  readonly mayLeave?: () => boolean
  /** For a tool that only accepts the call: its holder may report the end of the call, once. */
  readonly completionToken?: string
  /** Answers to what the server asked in place of an earlier attempt, and what it wants back with them. */
  readonly input?: Pick<ServerInput, 'answers' | 'state'>
  /** Called with what the tool reports while it works, not too often. */
  readonly onProgress?: (progress: ToolProgress) => void
  /**
   * Asks a person what the server wants to know while the call is open.
   * @param until when the answer comes too late
   */
  readonly onQuestion?: (question: ServerQuestion, until: Instant) => Promise<ServerAnswer>
  /** The trace to which the call belongs. */
  readonly trace?: TraceContext
  readonly run: { readonly id: string; readonly sessionId: string; readonly agent: string; readonly version: string }
}

/** What a tool says of a call under way; nothing of it is trusted. */
export interface ToolProgress {
  readonly progress?: number
  readonly total?: number
  /** One line, cut. */
  readonly message?: string
}

/**
 * The outcome of a call.
 * `returned`: a complete answer, also when the answer is an error. `not_sent`: the call certainly had no effect, so tools of
 * every side-effect class may be retried. `unknown`: the call may have had its effect. `asked`: a person is asked first.
 */
export type ToolOutcome =
  | {
      readonly at: 'returned'
      readonly result: JsonValue
      readonly isError: boolean
      readonly durationMs: number
      /** Named in the result by notes. */
      readonly media?: readonly ToolMedia[]
      /** The tool says that it did not do what was asked. */
      readonly notExecuted?: true
    }
  | {
      readonly at: 'not_sent'
      /** `held_back`: `mayLeave` said no; the call is still to be made. */
      readonly code: 'no_handler' | 'refused' | 'unreachable' | 'secret_missing' | 'cancelled' | 'held_back'
      readonly error: string
      /** The tool asked not to be called again before (`Retry-After`). */
      readonly retryAfterMs?: number
    }
  | {
      readonly at: 'unknown'
      readonly code: 'timeout' | 'broken'
      readonly error: string
      readonly retryAfterMs?: number
    }
  | {
      /** The server has not made the call, and makes it once it has the answers. */
      readonly at: 'asked'
      /** May be empty: the server then only wants the call again, with its state. */
      readonly questions: readonly ServerQuestion[]
      readonly state?: string
      /** The server would ask the same again: without a yes, the call is not made. */
      readonly endsWhenRefused?: true
    }

export interface ToolRoute {
  readonly route: 'mcp' | 'command' | 'http' | 'openapi' | 'builtin' | 'mock'
  readonly timeoutMs: number
  /** Concurrent calls allowed, when the tool is configured with a limit of its own. */
  readonly concurrency?: number
  invoke(invocation: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome>
}

/** A tool as its server describes it. */
export interface DescribedTool {
  readonly description: string
  /** For the model. */
  readonly schema: JsonSchema
  /** The part of the schema that arguments are checked against, where not all of it can be. */
  readonly checked?: JsonSchema
}

export interface Toolbox {
  /** Undefined when no handler is configured for the tool (`dispatch:no_handler`). */
  route(agent: AgentSnapshot, tool: BoundTool): ToolRoute | undefined
  /** Description and input schema of an MCP tool that neither its binding nor a Tool document describes, from its server. */
  describe(
    agent: AgentSnapshot,
    tool: BoundTool,
    signal: AbortSignal,
    sessionId?: string,
  ): Promise<DescribedTool | undefined>
  /** A secret of an MCP server that the agent's tools need and that has no value in the environment. */
  findUnsetSecret(
    agent: AgentSnapshot,
    sessionId?: string,
  ): { readonly secret: string; readonly env: string } | undefined
  close(): Promise<void>
}

/**
 * The JSON that a command tool reads from stdin and an http tool from the request body.
 * Source: docs/design/models-and-tools.md#where-a-tool-runs
 */
export interface InvocationBody {
  readonly tool: string
  readonly arguments: JsonValue
  readonly idempotency_key: string
  /** For `POST /v1/completions/{token}`. */
  readonly completion_token?: string
  readonly run: JsonObject
}

/** Default of a tool's timeout and the cap on its output. Source: docs/design/models-and-tools.md#where-a-tool-runs */
export const DEFAULT_TIMEOUT_MS = 60_000
export const MAX_OUTPUT_BYTES = 1024 * 1024
/** Read of an output, to know whether it is longer: one character more than is kept. */
export const READ_OUTPUT_BYTES: number = MAX_OUTPUT_BYTES + 4
