/**
 * What the engine and the server ask of a store. Every method takes a value, is one transaction and returns a value; no
 * callback crosses this interface. A promise resolves only after the transaction is durable.
 *
 * A session (one execution tree) is the unit of writing: a writer names the version it read, and the slower of two writers
 * is refused whole.
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
import type { Run } from '../spec/run.ts'
import type { Session } from '../spec/session.ts'
import type { PublishedDocument, AgentSnapshot } from '../spec/snapshot.ts'
import type { RunStep } from '../spec/step.ts'
import type { TaskKind, TaskRecord } from '../spec/task.ts'

/** A session with all that is needed to move it: its runs and the tasks that are pending. */
export interface SessionTree {
  readonly session: Session
  readonly runs: readonly Run[]
  readonly tasks: readonly TaskRecord[]
}

export type TimerKind = 'task_timeout' | 'retry' | 'wall_clock' | 'hitl_wait'

/** Something that happens to a session at a time, unless it is cleared before. One per (session, run, kind, ref). */
export interface SessionTimer {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly kind: TimerKind
  /** What it concerns: a task or call id; empty for the run itself. */
  readonly ref: string
  readonly at: Instant
}
export type TimerKey = Omit<SessionTimer, 'at'>

/** A row per call of a tool or agent: what history conditions count and what an audit reads. Replaced whole by its key. */
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
  /** When it last moved on: a call that waited for a person is in a window by when it was done. */
  readonly at: Instant
}

/** How a step of an earlier turn ended. */
export interface StepEnd {
  readonly id: StepId
  readonly ordinal: number
  readonly finishedAt: Instant
  readonly error: string | null
}

/**
 * An event as a turn says it: in full or, where it shows a step as it is kept, with the step's `ordinal`. Such an event is
 * read in full again; its words are written once.
 */
export type TurnEvent = StoredEvent | (Omit<StoredEvent, 'data'> & { readonly ordinal: number })

/** All that one move of a session changes. */
export interface SessionUpdate {
  /** The session after the move; `version` is the one that was read, the store adds one. */
  readonly session: Session
  /** Runs that are new or changed. */
  readonly runs: readonly Run[]
  readonly steps: readonly RunStep[]
  /** Steps of earlier turns that ended. */
  readonly closedSteps: readonly StepEnd[]
  /** Tasks that are new or changed. Votes they carry are kept as rows. */
  readonly tasks: readonly TaskRecord[]
  readonly calls: readonly CallRow[]
  /** Numbered by the writer: `session.lastSeq` is the number of the last one here. */
  readonly events: readonly TurnEvent[]
  readonly setTimers: readonly SessionTimer[]
  readonly clearTimers: readonly TimerKey[]
  /** True while the session has work in flight; recovery reads these. A session that only waits costs rows. */
  readonly busy: boolean
}

export interface StartLimits {
  readonly ratePerMinute: number | null
  readonly ratePerDay: number | null
  readonly maxConcurrentRuns: number | null
  readonly planRunsPerDay: number | null
  readonly planTokensPerDay: number | null
}

export interface IdempotencyClaim {
  /** `approverOf` of the principal. */
  readonly principal: string
  readonly route: string
  readonly key: string
  readonly bodyDigest: Digest
  /** What a replay is answered with. */
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
  | { readonly outcome: 'plan_limited'; readonly limit: string; readonly value: number }

export interface AgentVersion {
  readonly id: VersionId
  readonly agentId: AgentId
  readonly workspaceId: WorkspaceId
  readonly snapshot: AgentSnapshot
  readonly closureDigest: Digest
  readonly publishedAt: Instant
  readonly publishedBy: string
  readonly yanked: boolean
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

/** One line per member of a publication. `already` = the same digest was there before. */
export interface StoredMember {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
  readonly digest: Digest
  readonly already: boolean
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
  /** Decided ones too. */
  readonly all?: boolean
}

export interface Store {
  // Sessions
  /** T1: limits counted, idempotency claimed, session, run and first events written; nothing of it when refused. */
  start(turn: SessionUpdate, limits: StartLimits, idempotency?: IdempotencyClaim): Promise<StartOutcome>
  /** The outcome of an earlier start with this key, if it is known and not expired. */
  replay(
    principal: string,
    route: string,
    key: string,
    bodyDigest: Digest,
    now: Instant,
  ): Promise<StartOutcome | undefined>
  load(sessionId: SessionId): Promise<SessionTree | undefined>
  /**
   * @throws Failure `run_moved_on` when the session was saved since `turn.session.version` was read, `state_not_saved` when the
   *   content is refused and would be every time; nothing is kept then
   */
  save(turn: SessionUpdate): Promise<void>
  /** Sessions that have work in flight and are not held, oldest first: what a restart continues. */
  busySessions(): Promise<readonly SessionId[]>

  session(id: SessionId): Promise<Session | undefined>
  sessions(
    filter: SessionFilter,
    page: PageRange,
  ): Promise<{ readonly items: readonly Session[]; readonly total: number }>
  /** Sessions whose id ends with these hexadecimal digits (dashes left out), at most `limit`. */
  sessionsEndingWith(workspaceId: WorkspaceId, ending: string, limit: number): Promise<readonly Session[]>
  run(id: RunId): Promise<Run | undefined>
  runs(filter: RunFilter, page: PageRange): Promise<{ readonly items: readonly Run[]; readonly total: number }>
  runsOf(sessionId: SessionId): Promise<readonly Run[]>
  /** Runs whose id ends with these hexadecimal digits (dashes left out), at most `limit`. */
  runsEndingWith(workspaceId: WorkspaceId, ending: string, limit: number): Promise<readonly Run[]>
  /** Steps of a run in order, for the model's transcript. */
  stepsOfRun(runId: RunId): Promise<readonly RunStep[]>
  /** All steps of a session by `ordinal`. */
  stepsOfSession(sessionId: SessionId): Promise<readonly RunStep[]>
  /** Steps of a session after the ordinal `after`, in order, at most `limit`. */
  stepsAfter(sessionId: SessionId, after: number, limit: number): Promise<readonly RunStep[]>
  /** Calls of a session, or of all sessions of an agent since an instant, for history conditions and backtests. */
  calls(filter: {
    readonly sessionId?: SessionId
    readonly agentId?: AgentId
    readonly since?: Instant
  }): Promise<readonly CallRow[]>

