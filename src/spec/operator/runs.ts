/** Answers of the operator application about sessions, runs, calls and files. */
import type { SessionListItem } from '../api.ts'
import type { RunHold } from '../hold.ts'
import type { CostSum } from '../price.ts'
import type { OriginFields } from '../run.ts'
import type { EffectView, PauseView } from './operations.ts'
import type { UndoingRunView } from './undo.ts'

/** What a list of runs is ordered by. */
export type RunOrder = 'started' | 'duration' | 'tokens' | 'cost'

export interface RunView extends OriginFields {
  readonly runId: string
  readonly sessionId: string
  readonly agent: string
  readonly versionLabel: string
  readonly status: string
  readonly depth: number
  readonly parentRunId: string | null
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly totalTokensUsed: number
  /** What the completions of this run cost; absent where nothing was billed. */
  readonly cost?: CostSum
  /** The beginning of its input, in one line; where `preview` was asked for. */
  readonly inputPreview?: string
  readonly trigger: string
  readonly waitingOn?: string
  /** As in the status of a run. */
  readonly hold?: RunHold
}

/** What holds a run, for operators: its pauses with who, when and why, and what is out of reach until when. */
export interface RunHolders {
  readonly runId: string
  /** As in the status of the run; null where it is not held. */
  readonly hold: RunHold | null
  /** Pauses that stop what the run or one below it would do next. */
  readonly pauses: readonly PauseView[]
  /** Outages that runs of it meet; `until` is when such a run fails. */
  readonly outages: readonly {
    readonly runId: string
    readonly cause: string
    readonly since: string
    readonly failures: number
    readonly until: string
  }[]
}

/**
 * A step in an outline: its ordinal, the index of its run, its type, what it is about, when it began and ended in milliseconds,
 * tokens, the id of its call, and 1 where it is an error.
 */
export type OutlineRow = readonly [
  ordinal: number,
  run: number,
  type: string,
  summary: string,
  startedAt: number,
  finishedAt: number | null,
  tokens: number | null,
  callId: string | null,
  isError: 0 | 1,
]

/** A run of an outline; it answers the call `parentCallId` of its parent. */
export interface OutlineRun {
  readonly runId: string
  readonly parentRunId: string | null
  readonly parentCallId: string | null
  readonly depth: number
  readonly agent: string
  readonly versionLabel: string
  readonly status: string
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly totalTokensUsed: number
  readonly cost?: CostSum
}

/** Use of a limit of a run, including what an operator granted. */
export interface RunBudget {
  readonly limit: 'max_tokens_per_run' | 'max_loop_iterations' | 'max_wall_clock_seconds' | 'max_hitl_wait_minutes'
  readonly used: number
  readonly most: number
}

export interface RunOutline {
  readonly runId: string
  readonly sessionId: string
  /** The run and those below it, each after its parent. */
  readonly runs: readonly OutlineRun[]
  /** Of the run itself, where its version sets limits. */
  readonly budgets: readonly RunBudget[]
  /** In order. */
  readonly rows: readonly OutlineRow[]
  /** Number of the last step that was read: where the next outline goes on. */
  readonly after: number
  readonly hasMore: boolean
}

/** An action that an open run from a backup takes once released, and may have taken before. */
export interface RepeatView {
  /** The run of the tree, and its agent. */
  readonly runId: string
  readonly agent: string
  readonly what: 'completion' | 'call'
  /** Logical id, class and idempotency key of a call. */
  readonly tool?: string
  readonly sideEffectClass?: string | null
  readonly idempotencyKey?: string
  /** `made` automatically, or only after asking a person. */
  readonly onRelease: 'made' | 'asked'
}

export interface RestoredView {
  /** The restore that made the store; null where none did. Times of `StoreRestore`. */
  readonly restore: {
    readonly at: string
    readonly backedUpAt: string
    readonly releasedAt: string | null
    readonly asksUntil: string | null
  } | null
  /** Open root runs that are held, oldest first. */
  readonly runs: readonly {
    readonly runId: string
    readonly agent: string
    readonly status: string
    readonly startedAt: string
    readonly heldSince: string
    readonly mayRepeat: readonly RepeatView[]
  }[]
  /** `nextAt`: the next time of a schedule. */
  readonly triggers: readonly {
    readonly triggerId: string
    readonly agent: string
    readonly type: 'api' | 'schedule'
    readonly name: string
    readonly nextAt: string | null
  }[]
}

export interface FileView {
  readonly objectKey: string
  readonly filename: string
  readonly mediaType: string
  readonly sizeBytes: number
  readonly finalizedAt: string
}

/** A session with its newest runs, the root first, each before those it started. */
export type SessionView = SessionListItem & {
  readonly agent: string
  /** True while it is exempt from erasure and retention. */
  readonly legalHold: boolean
  readonly runs: readonly RunView[]
  /** How many older runs `runs` leaves out; absent where it has all. */
  readonly runsLeftOut?: number
}

/** A call of a run, as the ledger has it. */
export interface CallView {
  readonly runId: string
  readonly agent: string
  readonly toolCallId: string
  /** Logical id of the tool or agent. */
  readonly tool: string
  /** Outcome. */
  readonly state: string
  /** The attempt that it is at, from 1. */
  readonly attempts: number
  readonly idempotencyKey: string
  readonly argsDigest: string
  /** Of the last change. */
  readonly at: string
  /** The effect key that it took; absent where its tool has none. */
  readonly effect?: { readonly key: string; readonly holds: boolean; readonly outcome: EffectView['outcome'] }
  /** The newest run that undoes it, or has undone it or failed to. */
  readonly undoneBy?: UndoingRunView
  /** Where it undoes another call: that one. */
  readonly undoes?: { readonly runId: string; readonly toolCallId: string; readonly tool: string }
}
