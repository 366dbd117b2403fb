/** A model: one completion in, parts out. Retries and budgets are the engine's; a provider tries once. */
import type { RunId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { JsonSchema, SnapshotModel } from '../spec/snapshot.ts'

export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  /** An image or a PDF, as the provider's own part. */
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
      readonly isError: boolean
    }

export interface ModelCall {
  readonly id: string
  readonly name: string
  /** Parsed arguments; the raw text in `{ "$unparsed": text }` where it is no JSON object. */
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
  /** Set when the output is strict JSON: the provider is asked for structured output where it has it. */
  readonly outputSchema?: JsonSchema
  /** What the offline models read: the run's input, results so far, and which completion this is (from 1). */
  readonly run: {
    readonly id: RunId
    readonly input: JsonObject
    readonly turn: number
    /** How often this completion was tried, from 1 (the default): a script's failing turn is used up by the attempt it fails. */
    readonly attempt?: number
    /** The transcript that `messages` leave out, as where an output is mended: a script's turns are used up by it too. */
    readonly earlier?: readonly ModelMessage[]
    /** What the final answer must be: JSON where `format` is `json`, valid against `schema` where there is one, strict or not. */
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
 * Why a model ended its answer. Whole are `stop` and `tool_calls` alone: `length` and `context` were cut, `content_filter` was
 * withheld by the vendor, and `pause_turn` goes on in another completion.
 */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'context' | 'content_filter' | typeof PAUSED
export const PAUSED = 'pause_turn'

export interface ModelCompletion {
  readonly text: string
  readonly finishReason: FinishReason
  readonly calls: readonly ModelCall[]
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number }
  /** What this provider wants to see again in the next request, such as signed reasoning blocks. */
  readonly hidden?: JsonObject
}

/**
 * Text as it arrives, then exactly one completion. A stream that ends without one is a broken connection. `hidden` is what the
 * model writes and nobody is shown, thinking and arguments of calls: it is counted where no answer comes.
 */
export type CompletionPart =
  | { readonly type: 'text' | 'hidden'; readonly text: string }
  | { readonly type: 'end'; readonly completion: ModelCompletion }

export interface ModelProvider {
  /**
   * @throws ProviderError for what the provider or the connection refused; the abort reason when `signal` fires
   */
  complete(request: CompletionRequest, signal: AbortSignal): AsyncIterable<CompletionPart>
}

/** The provider or the way to it failed. The message is for people and holds no secret. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly status: number | undefined
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined
  constructor(message: string, about: { status?: number; retryable: boolean; retryAfterMs?: number; cause?: unknown }) {
    super(message, { cause: about.cause })
    this.status = about.status
    this.retryable = about.retryable
    this.retryAfterMs = about.retryAfterMs
  }
}

/** Decisions, section 13: 408, 409, 429, 5xx and connection faults are tried again. */
export const isRetryableStatus = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500

/**
 * Models by the names that documents and the project config give them.
 */
export interface ModelProviders {
  /**
   * The provider of a model, with the key that the agent's `secrets` name; a session may be one that is rehearsed.
   * @throws Failure `provider_not_configured` or `secret_not_set`
   */
  choose(
    agent: { readonly id: string; readonly secrets: Readonly<Record<string, { readonly fromEnv: string }>> },
    model: SnapshotModel,
    sessionId?: string,
  ): ModelProvider
  /** The most tokens that one answer of the model can have, or is taken to have where nothing bounds it. */
  mostOutput(model: SnapshotModel, sessionId?: string): number
}