  task(id: TaskId): Promise<TaskRecord | undefined>
  tasks(filter: TaskFilter, page: PageRange): Promise<{ readonly items: readonly TaskRecord[]; readonly total: number }>
  tasksOfSession(sessionId: SessionId): Promise<readonly TaskRecord[]>
  tasksEndingWith(workspaceId: WorkspaceId, ending: string, limit: number): Promise<readonly TaskRecord[]>

  /** Events after `after`, in order, at most `limit`. */
  events(sessionId: SessionId, after: number, limit: number): Promise<readonly StoredEvent[]>

  /** Timers due at `now` of sessions that are not held, earliest first. Firing is a `save` that clears them. */
  dueTimers(now: Instant, limit: number): Promise<readonly SessionTimer[]>
  nextTimerAt(): Promise<Instant | undefined>

  // Versions
  /** @throws Failure `version_exists` when a member is published with another digest; nothing is kept then */
  publish(publication: VersionPublication): Promise<readonly StoredMember[]>
  version(id: VersionId): Promise<AgentVersion | undefined>
  versionByDigest(workspaceId: WorkspaceId, digest: Digest): Promise<AgentVersion | undefined>
  versions(agentId: AgentId): Promise<readonly AgentVersion[]>
  /** What was deployed, the latest first, each version once. */
  deployedVersions(agentId: AgentId): Promise<readonly VersionId[]>
  documents(workspaceId: WorkspaceId, kind: 'Tool' | 'Policy', id: string): Promise<readonly PublishedDocument[]>
  /** Makes a version the active one of its agent. @throws Failure `not_found` */
  deploy(agentId: AgentId, versionId: VersionId, at: Instant, by: string): Promise<{ readonly from: VersionId | null }>
  agent(id: AgentId): Promise<AgentRow | undefined>
  agents(workspaceId: WorkspaceId): Promise<readonly AgentRow[]>
  /** @throws Failure `not_found` */
  setYanked(versionId: VersionId, yanked: boolean): Promise<void>
  /** The same for a Tool or Policy document. @throws Failure `not_found` */
  setDocumentYanked(
    workspaceId: WorkspaceId,
    document: Pick<PublishedDocument, 'kind' | 'id' | 'version'>,
    yanked: boolean,
  ): Promise<void>

  // Keys and triggers
  createTrigger(trigger: Trigger): Promise<void>
  updateTrigger(trigger: Trigger): Promise<void>
  deleteTrigger(id: TriggerId): Promise<void>
  trigger(id: TriggerId): Promise<Trigger | undefined>
  triggers(workspaceId: WorkspaceId, agentId?: AgentId): Promise<readonly Trigger[]>
  /** Up to when the ticks of each schedule trigger were looked at; those that never were are absent. */
  ticks(workspaceId: WorkspaceId): Promise<ReadonlyMap<TriggerId, Instant>>
  /** @param marks null forgets */
  markTicks(marks: ReadonlyMap<TriggerId, Instant | null>): Promise<void>
  createKey(key: ApiKey): Promise<void>
  /** @param hash SHA-256 of the secret, hexadecimal */
  keyByHash(hash: string): Promise<ApiKey | undefined>
  keys(workspaceId: WorkspaceId): Promise<readonly ApiKey[]>
  revokeKey(id: KeyId, at: Instant): Promise<void>
  /** Remembers a use; may be delayed and coalesced, as nothing depends on it. */
  touchKey(id: KeyId, at: Instant): void
  createOperatorKey(key: OperatorKey): Promise<void>
  /** @param hash SHA-256 of the secret, hexadecimal */
  operatorKeyByHash(hash: string): Promise<OperatorKey | undefined>
  operatorKeys(workspaceId: WorkspaceId): Promise<readonly OperatorKey[]>
  /** Keeps the first moment when revoked twice. @throws Failure `not_found` */
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
  /** Files whose address expired before `now`, and whose upload is not closed: what a sweep cleans up after. */
  expiredUploads(now: Instant, limit: number): Promise<readonly StoredFile[]>
  /** Nothing lies at the staging key of a finalized file any more, and nothing can come. */
  closeUpload(id: FileId): Promise<void>
  deleteFile(id: FileId): Promise<void>

  // What came from a backup
  /** Since when a session or trigger from a backup is held; undefined = it is not. */
  restoredAt(id: SessionId | TriggerId): Promise<Instant | undefined>
  /** Open sessions, oldest first, and triggers that are held. */
  restored(
    workspaceId: WorkspaceId,
  ): Promise<{ readonly sessions: readonly SessionId[]; readonly triggers: readonly TriggerId[] }>
  /** They are held no longer; what is not held stays as it is. */
  releaseRestored(sessions: readonly SessionId[], triggers: readonly TriggerId[]): Promise<void>

  /** Writes all that is committed to a new file, while others go on reading and writing. */
  backup(path: string): Promise<void>
  /** Forgets every session with its runs, timeline, tasks and events. What is published, triggers, keys and files stay. */
  forgetRuns(): Promise<void>
  /** Everything written so far is durable and the file is closed. Pending saves finish first. */
  close(): Promise<void>
}
