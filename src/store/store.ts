/**
 * The persistence interface of the engine and the server. Every method takes a value, runs one transaction and returns a
 * value; no callback crosses this interface. A promise resolves only after the transaction is durable.
 *
 * A session (one execution tree) is the unit of writing. A writer names the version it read; of two concurrent writers the
 * slower one is refused, and nothing of its update is stored.
 */
import type { Instant } from '../base/clock.ts'
import type { Digest } from '../base/digest.ts'
import type {
  AgentId,
  FileId,
  KeyId,
  RunId,
  SessionId,
  StepId,
  TaskId,
  TriggerId,
  VersionId,
  WorkspaceId,
} from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { StoredEvent } from '../spec/event.ts'
import type { StoredFile } from '../spec/file.ts'
import type { ApiKey, OperatorKey, Trigger } from '../spec/key.ts'
import type { CostSum, Money } from '../spec/price.ts'
import type { Run } from '../spec/run.ts'
import type { Session } from '../spec/session.ts'
import type { PublishedDocument, AgentSnapshot } from '../spec/snapshot.ts'
import type { CompletionUsage, RunStep, StepType } from '../spec/step.ts'
import type { TaskKind, TaskRecord, TaskStatus } from '../spec/task.ts'

/** A session with everything needed to advance it: its runs and its pending tasks. */
export interface SessionTree {
  readonly session: Session
  readonly runs: readonly Run[]
  readonly tasks: readonly TaskRecord[]
}

export type TimerKind = 'task_timeout' | 'retry' | 'wall_clock' | 'hitl_wait'

/** A timer that fires at an instant unless it is cleared first. At most one per (session, run, kind, ref). */
export interface SessionTimer {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly kind: TimerKind
  /** Id of the task or call that the timer belongs to; empty for the run itself. */
  readonly ref: string
  readonly at: Instant
}
export type TimerKey = Omit<SessionTimer, 'at'>

/** One call of a tool or agent, for history conditions and audits. Writing the same key replaces the whole row. */
export interface CallRow {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly callId: string
  readonly agentId: AgentId
  /** Logical id of the tool or agent. */
  readonly ref: string
  readonly argumentsDigest: Digest
  readonly arguments: JsonValue
  readonly state: string
  readonly attempt: number
  readonly idempotencyKey: string
  /** Time of the last state change. A call that waited for a person thus counts in the time window in which it was done. */
  readonly at: Instant
}

/** The end of a step that an earlier update stored. */
export interface StepEnd {
  readonly id: StepId
  readonly ordinal: number
  readonly finishedAt: Instant
  readonly error: string | null
}

/**
 * An event of an update: in full, or with only the `ordinal` of a step when its data is that step as stored. The store
 * rebuilds the data from the step on reading, so that the content is written once.
 */
export type SessionUpdateEvent = StoredEvent | (Omit<StoredEvent, 'data'> & { readonly ordinal: number })

/** What one completion used. `cost` is null where the price is not known, and absent where nobody bills the model. */
export interface CompletionSpend {
  readonly runId: RunId
  readonly provider: string
  readonly model: string
  readonly usage: CompletionUsage
  readonly cost?: Money | null
}

/** Everything that one save of a session writes. */
export interface SessionUpdate {
  /** The session after the update; `version` is the one that was read, the store adds one. */
  readonly session: Session
  /** New and changed runs. */
  readonly runs: readonly Run[]
  readonly steps: readonly RunStep[]
  /** Ends of steps that earlier updates stored. */
  readonly closedSteps: readonly StepEnd[]
  /** New and changed tasks. Their votes are stored as separate rows. */
  readonly tasks: readonly TaskRecord[]
  readonly calls: readonly CallRow[]
  /** Numbered by the writer without gaps; `session.lastSeq` is the number of the last one. */
  readonly events: readonly SessionUpdateEvent[]
  readonly setTimers: readonly SessionTimer[]
  readonly clearTimers: readonly TimerKey[]
  /** Completions that this update records, for the sums of the day. */
  readonly spends: readonly CompletionSpend[]
  /** Answers to be remembered by their idempotency key, from the moment at which they take effect. */
  readonly claims?: readonly IdempotencyClaim[]
  /** True while the session has work in flight; a restart recovers these. A waiting session only occupies rows. */
  readonly busy: boolean
}

