/** Answers of the operator application about the undo of a run. */
import type { JsonValue } from '../../base/json/json.ts'
import type { RunHold } from '../hold.ts'

/** The run that undoes a call, or has undone it. */
export interface UndoingRunView {
  readonly runId: string
  readonly status: string
  /** Who requested it, as an identity: `operator:ana`. */
  readonly by: string
  readonly reason: string | null
  readonly at: string
  /** What it waits for, with the task where it is one. */
  readonly waitingOn?: string
  readonly userTaskId?: string
  readonly hold?: RunHold
}

/** A call of a run, and how it would be undone. */
export interface UndoItemView {
  readonly runId: string
  readonly agent: string
  readonly toolCallId: string
  readonly tool: string
  /** When it was made. */
  readonly at: string
  readonly arguments: JsonValue
  /** `open`: it can be undone; `final`: it cannot. */
  readonly state: 'open' | 'under_way' | 'undone' | 'final'
  /** Why it cannot be undone; for an open call, why the newest attempt failed. */
  readonly why?: string
  /** Of an open call: the undoing call and the policies' decision on it. */
  readonly undo?: {
    readonly tool: string
    readonly arguments: JsonValue
    readonly decision: 'allow' | 'require_approval' | 'escalate' | 'deny'
    readonly explanation: string
    /** How many people must approve. */
    readonly approvals?: number
  }
  /** Of one that is undone or under way. */
  readonly undoneBy?: UndoingRunView
}

export interface UndoPlanView {
  readonly runId: string
  readonly agent: string
  readonly versionLabel: string
  readonly status: string
  /** Newest first. */
  readonly items: readonly UndoItemView[]
  readonly total: number
  /** Number of calls that can be undone and are not denied. */
  readonly undoable: number
}
