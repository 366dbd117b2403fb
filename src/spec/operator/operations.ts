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
  /** Label; empty for completions from before it was kept. */
  readonly version?: string
  readonly provider?: string
  readonly model?: string
  /** UTC, `2026-11-23`. */
  readonly day?: string
}

/** How runs of one version ended that began in a time, and how long they waited for people. */
export interface RunOutcomes {
  readonly agent: string
  readonly version: string
  readonly runs: number
  readonly open: number
  readonly completed: number
  readonly cancelled: number
  /** Failed runs by their error code, the most frequent first. */
  readonly failures: readonly { readonly code: string; readonly runs: number }[]
  /** Over the runs that waited at all; a run that called another one waits with it. */
  readonly waited: {
    readonly runs: number
    readonly medianMs: number
    readonly longestMs: number
    readonly totalMs: number
  }
}

/**
 * How the last 24 hours went, as a page shows it: the server chooses the words, so that every client shows the same. All texts are
 * escaped.
 */
export interface OverviewView {
  readonly since: string
  readonly facts: readonly (OverviewCell & { readonly name: string })[]
  /** Those that have rows. */
  readonly lists: readonly {
    readonly title: string
    /** `align`: a column of numbers. */
    readonly heads: readonly { readonly text: string; readonly align?: 'right' }[]
    readonly rows: readonly (readonly OverviewCell[])[]
  }[]
}

/** A value of an overview. */
export interface OverviewCell {
  readonly text?: string
  /** The screen that has more about it. */
  readonly href?: string
  /** A moment, to be shown as its distance from now. */
  readonly at?: string
  /** Root runs that began in each hour, oldest first: a plot beside the text. */
  readonly hours?: readonly { readonly runs: number; readonly failed: number }[]
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

/** Where a server keeps what it knows, and how full that is. */
export interface StorageView {
  readonly store: 'sqlite' | 'postgres'
  /** Of the database in the data directory, with its log; null where there is none. */
  readonly storeBytes: number | null
  readonly files: 'directory' | 'bucket'
  /** Of the disk of the data directory. */
  readonly freeBytes: number | null
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