export interface StartLimits {
  readonly ratePerMinute: number | null
  readonly ratePerDay: number | null
  readonly maxConcurrentRuns: number | null
  readonly planRunsPerDay: number | null
  readonly planTokensPerDay: number | null
  readonly planCostPerDay: Money | null
}

export interface IdempotencyClaim {
  /** `approverOf` of the principal. */
  readonly principal: string
  readonly route: string
  readonly key: string
  readonly bodyDigest: Digest
  /** Response returned to a repeated request. */
  readonly response: JsonObject
  readonly expiresAt: Instant
}

export type StartOutcome =
  | { readonly outcome: 'started' }
  | { readonly outcome: 'replayed'; readonly response: JsonObject }
  | { readonly outcome: 'key_reused' }
  /** `retryAfterSeconds` until the next start would be accepted, at least 1. */
  | { readonly outcome: 'rate_limited'; readonly limit: string; readonly retryAfterSeconds: number }
  | { readonly outcome: 'concurrency_limited'; readonly limit: number }
  | { readonly outcome: 'plan_limited'; readonly limit: string; readonly value: number | string }

/** What became of the earlier request of an idempotency key. */
export type RepeatedRequest = Extract<StartOutcome, { outcome: 'replayed' | 'key_reused' }>

export interface AgentVersion {
  readonly id: VersionId
  readonly agentId: AgentId
  readonly workspaceId: WorkspaceId
  readonly snapshot: AgentSnapshot
  readonly closureDigest: Digest
  readonly publishedAt: Instant
  readonly publishedBy: string
  readonly yanked: boolean
  /** In the words of who yanked it; absent where nobody said. */
  readonly yankReason?: string
}

export interface AgentRow {
  readonly id: AgentId
  readonly workspaceId: WorkspaceId
  /** `namespace.name`. */
  readonly name: string
  readonly deployedVersionId: VersionId | null
  readonly previousVersionId: VersionId | null
}

export interface VersionPublication {
  readonly workspaceId: WorkspaceId
  readonly agents: readonly {
    readonly id: VersionId
    readonly agentId: AgentId
    readonly snapshot: AgentSnapshot
    readonly closureDigest: Digest
  }[]
  readonly documents: readonly PublishedDocument[]
  readonly at: Instant
  readonly by: string
}

/** One published document. `already`: this version was published before with the same digest. */
export interface StoredMember {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
  readonly digest: Digest
  readonly already: boolean
}

/** Sums of one day, agent, model and currency. */
export interface CostRow {
  /** UTC, `2026-11-23`. */
  readonly day: string
  readonly agent: string
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

/** What is known of a step without reading it. */
export interface StepSize {
  readonly ordinal: number
  readonly type: StepType
  /** Of its content, as JSON. */
  readonly bytes: number
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
  /** Earliest start. */
  readonly from?: Instant
  /** Sessions that started before it. */
  readonly to?: Instant
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
  readonly sessionId?: SessionId
}

export interface TaskFilter {
  readonly workspaceId: WorkspaceId
  readonly agentId?: AgentId
  readonly kinds?: readonly TaskKind[]
  /** Includes decided tasks. */
  readonly all?: boolean
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

export interface Store {
  // Sessions
  /** T1: counts the limits, claims the idempotency key, writes session, run and first events. Writes nothing when refused. */
  start(update: SessionUpdate, limits: StartLimits, idempotency?: IdempotencyClaim): Promise<StartOutcome>
  /** Outcome of an earlier start, or answer, with this idempotency key, unless it expired. */
  findEarlierStart(
    principal: string,
    route: string,
    key: string,
    bodyDigest: Digest,
    now: Instant,
  ): Promise<RepeatedRequest | undefined>
  load(sessionId: SessionId): Promise<SessionTree | undefined>
  /**
   * Stores all of the update, or nothing when it throws.
   * @throws Failure `run_moved_on` when the session was saved since `update.session.version` was read, `state_not_saved` when
   *   the database refuses the content, so that a retry would fail too
   */
  save(update: SessionUpdate): Promise<void>
  /** Sessions with work in flight that are not held, oldest first. A restart continues them. */
  busySessions(): Promise<readonly SessionId[]>

