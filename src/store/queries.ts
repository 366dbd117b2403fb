/** Filters and pages of lists, and rows that exist only in lists. */
import type { Instant } from '../base/clock.ts'
import type { Digest } from '../base/digest.ts'
import type { AgentId, RunId, SessionId, StepId, TriggerId, WorkspaceId } from '../base/ids.ts'
import type { EffectRecord } from '../spec/effect.ts'
import type { ApiKey, Trigger } from '../spec/people/key.ts'
import type { RunOrder } from '../operations/runs.ts'
import type { CostSum } from '../spec/price.ts'
import type { RunStatusName } from '../spec/run/run.ts'
import type { Session } from '../spec/run/session.ts'
import type { StepType } from '../spec/step.ts'
import type { TaskKind, TaskRecord, TaskStatus } from '../spec/task.ts'

/** A key with the data that authorizes its requests. */
export interface KeyWithTrigger {
  readonly key: ApiKey
  /** Undefined once it was deleted. */
  readonly trigger: Trigger | undefined
  /** Since when a restored backup holds the trigger; undefined when it does not. */
  readonly triggerHeldAt: Instant | undefined
}

/** Effects that are known from outside to have happened: nobody can say which run made them. */
export interface KnownEffects {
  readonly at: Instant
  /** Who says so, as approvers are named. */
  readonly by: string
  /** Ids that no session and no run has. */
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly keys: readonly Pick<EffectRecord, 'id' | 'key' | 'shown'>[]
}

/** The agent of effects that no run of this store made. */
export const OUTSIDE_AGENT = 'outside'

/** The release of everything that a restore holds. */
export interface WholeRelease {
  readonly at: Instant
  /** Until when calls that may have been made after the backup ask a person. */
  readonly asksUntil: Instant
}

/** Sums of one day, agent, version, model and currency. */
export interface CostRow {
  /** UTC, `2026-11-23`. */
  readonly day: string
  readonly agent: string
  /** Label; empty for sums from before it was kept. */
  readonly version: string
  readonly provider: string
  readonly model: string
  readonly completions: number
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly cost: CostSum
}

/** The size of a step, known without reading it. */
export interface StepSize {
  readonly ordinal: number
  readonly type: StepType
  /** Bytes of its content as JSON. */
  readonly bytes: number
}

/** A recorded policy decision, by its step. */
export interface DecisionMark {
  readonly ordinal: number
  readonly decisionId: StepId
  readonly runId: RunId
  readonly callId: string
}

/** Calls that took an effect key. */
export interface EffectFilter {
  readonly workspaceId: WorkspaceId
  readonly key?: string
  readonly sessionId?: SessionId
  /** By calls of these runs; with `sessionId`. */
  readonly runIds?: readonly RunId[]
  /** Only those that hold their key, or only those that do not. */
  readonly holds?: boolean
  /** Earliest dispatch. */
  readonly from?: Instant
}

export interface PageRange {
  readonly skip: number
  readonly take: number
}

export interface SessionFilter {
  readonly workspaceId: WorkspaceId
  readonly agentId?: AgentId
  readonly versionId?: string
  readonly status?: readonly string[]
  /** Needs `agentId`. */
  readonly tag?: string
  /** Only sessions of these triggers, null for those that no trigger started; all where absent. */
  readonly triggers?: readonly (TriggerId | null)[]
  /** Earliest start. */
  readonly from?: Instant
  /** Sessions that started before it. */
  readonly to?: Instant
}

/** Sessions of which an export has the chains. */
export interface ChainFilter {
  readonly workspaceId: WorkspaceId
  readonly agentId?: AgentId
  /** Who started it or voted on a task of it, as votes name approvers. */
  readonly by?: string
  /** Earliest start. */
  readonly from?: Instant
  /** Sessions that started before it. */
  readonly to?: Instant
  /** Only those that come after this one. */
  readonly after?: { readonly startedAt: Instant; readonly session: SessionId }
}

