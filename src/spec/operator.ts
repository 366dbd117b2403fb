/**
 * The operator application's interface: what `publish`, `deploy`, `keys`, `triggers`, `inbox` and the console speak.
 * HTTP over the Unix socket `admin.sock` of the server that holds the data directory, else in process under its lock.
 * One line a route, so that server and command line cannot drift apart; requests are in `schemas/operator-requests.yaml`. Bodies and answers are JSON; failures are `ErrorBody`.
 */
import type { RunHold } from './hold.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import type {
  Conversation,
  MessageAccepted,
  RunStatusBody,
  SessionListItem,
  StartRunResponse,
  TaskContent,
  TimelineItem,
} from './api.ts'
import type { OperatorRequests } from './generated/operator.ts'
import type { CostSum } from './price.ts'
import type { TaskPeople } from './task.ts'
import type { CompiledBundle, PublishedDocument, AgentSnapshot } from './snapshot.ts'

export interface PublishedMember {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
  readonly digest: string
  readonly agentId?: string
  readonly agentVersionId?: string
  readonly already: boolean
}

export interface AgentView {
  readonly agentId: string
  readonly name: string
  readonly deployed: { readonly versionLabel: string; readonly agentVersionId: string } | null
  readonly triggers: readonly string[]
  readonly inputContract?: JsonValue
  readonly tools: readonly string[]
  /** Runs that started since midnight UTC; this and the next two where `usage` was asked for. */
  readonly runsToday?: number
  /** Runs that wait for somebody. */
  readonly waiting?: number
  readonly lastRunAt?: string | null
}

export interface VersionView {
  readonly agentVersionId: string
  readonly versionLabel: string
  readonly digest: string
  readonly publishedAt: string
  readonly publishedBy: string
  readonly deployed: boolean
  readonly yanked: boolean
  /** Absent where nobody gave one. */
  readonly yankReason?: string
}

export interface TriggerView {
  readonly triggerId: string
  readonly agentId: string
  readonly agent: string
  readonly type: 'api' | 'schedule'
  readonly name: string
  readonly active: boolean
  readonly exposeTimeline: boolean
  readonly allowDelete: boolean
  readonly allowIps: readonly string[]
  readonly ratePerMinute: number | null
  readonly ratePerDay: number | null
  readonly maxConcurrentRuns: number | null
  readonly cron: string | null
  readonly timeZone: string | null
  readonly createdAt: string
}