  session(id: SessionId): Promise<Session | undefined>
  /** Newest start first. `next` is where the next page begins; null at the end. */
  sessions(
    filter: SessionFilter,
    page: SessionPage,
  ): Promise<{
    readonly items: readonly ListedSession[]
    readonly total: number
    readonly next: SessionPosition | null
  }>
  /** JSON text of a session's input or output; undefined where there is none. */
  sessionValue(id: SessionId, name: 'input' | 'output'): Promise<string | undefined>
  /** Sessions whose id, without dashes, ends with these hexadecimal digits; at most `limit`. */
  sessionsEndingWith(workspaceId: WorkspaceId, ending: string, limit: number): Promise<readonly Session[]>
  run(id: RunId): Promise<Run | undefined>
  runs(filter: RunFilter, page: PageRange): Promise<{ readonly items: readonly Run[]; readonly total: number }>
  runsOfSession(sessionId: SessionId): Promise<readonly Run[]>
  /** Runs whose id, without dashes, ends with these hexadecimal digits; at most `limit`. */
  runsEndingWith(workspaceId: WorkspaceId, ending: string, limit: number): Promise<readonly Run[]>
  /** Steps of a run in order, for the model's transcript. */
  stepsOfRun(runId: RunId): Promise<readonly RunStep[]>
  /** All steps of a session by `ordinal`. */
  stepsOfSession(sessionId: SessionId): Promise<readonly RunStep[]>
  /** Steps of a session after the ordinal `after`, in order, at most `limit`. */
  stepsAfter(sessionId: SessionId, after: number, limit: number): Promise<readonly RunStep[]>
  /** Sizes of the steps after the ordinal `after`, in order, at most `limit`; reads none of their content. */
  stepSizes(sessionId: SessionId, after: number, limit: number): Promise<readonly StepSize[]>
  /** Calls for history conditions and backtests, filtered by session, agent and earliest instant. */
  calls(filter: {
    readonly sessionId?: SessionId
    readonly agentId?: AgentId
    readonly since?: Instant
  }): Promise<readonly CallRow[]>

  /** Kept sums of the days from one instant to another, both included, oldest first; at most `limit`. */
  costs(workspaceId: WorkspaceId, from: Instant, to: Instant, limit: number): Promise<readonly CostRow[]>

  task(id: TaskId): Promise<TaskRecord | undefined>
  tasks(filter: TaskFilter, page: PageRange): Promise<{ readonly items: readonly TaskRecord[]; readonly total: number }>
  /**
   * Newest first. A page ends early, but not before its first task, where the next would make it larger than `maxBytes`.
   * `next` is the `before` of the next page; null at the end.
   */
  tasksInScope(
    scope: TaskScope,
    page: TaskPage,
    maxBytes: number,
  ): Promise<{ readonly items: readonly TaskInSession[]; readonly next: number | null }>
  pendingTasks(sessionId: SessionId): Promise<readonly TaskRecord[]>
  tasksOfSession(sessionId: SessionId): Promise<readonly TaskRecord[]>
  tasksEndingWith(workspaceId: WorkspaceId, ending: string, limit: number): Promise<readonly TaskRecord[]>

  /** Events after `after`, in order, at most `limit`. */
  events(sessionId: SessionId, after: number, limit: number): Promise<readonly StoredEvent[]>

  /** Timers due at `now` of sessions that are not held, earliest first. Firing is a `save` that clears them. */
  dueTimers(now: Instant, limit: number): Promise<readonly SessionTimer[]>
  nextTimerAt(): Promise<Instant | undefined>

  // Versions
  /** @throws Failure `version_exists` when a member was published before with a different digest; nothing is stored then */
  publish(publication: VersionPublication): Promise<readonly StoredMember[]>
  version(id: VersionId): Promise<AgentVersion | undefined>
  versionByDigest(workspaceId: WorkspaceId, digest: Digest): Promise<AgentVersion | undefined>
  versions(agentId: AgentId): Promise<readonly AgentVersion[]>
  /** Every version that was ever deployed, once each, most recently deployed first. */
  deployedVersions(agentId: AgentId): Promise<readonly VersionId[]>
  documents(workspaceId: WorkspaceId, kind: 'Tool' | 'Policy', id: string): Promise<readonly PublishedDocument[]>
  /** Makes a version the active one of its agent. @throws Failure `not_found` */
  deploy(agentId: AgentId, versionId: VersionId, at: Instant, by: string): Promise<{ readonly from: VersionId | null }>
  agent(id: AgentId): Promise<AgentRow | undefined>
  agents(workspaceId: WorkspaceId): Promise<readonly AgentRow[]>
  /**
   * Yanks a version, or takes that back together with its reason. Yanking again without a reason keeps the one there is.
   * @throws Failure `not_found`
   */
  setYanked(versionId: VersionId, yanked: boolean, reason?: string): Promise<void>
  /** Like `setYanked`, for a Tool or Policy document. @throws Failure `not_found` */
  setDocumentYanked(
    workspaceId: WorkspaceId,
    document: Pick<PublishedDocument, 'kind' | 'id' | 'version'>,
    yanked: boolean,
    reason?: string,
  ): Promise<void>