/** Changes of a session's labels; absent members stay. Null removes a title, an empty value metadata or tags. */
export interface SessionLabels {
  readonly title?: string | null
  readonly metadata?: Readonly<Record<string, string>>
  readonly tags?: readonly string[]
  readonly legalHold?: boolean
}

/** Place of a session in the list: pages that begin after it neither repeat nor skip a session when others are added. */
export interface SessionPosition {
  readonly startedAt: Instant
  /** Row number, which orders sessions of one instant. */
  readonly n: number
}

export interface SessionPage extends PageRange {
  readonly after?: SessionPosition
  /** Larger inputs and outputs, in bytes of JSON, come by size alone; absent = all come whole. */
  readonly wholeBytes?: number
}

/** A value that a list left out. */
export interface LeftOutValue {
  readonly bytes: number
  /** Digest of its JSON text; null where it was stored before digests were. */
  readonly digest: Digest | null
}

/** A session of a list. What was left out is null in it, also in `startContext.userInput`, which repeats the input. */
export interface ListedSession extends Session {
  readonly leftOut?: { readonly input?: LeftOutValue; readonly output?: LeftOutValue }
}

export interface RunFilter {
  readonly workspaceId: WorkspaceId
  readonly agentId?: AgentId
  readonly status?: readonly string[]
  readonly waiting?: boolean
  readonly since?: Instant
  /** Started before this moment. */
  readonly until?: Instant
  /** The largest first, the newest where absent. With one, or with a least value, the newest `MOST_RANKED` runs are compared. */
  readonly sort?: RunOrder
  /** Of a run that has not ended: until `now`. */
  readonly minDurationMs?: number
  readonly minTokens?: number
  /** Amounts of all currencies together, as numbers. */
  readonly minCost?: number
  /** Needed where durations are compared. */
  readonly now?: Instant
  readonly sessionId?: SessionId
  /** Only runs that repeat this one. */
  readonly origin?: RunId
  /** Without sub-agent runs. */
  readonly roots?: boolean
  /** Words that its input has, or its output and error together; each may be the beginning of a word. */
  readonly text?: string
  /** Id of a tool that it called. */
  readonly tool?: string
  /** Effect key that a call of it took, as it is stored. */
  readonly effect?: string
  readonly versionLabel?: string
  /** Name of the trigger that started it, or the type where it has no name; among the newest 20,000 sessions. */
  readonly trigger?: string
  /** Person who started it, among the newest 20,000 sessions, or voted on a task of it; as votes name approvers. */
  readonly person?: string
  /** Person who voted on a task of it, as votes name approvers. */
  readonly approver?: string
  /** One member that the metadata of its session has, among the newest 20,000 sessions. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** Root runs that began in one hour and are in one state. */
export interface RunCount {
  /** Hours after the beginning of the time that was asked for. */
  readonly hour: number
  readonly status: RunStatusName
  readonly errorCode: string | null
  readonly runs: number
}

/** A finished step that tells how long something took, or what was decided. */
export interface StepMark {
  readonly type: 'ToolCall' | 'Reasoning' | 'PolicyDecision'
  /** The tool, `provider/model` or the decision. */
  readonly name: string
  readonly ms: number
  readonly isFailed: boolean
}

export interface TaskFilter {
  readonly workspaceId: WorkspaceId
  readonly agentId?: AgentId
  readonly kinds?: readonly TaskKind[]
  /** Includes decided tasks. */
  readonly all?: boolean
}

/** Tasks of a kind that wait for people. */
export interface OpenTasks {
  readonly kind: TaskKind
  readonly count: number
  /** When the oldest of them was created. */
  readonly oldest: Instant
}

/** Whose tasks: of all sessions of a workspace, or of those of one agent that a trigger or nobody's key started. */
export interface TaskScope {
  readonly workspaceId: WorkspaceId
  readonly own?: { readonly agentId: AgentId; readonly triggerId: TriggerId }
}

export interface TaskPage {
  readonly take: number
  /** All when absent. */
  readonly status?: readonly TaskStatus[]
  /** Row number of the last task of the page before. */
  readonly before?: number
}

export interface TaskInSession {
  readonly task: TaskRecord
  readonly rootRunId: RunId
}
