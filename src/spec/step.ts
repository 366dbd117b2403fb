/**
 * Timeline items and the content of each type of step.
 * Content keys are those of the interface (snake_case).
 * Source: docs/design/runs-and-recovery.md#timeline
 */
import type { Instant } from '../base/clock.ts'
import type { RunId, SessionId, StepId } from '../base/ids.ts'
import type { JsonObject } from '../base/json/json.ts'

export const STEP_TYPES = [
  'UserMessage',
  'Reasoning',
  'PolicyDecision',
  'ToolCall',
  'ToolResult',
  'UserTaskReq',
  'UserTaskRes',
  'SubAgentCall',
  'SubAgentResult',
  'AitlRequest',
  'AitlResponse',
  'LimitReached',
  'OutputValidation',
  'Output',
  'RunResumed',
  'UndoRequested',
  'RunCompleted',
  'SessionCompleted',
] as const
export type StepType = (typeof STEP_TYPES)[number]

/** A policy as a decision names it. */
export interface DecidedPolicy {
  readonly id: string
  readonly version: string
  readonly decision: string
  /** Whether its condition was true; null = unknown. */
  readonly matched: boolean | null
  readonly reason: string | null
  readonly authority_ref: string | null
  /** Document and line, for people; absent where there is none. */
  readonly source?: string
  /** The condition in one line with the values it saw, for example `args.amount > 100 (180)`. */
  readonly condition?: string
}

/**
 * `usage` of a `Reasoning` step. The totals include the parts: cached and written tokens are input, reasoning is output. A part
 * that the provider did not report is absent.
 */
export type CompletionUsage = {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_input_tokens?: number
  readonly cache_write_tokens?: number
  readonly reasoning_tokens?: number
  /** The provider reported no possible number for one of the totals. */
  readonly estimated?: true
}

/** The content of a step of an erased session: no member is there. The API sends null. */
export const ERASED_CONTENT: JsonObject = Object.freeze({})

export interface RunStep {
  readonly id: StepId
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly type: StepType
  /** 1-based, per run. */
  readonly sequence: number
  /** 1-based, over the whole session. */
  readonly ordinal: number
  /** The step's own fields; the common ids are added where it leaves (`timeline`). */
  readonly content: JsonObject
  /** Data that only the engine reads, such as a provider's opaque reasoning blocks. Never leaves the process. */
  readonly hidden?: JsonObject
  readonly tokensUsed: number | null
  readonly error: string | null
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
}

/** True for a completion that was not cut off. */
export const isWholeCompletion = ({ type, error }: RunStep): boolean => type === 'Reasoning' && error === null

/** The member of a step's content that an edit replaces in a fork, by type. */
export const EDITED_MEMBERS: Readonly<Record<string, 'text' | 'result' | 'output'>> = {
  UserMessage: 'text',
  Reasoning: 'text',
  ToolResult: 'result',
  SubAgentResult: 'output',
}