  // Keys and triggers
  createTrigger(trigger: Trigger): Promise<void>
  updateTrigger(trigger: Trigger): Promise<void>
  deleteTrigger(id: TriggerId): Promise<void>
  trigger(id: TriggerId): Promise<Trigger | undefined>
  triggers(workspaceId: WorkspaceId, agentId?: AgentId): Promise<readonly Trigger[]>
  /** The instant up to which each schedule trigger was processed; triggers never processed are absent. */
  ticks(workspaceId: WorkspaceId): Promise<ReadonlyMap<TriggerId, Instant>>
  /** @param marks null removes the mark of a trigger */
  markTicks(marks: ReadonlyMap<TriggerId, Instant | null>): Promise<void>
  createKey(key: ApiKey): Promise<void>
  /** @param hash SHA-256 of the secret, hexadecimal */
  keyByHash(hash: string): Promise<ApiKey | undefined>
  keys(workspaceId: WorkspaceId): Promise<readonly ApiKey[]>
  revokeKey(id: KeyId, at: Instant): Promise<void>
  /** Records the last use of a key. The write may be delayed and coalesced, because nothing depends on it. */
  touchKey(id: KeyId, at: Instant): void
  createOperatorKey(key: OperatorKey): Promise<void>
  /** @param hash SHA-256 of the secret, hexadecimal */
  operatorKeyByHash(hash: string): Promise<OperatorKey | undefined>
  operatorKeys(workspaceId: WorkspaceId): Promise<readonly OperatorKey[]>
  /** A second revocation keeps the instant of the first. @throws Failure `not_found` */
  revokeOperatorKey(id: KeyId, at: Instant): Promise<void>
  touchOperatorKey(id: KeyId, at: Instant): Promise<void>

  // Files
  /** T13. @throws Failure `storage_limit_exceeded` when pending and stored bytes with this file would exceed `quota` */
  presignFile(file: StoredFile, quota: number | null): Promise<void>
  /** T14. Idempotent. */
  finalizeFile(id: FileId, sizeBytes: number, at: Instant): Promise<void>
  fileByKey(workspaceId: WorkspaceId, objectKey: string): Promise<StoredFile | undefined>
  /** A finalized file by its leaf name. */
  fileByName(workspaceId: WorkspaceId, filename: string): Promise<StoredFile | undefined>
  files(
    workspaceId: WorkspaceId,
    page: PageRange,
  ): Promise<{ readonly items: readonly StoredFile[]; readonly total: number }>
  /** Files whose presigned address expired before `now` and whose upload is not closed: a sweep cleans up after them. */
  expiredUploads(now: Instant, limit: number): Promise<readonly StoredFile[]>
  /** Records that the staging key of a file is empty and can receive no more bytes. */
  closeUpload(id: FileId): Promise<void>
  deleteFile(id: FileId): Promise<void>

  // Sessions and triggers that a restored backup holds until an operator releases them
  /** Since when a session or trigger is held; undefined when it is not. */
  restoredAt(id: SessionId | TriggerId): Promise<Instant | undefined>
  /** Held sessions that are still open, oldest first, and held triggers. */
  restored(
    workspaceId: WorkspaceId,
  ): Promise<{ readonly sessions: readonly SessionId[]; readonly triggers: readonly TriggerId[] }>
  /** Releases these; ids that are not held are ignored. */
  releaseRestored(sessions: readonly SessionId[], triggers: readonly TriggerId[]): Promise<void>

  /** Writes everything committed to a new file; reads and writes continue meanwhile. */
  backup(path: string): Promise<void>
  /** Deletes every session with its runs, timeline, tasks and events. Publications, triggers, keys and files stay. */
  deleteAllRuns(): Promise<void>
  /** Finishes pending writes, makes them durable and closes the file. */
  close(): Promise<void>
}
