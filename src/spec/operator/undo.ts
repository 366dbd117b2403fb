/** What the operator application answers of the undo of a run. */
import type { JsonValue } from '../../base/json/json.ts'
import type { RunHold } from '../hold.ts'

/** The run that undoes a call, or has undone it. */
export interface UndoingRunView {
  readonly runId: string
  readonly status: string
  /** Who asked for it, as identities are written: `operator:ana`. */
  readonly by: string
  readonly reason: string | null
  readonly at: string
  /** What it waits for, with the task where it is one. */
  readonly waitingOn?: string
  readonly userTaskId?: string
  readonly hold?: RunHold
}

/** A call that a run made, and how it would be undone. */
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
  /** Why it cannot; of an open one, why the newest attempt did not undo it. */
  readonly why?: string
  /** Of an open one: the call that undoes it, and what the policies say of that. */
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
  /** How many can be undone, and are not denied. */
  readonly undoable: number
}