export interface KeyView {
  readonly keyId: string
  readonly agentId: string
  readonly agent: string
  readonly triggerId: string
  readonly trigger: string
  readonly name: string | null
  readonly prefix: string
  readonly allowUploads: boolean
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** A person's credential on this channel. */
export interface OperatorKeyView {
  readonly keyId: string
  readonly email: string
  readonly roles: readonly string[]
  readonly name: string | null
  readonly prefix: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/**
 * Header of a request by a person with a credential. Without it whoever reaches the channel is its local identity; with one
 * that is not valid the request is refused.
 */
export const OPERATOR_KEY_HEADER = 'x-operator-key'

/** `secret` is in the answer to create and nowhere else, ever. */
export type CreatedKey = KeyView & { readonly secret: string }
export type CreatedOperatorKey = OperatorKeyView & { readonly secret: string }

/** A browser that is signed in to the console, or was. */
export interface ConsoleSessionView {
  readonly sessionId: string
  readonly operator: string
  /** The credential that signed in; null for the local identity of the operator channel. */
  readonly keyId: string | null
  readonly browser: string
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly endedAt: string | null
  /** The one that asks. */
  readonly isThis: boolean
}

/** What changed since the last hint: these sessions, and whether anything that belongs to none. */
export interface LiveHint {
  readonly sessions: readonly string[] | 'any'
  readonly workspace: boolean
}

export interface InboxItem {
  readonly userTaskId: string
  readonly kind: string
  readonly runId: string
  readonly sessionId: string
  readonly agent: string
  readonly tool?: string
  readonly args?: JsonValue
  readonly argsDigest?: string
  readonly why: string
  readonly reason: string | null
  readonly options?: readonly { readonly id: string; readonly label: string }[]
  readonly approvals: { readonly have: number; readonly need: number; readonly by: readonly string[] }
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly onTimeout: string | null
  readonly apiCompletable: boolean
  readonly status: string
  /** As in `UserTaskReq.content`, for the card; absent for `reply`. */
  readonly task?: TaskContent
  /** For the card; absent for `reply`. */
  readonly people?: TaskPeople
}

/** What was asked and found with the tool that an author named for looking. */
export interface ProbeView {
  readonly userTaskId: string
  readonly name: string
  readonly arguments: JsonObject
  readonly result: JsonValue
  readonly isError: boolean
}

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

/** The sums of a group; it has what it was grouped by. */
export interface CostView extends CostSums {
  readonly agent?: string
  readonly provider?: string
  readonly model?: string
  /** UTC, `2026-11-23`. */
  readonly day?: string
}

export interface RunView {
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

export interface RunOutline {
  readonly runId: string
  readonly sessionId: string
  /** The run and those below it, each after its parent. */
  readonly runs: readonly OutlineRun[]
  /** In order. */
  readonly rows: readonly OutlineRow[]
  /** Number of the last step that was read: where the next outline goes on. */
  readonly after: number
  readonly hasMore: boolean
}

/** Something that an open run from a backup does once it is released, and may have done before. */
export interface RepeatView {
  /** The run of the tree, and its agent. */
  readonly runId: string
  readonly agent: string
  readonly what: 'completion' | 'call'
  /** Logical id, class and idempotency key of a call. */
  readonly tool?: string
  readonly sideEffectClass?: string | null
  readonly idempotencyKey?: string
  /** `made` by itself, or a person is asked first. */
  readonly onRelease: 'made' | 'asked'
}

export interface RestoredView {
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

/** A session with its runs, the root first, each before those it started. */
export type SessionView = SessionListItem & {
  readonly agent: string
  /** True while it is exempt from erasure and retention. */
  readonly legalHold: boolean
  readonly runs: readonly RunView[]
}

/** A recorded decision with the data to repeat it. */
export interface RecordedDecision {
  readonly decisionId: string
  readonly runId: string
  readonly sessionId: string
  readonly agent: string
  readonly versionLabel: string
  /** Agents above in the run tree, nearest first: their boundaries were inherited. */
  readonly ancestors: readonly { readonly agent: string; readonly versionLabel: string }[]
  readonly toolCallId: string
  /** Wire name. */
  readonly tool: string
  /** Logical id. */
  readonly ref: string
  readonly arguments: JsonValue
  readonly argsDigest: string
  /** What became of the call. */
  readonly state: string
  readonly decision: string
  readonly explanation: string
  readonly policies: readonly JsonValue[]
  readonly recordedAt: string
  /** Roots of conditions but `args`, `history` and `time`: `tool`, `agent`, `run`, `session`, `principal`, `effect`, `svc`. */
  readonly facts: JsonObject
  /** Values of `history` that the decision used, by path and window; null = unknown. */
  readonly history: Readonly<Record<string, number | null>>
}

/** A call that took an effect key. */
export interface EffectView {
  /** As it is kept: beyond 512 bytes a digest. `shown` is the text, shortened. */
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
}

/** What an agent may call, and who decides about it: a row for each policy of each call. */
export interface AuthorityRow {
  readonly tool: string
  readonly wire: string
  readonly kind: 'tool' | 'agent'
  readonly decision: 'allow' | 'deny' | 'require_approval' | 'escalate'
  readonly by: string
  readonly when: string
}

/** What a version does that another did not. */
export interface ChangeView {
  readonly kind: string
  readonly severity: 'major' | 'minor' | 'patch'
  readonly widens: boolean
  readonly agent: string
  readonly tool?: string
  /** A call that the two versions decide differently. */
  readonly witness?: {
    readonly tool: string
    readonly arguments: JsonValue
    readonly context?: JsonObject
    readonly before: string
    readonly after: string
  }
  readonly from: JsonValue
  readonly to: JsonValue
  readonly path: string | null
  readonly say: string
}

export interface OperatorList<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** A run that is not what its agent's documents say: for developers. */
export type RehearsalOptions = NonNullable<Requests['POST /runs']['body']['rehearsal']>

type Requests = OperatorRequests<CompiledBundle>

/**
 * `METHOD path` -> what goes in and what comes out. What goes in is in `schemas/operator-requests.yaml`; a route that is not
 * there takes no query and no body.
 */
export type OperatorRoutes = {
  [R in keyof OperatorAnswers]: (R extends keyof Requests ? Requests[R] : unknown) & {
    readonly answer: OperatorAnswers[R]
  }
}

// prettier-ignore -- one line a route
interface OperatorAnswers {
  'POST /publish': {
    published: PublishedMember[]
    deployed?: { agentId: string; agentVersionId: string; from: string | null }
  }
  'POST /deploy': { agentId: string; from: string | null; to: string; agentVersionId: string; runningOnOld: number }
  'GET /agents': OperatorList<AgentView>
  'GET /versions': OperatorList<VersionView>
  /** Snapshot of a version: `agent` and `version` or the digest; for resolution, differences and `explain`. */
  'GET /snapshot': AgentSnapshot
  /** Of a version, the deployed one where none is named. */
  'GET /matrix': OperatorList<AuthorityRow>
  /** What `to` does that `from` did not, what widens authority first. */
  'GET /difference': { breaking: boolean; widens: boolean; changes: readonly ChangeView[] }
  'GET /documents': OperatorList<PublishedDocument>
  /** A yanked version is never newly chosen; what pins it keeps it. */
  'POST /yank': { kind: 'Agent' | 'Tool' | 'Policy'; id: string; version: string; digest: string; yanked: boolean }
  'POST /triggers': TriggerView
  'PATCH /triggers/:id': TriggerView
  'DELETE /triggers/:id': { triggerId: string }
  'GET /triggers': OperatorList<TriggerView>
  'POST /keys': CreatedKey
  'POST /operator-keys': CreatedOperatorKey
  /** Both kinds, without `agent`. */
  'GET /keys': OperatorList<KeyView | OperatorKeyView>
  'POST /keys/:id/revoke': KeyView | OperatorKeyView
  /** Starts without a key, as the operator. `agent` is an id or `namespace.name`. */
  'POST /runs': StartRunResponse
  'GET /runs': OperatorList<RunView>
  /** All routes of `/v1` answer here, with an operator as principal and never redacted; these two are called by name. */
  'GET /v1/runs/:id': RunStatusBody
  'GET /v1/runs/:id/conversation': Conversation
  /** Steps of the run and those below it, without their content. */
  'GET /runs/:id/outline': RunOutline
  /** One step of the run's session, whole. */
  'GET /runs/:id/step': TimelineItem
  'POST /runs/:id/cancel': { runId: string; before: string; after: string }
  /** As `POST /v1/runs/{runId}/messages`, with the operator's authority. `as`: the identity that the request has. */
  'POST /runs/:id/messages': MessageAccepted
  /** As the API lists them; without `agent` those of every agent. */
  'GET /sessions': OperatorList<SessionListItem & { readonly agent?: string }>
  'GET /sessions/:id': SessionView
  'PATCH /sessions/:id': SessionView
  'DELETE /sessions/:id': SessionView
  /** Finalized files, newest first. */
  'GET /files': OperatorList<FileView>
  /** The bytes. */
  'GET /files/content': never
  'GET /tasks': OperatorList<InboxItem>
  'GET /tasks/:id': InboxItem
  /** Decided tasks about the same tool and the same agent, newest first, at most 20. */
  'GET /tasks/:id/similar': OperatorList<InboxItem>
  /** Looks whether a call of unknown outcome happened, with the read-only tool that its author named. */
  'POST /tasks/:id/probe': ProbeView
  /** Recorded policy decisions, oldest first: of a run's whole tree, of an agent, since an RFC 3339 time. */
  'GET /decisions': OperatorList<RecordedDecision>
  /**
   * Kept sums by `agent`, `model` and `day` (`by`, separated by commas), of whole days in UTC: the last 30 days, or from `since`
   * to `until`. `sum` adds up all of them.
   */
  'GET /costs': OperatorList<CostView> & { readonly sum: CostSums }
  /** Ends the grants with this `svc/standing`, or restores them with `undo`; `changed` is false where they were as asked. */
  'POST /policies/revoke': { name: string; revoked: boolean; changed: boolean; agents: readonly string[] }
  /** Calls that hold an effect key, newest first; `all`: also those that do not any more; `key`: of this key. */
  'GET /effects': OperatorList<EffectView>
  /** Lets an effect happen again; `items` are the calls that held the key. */
  'POST /effects/release': { key: string; items: readonly EffectView[] }
  /** The log, a line of JSON each, oldest first; `http`: the requests instead of everything else. */
  'GET /logs': never
  /** A `.tar.gz` of database and files; `x-svc-runs` and `x-svc-objects` tell how many. */
  'POST /backup': never
  /** What a restore holds, and what may repeat when it is released. */
  'GET /restored': RestoredView
  /** Releases everything, or what is named: a run by any run of its tree, an agent with its triggers, a trigger. */
  'POST /restored/release': { runs: number; triggers: number }
  /** The address that signs one browser in, within a minute, as whoever asks. */
  'POST /console/codes': { url: string; expiresAt: string }
  /** Newest first. */
  'GET /console/sessions': OperatorList<ConsoleSessionView>
  'POST /console/sessions/:id/end': ConsoleSessionView
  /** Server-sent `LiveHint`s. */
  'GET /live': never
  /** The HTTP API as a page. */
  'GET /reference': never
  'GET /status': {
    version: string
    pid: number
    url: string | null
    uploadUrl: string | null
    consoleUrl: string | null
    workspace: string
    /** Who the request comes from: the credential's email, else the local identity. */
    operator: string
    roles: readonly string[]
    startedAt: string
  }
}
