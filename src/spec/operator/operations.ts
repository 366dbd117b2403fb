/** Answers of the operator application about costs, pauses, effects and server processes. */
import type { CostSum } from '../price.ts'
import type { PauseTarget } from '../steer/pause.ts'
import type { UndoingRunView } from './undo.ts'

/** Sums over completions. */
export interface CostSums {
  readonly completions: number
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly cost: CostSum
}

/** The sums of a group, with the values it was grouped by. */
export interface CostView extends CostSums {
  readonly agent?: string
  readonly provider?: string
  readonly model?: string
  /** UTC, `2026-11-23`. */
  readonly day?: string
}

/** A pause or its end by an operator. */
export interface PauseView extends PauseTarget {
  readonly paused: boolean
  readonly at: string
  readonly by: string
  readonly reason: string | null
}

/** A call that took an effect key. */
export interface EffectView {
  /** The stored key: a digest if longer than 512 bytes. `shown` is the shortened text. */
  readonly key: string
  readonly shown: string
  readonly holds: boolean
  readonly outcome: 'in_flight' | 'unknown' | 'done' | 'not_made'
  readonly tool: string
  readonly toolVersion: string
  readonly agent: string
  readonly versionLabel: string
  readonly runId: string
  readonly sessionId: string
  readonly toolCallId: string
  readonly at: string
  /** When a call that was made stops holding the key; null = never. */
  readonly expiresAt: string | null
  readonly approvedBy: readonly string[]
  readonly released?: { readonly at: string; readonly by: string; readonly reason: string }
  /** The run that has undone the call. */
  readonly undoneBy?: UndoingRunView
}

/** A server process of the store. */
export interface WorkerView {
  readonly workerId: string
  readonly version: string
  /** Where clients reach it. */
  readonly url: string | null
  /** `silent`: it has not been seen for 15 seconds. */
  readonly state: 'serving' | 'draining' | 'silent'
  readonly startedAt: string
  readonly seenAt: string
  /** Sessions that it drives. */
  readonly leases: number
}
