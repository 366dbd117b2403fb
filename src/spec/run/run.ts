/**
 * A run and its state. Only the engine's state machine writes `RunState`; the API's statuses are derived from it by
 * `statusesOf`.
 */
import type { Digest } from '../../base/digest.ts'
import type { Instant } from '../../base/clock.ts'
import type { AgentId, RunId, SessionId, TaskId, VersionId, WorkspaceId, DecisionId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { TraceContext } from '../../base/trace-context.ts'
import type { DecisionProof } from '../people/decision-proof.ts'
import type { Outage } from './outage.ts'
import type { CostSum, Money } from '../price.ts'
import type { ServerAnswer, ServerInput } from '../server-question.ts'
import type { RunStarter } from './starter.ts'
import type { CallWait, SteeringMessage } from '../steer/wait.ts'

/** Source: docs/design/runs-and-recovery.md#states-and-statuses */
export const RUN_STATUSES = [
  'Running',
  'WaitingForHITL',
  'WaitingForAITL',
  'WaitingForResponse',
  'Completed',
  'Failed',
  'Cancelled',
] as const

export type RunStatusName = (typeof RUN_STATUSES)[number]

/** Source: docs/design/runs-and-recovery.md#states-and-statuses */
export type ErrorCode =
  | 'limit_exceeded'
  | 'output_invalid'
  | 'model_error'
  /** An outage outlasted `svc/max-outage`. */
  | 'outage'
  | 'completion_truncated'
  | 'completion_filtered'
  | 'tool_failed'
  | 'rejected'
  | 'repeated_denial'
  | 'policy_error'
  | 'state_not_saved'
  | 'cancelled'
  | 'internal'

export type LimitName =
  | 'max_tokens_per_run'
  /** `svc/max-cost-per-run`. */
  | 'max_cost_per_run'
  | 'max_loop_iterations'
  | 'max_wall_clock_seconds'
  | 'max_hitl_wait_minutes'
  | 'max_subagent_depth'
  /** `svc/max-tokens-per-session`. */
  | 'max_tokens_per_session'
  /** `svc/max-runs-per-session`. */
  | 'max_runs_per_session'
  /** The budget of `svc/context`. */
  | 'context_window'

/** States of runs that have begun and not ended. */
export const OPEN_STATUSES = ['Running', 'WaitingForHITL', 'WaitingForAITL', 'WaitingForResponse']

export const isTerminal = (status: string): boolean =>
  status === 'Completed' || status === 'Failed' || status === 'Cancelled'
export const isWaiting = (status: string): boolean => status.startsWith('WaitingFor')

/** The approval that a call has. What else was asked of those who gave it is in the step of its task. */
export interface CallApproval {
  readonly task: TaskId
  /** Of the action that was approved. */
  readonly digest: Digest
  /** The role that they had to have. */
  readonly role?: string
  /** Who started the run could not approve it. */
  readonly separationOfDuties?: true
  /** The least proof that they had to give; absent = none. */
  readonly proof?: DecisionProof
  /** Nobody answered in time, which the policies took for an approval. */
  readonly timedOut?: true
}

/** The state of one call of a completion. `engine/transaction/call-moves.ts` draws how they follow each other. */
export type CallState =
  /** Recorded with its completion; not authorized yet, or to be authorized again after an approval. */
  | { readonly at: 'proposed'; readonly approved?: CallApproval }
  /** Allowed; waits to be sent, since unsafe calls of a run are sent one at a time. */
  | { readonly at: 'ready' }
  /** It was certainly not made, because what it needs cannot be reached; it is ready again at `until`. */
  | { readonly at: 'retrying'; readonly until: Instant }
  | { readonly at: 'awaiting'; readonly task: TaskId }
  /** `svc.ask_user`: the run waits for a message. */
  | { readonly at: 'listening' }
  /** The dispatch record is durable; the outcome is not. */
  | {
      readonly at: 'sent'
      readonly sentAt: Instant
      readonly notAfter: Instant
      readonly worker?: string
      /** The last question of its server while the call is under way. */
      readonly question?: { readonly name: string } & ({ readonly task: TaskId } | { readonly answer: ServerAnswer })
    }
  /** Sent, with an unknown outcome; `task` is the anomaly review. */
  | { readonly at: 'unknown'; readonly task: TaskId }
  /** It waits for a time, a signal, or a report from outside. */
  | { readonly at: 'waiting'; readonly since: Instant; readonly wait: CallWait }
  | { readonly at: 'delegated'; readonly child: RunId }
  /** The child asked its parent's model; the call has answered with the question. */
  | { readonly at: 'asking'; readonly requestId: string }
  | {
      readonly at: 'settled'
      readonly outcome: CallOutcome
      /** Set when the run fails over this call. */
      readonly ends?: { readonly error: string; readonly errorCode: ErrorCode }
    }

/** The task for which a call in this state waits. */
export function taskOfState(state: CallState): TaskId | undefined {
  if (state.at === 'awaiting' || state.at === 'unknown') return state.task
  return state.at === 'sent' && state.question && 'task' in state.question ? state.question.task : undefined
}

/** How a settled call ended; history conditions count these. */
export type CallOutcome = 'executed' | 'failed' | 'denied' | 'rejected' | 'invalid' | 'not_sent' | 'skipped'

/**
 * A call as its run has it. A class without code: a spread of a call, or an object with its members, has no private member and is no
 * call, so that nobody sets a state but `CallHandle.to`.
 */
export declare class ToolCall {
  private constructor()
  private readonly changesByHandle: true
  /** Id the model gave, unique in the run. */
  readonly id: string
  /** Position in its completion, from 0. */
  readonly index: number
  readonly name: string
  readonly kind: 'tool' | 'agent' | 'builtin' | 'unknown'
  /** Logical id of tool or agent; the wire name where nothing is bound to it. */
  readonly ref: string
  readonly arguments: JsonValue
  readonly argumentsDigest: Digest
  /** 1 for the first dispatch. */
  readonly attempt: number
  /** When its key was used first; absent before. */
  readonly firstSentAt?: Instant
  /** Set once a retried attempt may have happened: the outcome of a later attempt does not undo it. */
  readonly inDoubt?: true
  readonly decisionId?: DecisionId
  /** People and keys that approved the call, as `approverOf` names them. */
  readonly approvedBy?: readonly string[]
  /** The call with the same effect key that this one may repeat, by its id: its approver saw it. */
  readonly repeats?: string
  /** Until when the call waits for an earlier one with its effect key; set once it has begun to wait. */
  readonly effectWait?: Instant
  /** The approval that covers it. */
  readonly approval?: CallApproval
  /** Since when only an operator's pause holds it. */
  readonly paused?: Instant
  /** Set from the first attempt that met an outage. */
  readonly outage?: Outage
  /** In an ended run: what became known of the call since, for a resumption. */
  readonly late?: LateOutcome
  /** What its server asks a person, from its first question on. */
  readonly input?: ServerInput
  /** Digests of the tokens that its attempts gave to a tool which reports the end later. */
  readonly tokens?: readonly string[]
  readonly state: CallState
}

/** An outcome that arrived, or that a person reported, after the run had ended. */
export interface LateOutcome {
  readonly result: JsonValue
  readonly isError: boolean
  readonly notExecuted?: boolean
}

export type RunState =
  /**
   * A completion is requested. `attempt` counts the attempts of this turn, from 1; `lost` of them ended with their process.
   * `reserved` are the tokens reserved in its budgets until its outcome is known, `reservedCost` the money, `reservedPlan` what it
   * reserves in the plan of the workspace. `unsent` is set while it was not sent yet: the
   * completions in flight leave nothing of a budget, or the process was stopping. `room` is the maximum of output tokens, where
   * an earlier answer of this turn was cut at its length; `emptied` is set where an earlier answer of this turn was empty.
   */
  | {
      readonly at: 'thinking'
      readonly turn: number
      readonly attempt: number
      readonly lost?: number
      readonly reserved?: number
      readonly reservedCost?: string
      readonly reservedPlan?: { readonly tokens: number; readonly cost?: Money }
      readonly unsent?: true
      /** Since when an operator's pause holds it; `unsent` is set as well. */
      readonly paused?: Instant
      /** Since when it waits for a call of the client for which the agent stands; `unsent` is set as well. */
      readonly outside?: Instant
      readonly room?: number
      readonly emptied?: true
      readonly note?: JsonObject
      /** Set while attempts of this completion have not reached the model. */
      readonly outage?: Outage
    }
  /** A failed completion is retried at `until`. */
  | {
      readonly at: 'backing_off'
      readonly turn: number
      readonly attempt: number
      readonly lost?: number
      readonly until: Instant
      readonly room?: number
      readonly emptied?: true
      readonly note?: JsonObject
      readonly outage?: Outage
    }
  | { readonly at: 'calling'; readonly turn: number; readonly calls: readonly ToolCall[] }
  /** A limit was reached and an operator is asked; `then` is the state in which the run continues. */
  | { readonly at: 'held'; readonly task: TaskId; readonly limit: LimitName; readonly then: RunState }
  /** An operator reviews an invalid output. */
  | { readonly at: 'reviewing'; readonly turn: number; readonly task: TaskId }
  | {
      readonly at: 'done'
      readonly outcome: 'completed' | 'failed' | 'cancelled'
      readonly output: JsonValue
      readonly error?: string
      readonly errorCode?: ErrorCode
      /** Who cancelled the run, as `approverOf` names them; absent where it ended with its parent. */
      readonly cancelledBy?: string
      /** Where an uncompleted run stopped; a resumption starts here. Absent if it ended under an older version of svc. */
      readonly from?: RunState
    }

/** The use of a run's limits, and the grants of operators. */
export interface RunUsage {
  /** Tokens of this run alone. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Cost of the completions of this run alone; absent if nothing was billed. */
  readonly cost?: CostSum
  /** Completions that called tools. */
  readonly iterations: number
  /** Milliseconds spent waiting for people, and since when it waits now. */
  readonly waitedMs: number
  readonly waitingSince: Instant | null
  /** Milliseconds that use no budget: waiting for an operator to decide on a limit, and held by a restore. Absent = none. */
  readonly heldMs?: number
  /** Up to when `heldMs` counts the hold of a restore. */
  readonly holdCountedTo?: Instant
  /** True while the wait since `waitingSince` uses no budget. */
  readonly onLimit?: true
  /** How many times each limit was granted again. */
  readonly grants: Readonly<Partial<Record<LimitName, number>>>
  /** How often an output was sent back as invalid. */
  readonly outputAttempts: number
  /** How often the run was resumed after it had ended. Absent = never. */
  readonly resumes?: number
  /** True once a result of untrusted content was read. */
  readonly tainted: boolean
  /** Messages that the next completion takes up. */
  readonly steering?: readonly SteeringMessage[]
  /** Reports from outside that have ended a call: the digest of each by that of its token. */
  readonly reports?: Readonly<Record<string, Digest>>
  /** Times each `tool + arguments` was denied or rejected, by digest. */
  readonly refusals: Readonly<Record<string, number>>
  /** The trace to which the request that started the run belongs; absent where the run begins a trace of its own. */
  readonly trace?: TraceContext
}

/** Usage of a new run. */
export const NOTHING_USED: RunUsage = {
  inputTokens: 0,
  outputTokens: 0,
  iterations: 0,
  waitedMs: 0,
  waitingSince: null,
  grants: {},
  outputAttempts: 0,
  tainted: false,
  refusals: {},
}

/** The earlier run that a run repeats, from the start or from a step on; or the call that it undoes. */
export type RunOrigin = RepeatedRun | UndoneCall

export interface RepeatedRun {
  readonly kind: 'retry' | 'fork'
  readonly runId: RunId
  readonly sessionId: SessionId
  /** Of a fork: ordinal of the last step that it took over. */
  readonly step?: number
}

/** The call that a run undoes, and who requested it. */
export interface UndoneCall {
  readonly kind: 'undo'
  /** The run that made the call. */
  readonly runId: RunId
  readonly callId: string
  /** Logical id of the tool that was called. */
  readonly tool: string
  /** As `approverOf` names them. */
  readonly by: string
  readonly reason: string | null
  /** The first undoing run of the same request. */
  readonly first: RunId
  /** Only in the first run: all calls to undo, in order. */
  readonly calls?: readonly CallReference[]
}

export interface CallReference {
  readonly runId: RunId
  readonly callId: string
}

/** The call that a run undoes; undefined for any other run. */
export const undoneCallOf = ({ origin }: Pick<Run, 'origin'>): UndoneCall | undefined =>
  origin?.kind === 'undo' ? origin : undefined

/** The call that a run undoes, as a step or a task names it. */
export const undoneAsJson = ({ runId, callId, tool, by, reason }: UndoneCall): JsonObject => ({
  run_id: runId,
  tool_call_id: callId,
  tool,
  asked_by: by,
  reason,
})

/** As the status of a run names its origin. Source: docs/design/steering.md#retry */
export const originFields = ({ origin }: Pick<Run, 'origin'>): OriginFields => {
  if (!origin) return {}
  if (origin.kind === 'undo') return { undoOf: origin.runId, undoneCall: origin.callId }
  const { kind, runId, step } = origin
  return kind === 'retry' ? { retryOf: runId } : { forkOf: runId, ...(step !== undefined && { forkStep: step }) }
}

/** The origin of a run as its views name it. */
export interface OriginFields {
  readonly retryOf?: string
  readonly forkOf?: string
  readonly forkStep?: number
  readonly undoOf?: string
  readonly undoneCall?: string
}

export interface Run {
  readonly id: RunId
  readonly sessionId: SessionId
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly agentName: string
  readonly agentVersionId: VersionId
  readonly versionLabel: string
  readonly llmModel: string | null
  readonly parentRunId: RunId | null
  /** The parent's call that this run answers. */
  readonly parentCallId: string | null
  /** 0 for the root. */
  readonly depth: number
  readonly input: JsonObject
  readonly state: RunState
  readonly status: RunStatusName
  readonly usage: RunUsage
  /** Number of the run's last step. */
  readonly lastSequence: number
  readonly output: JsonValue
  readonly error: string | null
  readonly errorCode: ErrorCode | null
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
  /**
   * Of a root run that continues a session, and of a run that undoes a call; the first root run was started by whoever started the
   * session.
   */
  readonly starter?: RunStarter
  /** Of a root run that repeats another one, and of a run that undoes a call: that one is the child of the run that made the call. */
  readonly origin?: RunOrigin
}
