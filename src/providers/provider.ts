/** The interface to a model: one request in, a stream of parts out. A provider tries once; retries and budgets belong to the engine. */
import type { RunId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import type { TraceContext } from '../base/trace-context.ts'
import type { JsonSchema, SnapshotModel } from '../spec/snapshot.ts'
import type { ModelTerms } from '../spec/price.ts'
import type { OutageReason } from '../spec/run/outage.ts'
import type { ToolMedia } from '../spec/tool-media.ts'

export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  /** An image or a PDF, sent in the provider's own format. */
  | { readonly type: 'file'; readonly filename: string; readonly mediaType: string; readonly bytes: Uint8Array }

export type ModelMessage =
  | { readonly role: 'user'; readonly parts: readonly MessagePart[] }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly calls: readonly ModelCall[]
      readonly hidden?: JsonObject
    }
  | {
      readonly role: 'tool'
      readonly callId: string
      readonly name: string
      readonly content: string
      /** In the order in which the tool answered them. Vendors get those that the model takes (`providers/tool-media.ts`). */
      readonly media?: readonly ToolMedia[]
      readonly isError: boolean
    }

export interface ModelCall {
  readonly id: string
  readonly name: string
  /** Parsed arguments, or `{ "$unparsed": text }` when the text is not a JSON object. */
  readonly arguments: JsonValue
}

export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
}

export interface CompletionRequest {
  readonly model: SnapshotModel
  readonly system: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  /** Set when the output is strict JSON: requests structured output from providers that support it. */
  readonly outputSchema?: JsonSchema
  /** Called when the connection is open, right before the first byte leaves. False: nothing is sent. */
  readonly mayLeave?: () => boolean
  /** Sent as headers; no part of what is asked. */
  readonly trace?: TraceContext
  /** Read by the offline models only: the run's input, the results so far, and the number of this completion (from 1). */
  readonly run: {
    readonly id: RunId
    readonly input: JsonObject
    readonly turn: number
    /** Number of this attempt, from 1 (the default). Each attempt uses up one failing turn of a script. */
    readonly attempt?: number
    /** The full transcript when `messages` leave some of it out, as when an output is repaired. It uses up turns of a script too. */
    readonly earlier?: readonly ModelMessage[]
    /** How many messages at the front come from the session before the run; they use up no turn of a script. */
    readonly before?: number
    /** Required form of the final answer. `schema` applies whether or not the output is strict. */
    readonly output?: { readonly format: 'text' | 'json'; readonly schema?: JsonSchema }
    readonly results: readonly {
      readonly name: string
      readonly callId: string
      readonly result: JsonValue
      readonly isError: boolean
    }[]
  }
}

/**
 * Why a model ended its answer. Only `stop` and `tool_calls` are complete answers: `length` and `context` were cut off,
 * `content_filter` was withheld by the vendor, and `pause_turn` continues in another completion.
 */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'context' | 'content_filter' | typeof PAUSE_TURN
export const PAUSE_TURN = 'pause_turn'

/**
 * Tokens of one completion as its provider counts them. Each of the three parts is absent where the provider reports none;
 * prices apply to them and to what is left of the two totals.
 */
export interface ModelUsage {
  /** All input, the cached parts included. */
  readonly inputTokens: number
  /** All output, reasoning included. */
  readonly outputTokens: number
  /** Input that was read from the provider's cache. */
  readonly cachedInputTokens?: number
  /** Input that was written to the provider's cache. */
  readonly cacheWriteTokens?: number
  /** Output that was reasoning. */
  readonly reasoningTokens?: number
  /** The provider reported no possible number for one of the totals. */
  readonly estimated?: true
}

export interface ModelCompletion {
  readonly text: string
  readonly finishReason: FinishReason
  readonly calls: readonly ModelCall[]
  readonly usage: ModelUsage
  /** The model that answered, where the provider names another one than it was asked for. */
  readonly servedBy?: string
  /** Data that the next request must send back to this provider, such as signed reasoning blocks. */
  readonly hidden?: JsonObject
}

/**
 * Text as it arrives, then exactly one completion; a stream that ends without one was a broken connection. `hidden` is text that
 * is not displayed, such as thinking and arguments of calls: it counts towards usage when the answer does not complete.
 */
export type CompletionPart =
  | { readonly type: 'text' | 'hidden'; readonly text: string }
  | { readonly type: 'end'; readonly completion: ModelCompletion }

export interface ModelProvider {
  /**
   * @throws ProviderError when the provider refuses or the connection fails; the abort reason when `signal` fires
   */
  complete(request: CompletionRequest, signal: AbortSignal): AsyncIterable<CompletionPart>
}

export type ModelOutage = Extract<OutageReason, 'provider_unreachable' | 'quota_spent'>

export interface ProviderErrorFacts {
  readonly status?: number
  readonly retryable: boolean
  readonly retryAfterMs?: number
  readonly outage?: ModelOutage
  readonly isFiltered?: boolean
  readonly cause?: unknown
}

/** The provider or the connection to it failed. The message is for people and contains no secret. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly status: number | undefined
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined
  /** Set where the model cannot be reached or used for now, whatever it is asked. */
  readonly outage: ModelOutage | undefined
  /** A filter of the provider refused what was asked, as it withholds an answer. */
  readonly isFiltered: boolean
  constructor(message: string, about: ProviderErrorFacts) {
    super(message, { cause: about.cause })
    this.outage = about.outage
    this.isFiltered = about.isFiltered ?? false
    this.status = about.status
    this.retryable = about.retryable
    this.retryAfterMs = about.retryAfterMs
  }
}

/** An answer of a named provider in a form that its API does not have. It is no outage, and is not tried again. */
export class ProviderFormError extends ProviderError {
  /** Where in the answer. */
  readonly place: string
  constructor(message: string, place: string, cause: unknown) {
    super(message, { retryable: false, cause })
    this.place = place
  }
}

/**
 * Models by the names that documents and the project config give them.
 */
export interface ModelProviders {
  /**
   * The provider of a model, with the key that the agent's `secrets` name.
   * @param sessionId lets a rehearsed session get a provider of its own
   * @throws Failure `provider_not_configured` or `secret_not_set`
   */
  choose(
    agent: { readonly id: string; readonly secrets: Readonly<Record<string, { readonly fromEnv: string }>> },
    model: SnapshotModel,
    sessionId?: string,
  ): ModelProvider
  /** The most tokens that one answer can have; an assumed bound when nothing limits the model. */
  maxOutputTokens(model: SnapshotModel, sessionId?: string): number
  /** Present price of the model, and the size of its context window. */
  terms(model: SnapshotModel, sessionId?: string): ModelTerms
}
