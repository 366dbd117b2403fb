/** Source: docs/design/http.md#stream */
import type { Instant } from '../base/clock.ts'
import type { RunId, SessionId } from '../base/ids.ts'
import type { JsonObject } from '../base/json/json.ts'

export type EventKind = 'step' | 'session' | 'run' | 'user_task' | 'aitl'

export const SUBJECTS = {
  session: ['started', 'paused', 'resumed', 'completed', 'failed', 'cancelled'].map((each) => `engine.session.${each}`),
  run: [
    ...['started', 'paused', 'resumed', 'completed', 'failed', 'cancelled'].map((each) => `engine.run.${each}`),
    'engine.run.output',
    'engine.subagent.spawned',
    'engine.subagent.completed',
  ],
  step: ['started', 'completed', 'failed', 'delta', 'progress'].map((each) => `engine.step.${each}`),
  user_task: ['created', 'voted', 'completed', 'expired', 'cancelled'].map((each) => `engine.user_task.${each}`),
  aitl: ['requested', 'answered', 'escalated'].map((each) => `engine.aitl.${each}`),
} as const satisfies Record<EventKind, readonly string[]>

/** An event as it is stored: `seq` is the session-wide number, from 1, without gaps. */
export interface StoredEvent {
  readonly sessionId: SessionId
  readonly seq: number
  readonly runId: RunId
  readonly ts: Instant
  readonly kind: EventKind
  readonly subject: string
  readonly data: JsonObject
}

/** Model text as it arrives: live only, never stored, without a number. */
export interface TextDelta {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly ts: Instant
  readonly kind: 'step'
  readonly subject: 'engine.step.delta'
  readonly data: JsonObject
  /** True for text that can only be the answer of a root run, which readers without access to the timeline get, too. */
  readonly isAnswer?: boolean
}

/** What a tool reports of a call under way: live only, like the text of a model. */
export interface CallProgressEvent {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly ts: Instant
  readonly kind: 'step'
  readonly subject: 'engine.step.progress'
  readonly data: JsonObject
}

/** Text of a root run's answer, for readers from whom the timeline is hidden: live only, like the text of a step. */
export interface OutputText {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly ts: Instant
  readonly kind: 'run'
  readonly subject: 'engine.run.output'
  readonly data: JsonObject
}

/** Live only: never stored, without a number. */
export type LiveText = TextDelta | CallProgressEvent | OutputText
