/**
 * The operator application's interface: what `publish`, `deploy`, `keys`, `triggers`, `inbox` and the console speak.
 * HTTP over the Unix socket `admin.sock` of the server that holds the data directory, else in process under its lock.
 * One line a route, so that server and command line cannot drift apart. Bodies and answers are JSON; failures are `ErrorBody`.
 */
import type { JsonObject, JsonValue } from '../base/json.ts'
import type {
  Conversation,
  MessageAccepted,
  RunStatusBody,
  SessionListItem,
  StartRunResponse,
  TaskContent,
} from './api.ts'
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
}

export interface TriggerView {
  readonly triggerId: string
  readonly agentId: string
  readonly agent: string
  readonly type: 'api' | 'schedule'
  readonly name: string
  readonly active: boolean
  readonly exposeTimeline: boolean
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
}

/** What was asked and found with the tool that an author named for looking. */
export interface ProbeView {
  readonly userTaskId: string
  readonly name: string
  readonly arguments: JsonObject
  readonly result: JsonValue
  readonly isError: boolean
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
  readonly trigger: string
  readonly waitingOn?: string
  /** As in the status of a run. */
  readonly hold?: { readonly reason: string; readonly since: string }
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
export type SessionView = SessionListItem & { readonly agent: string; readonly runs: readonly RunView[] }

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
  /** Roots of conditions but `args`, `history` and `time`: `tool`, `agent`, `run`, `session`, `principal`, `svc`. */
  readonly facts: JsonObject
  /** Values of `history` that the decision used, by path and window; null = unknown. */
  readonly history: Readonly<Record<string, number | null>>
}

export interface OperatorList<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** A run that is not what its agent's documents say: for developers. */
export interface RehearsalOptions {
  /** `provider/name`, asked instead of the models of every agent. */
  readonly model?: string
  /** Absolute path: what models and tools answer is kept there. */
  readonly record?: string
  /** Absolute path of a recording: no model and no tool is asked. Not with `record`. */
  readonly replay?: string
}

/** `METHOD path` -> what goes in and what comes out. A body of `undefined` means none. Query parameters are in `query`. */
// prettier-ignore -- one line a route
export interface OperatorRoutes {
  'POST /publish': {
    body: { bundle: CompiledBundle; deploy?: boolean; message?: string }
    answer: {
      published: PublishedMember[]
      deployed?: { agentId: string; agentVersionId: string; from: string | null }
    }
  }
  'POST /deploy': {
    /** @property allowYanked without it a yanked version is refused */
    body: { agent: string; version?: string; rollback?: boolean; allowYanked?: boolean }
    answer: { agentId: string; from: string | null; to: string; agentVersionId: string; runningOnOld: number }
  }
  'GET /agents': { query: { usage?: 'true' }; answer: OperatorList<AgentView> }
  'GET /versions': { query: { agent: string }; answer: OperatorList<VersionView> }
  /** Snapshot of a version: `agent` and `version` or the digest; for resolution, differences and `explain`. */
  'GET /snapshot': { query: { agent?: string; version?: string; digest?: string }; answer: AgentSnapshot }
  'GET /documents': { query: { kind: 'Tool' | 'Policy'; id: string }; answer: OperatorList<PublishedDocument> }
  /** A yanked version is never newly chosen; what pins it keeps it. */
  'POST /yank': {
    body: { kind: 'Agent' | 'Tool' | 'Policy'; id: string; version: string; yanked: boolean }
    answer: { kind: 'Agent' | 'Tool' | 'Policy'; id: string; version: string; digest: string; yanked: boolean }
  }
  'POST /triggers': {
    body: {
      agent: string
      type: 'api' | 'schedule'
      name?: string
      cron?: string
      timeZone?: string
      maxConcurrentRuns?: number
      ratePerMinute?: number
      ratePerDay?: number
      allowIps?: string[]
      exposeTimeline?: boolean
    }
    answer: TriggerView
  }
  'PATCH /triggers/:id': {
    body: {
      active?: boolean
      exposeTimeline?: boolean
      maxConcurrentRuns?: number | null
      ratePerMinute?: number | null
      ratePerDay?: number | null
      allowIps?: string[]
    }
    answer: TriggerView
  }
  'DELETE /triggers/:id': { body: undefined; answer: { triggerId: string } }
  'GET /triggers': { query: { agent?: string }; answer: OperatorList<TriggerView> }
  /** `trigger` is an id or a name. `expiresInSeconds` makes a short-lived key. */
  'POST /keys': {
    /** `oneCommand`: what is done with the key is done by the one who asks for it. */
    body: {
      agent: string
      trigger: string
      allowUploads?: boolean
      name?: string
      oneCommand?: boolean
      expiresInSeconds?: number
    }
    answer: CreatedKey
  }
  'POST /operator-keys': {
    body: { email: string; roles?: readonly string[]; name?: string; expiresInSeconds?: number }
    answer: CreatedOperatorKey
  }
  /** Both kinds, without `agent`. `all`: those of single commands too, when their time is over. */
  'GET /keys': { query: { agent?: string; all?: 'true' }; answer: OperatorList<KeyView | OperatorKeyView> }
  'POST /keys/:id/revoke': { body: undefined; answer: KeyView | OperatorKeyView }
  /** Starts without a key, as the operator. `agent` is an id or `namespace.name`. Only a development server rehearses. */
  'POST /runs': { body: { agent: string; input: JsonObject; rehearsal?: RehearsalOptions }; answer: StartRunResponse }
  /** `ending`: a unique ending of a run id; `agent`, `status` (comma-separated), `waiting`, `since`, `session`, `skip`, `take`. */
  'GET /runs': {
    query: {
      ending?: string
      agent?: string
      status?: string
      waiting?: string
      since?: string
      session?: string
      skip?: string
      take?: string
    }
    answer: OperatorList<RunView>
  }
  /** All routes of `/v1` answer here, with an operator as principal and never redacted; these two are called by name. */
  'GET /v1/runs/:id': { query: Record<string, never>; answer: RunStatusBody }
  'GET /v1/runs/:id/conversation': { query: Record<string, never>; answer: Conversation }
  'POST /runs/:id/cancel': { body: { reason?: string }; answer: { runId: string; before: string; after: string } }
  /** As `POST /v1/runs/{runId}/messages`, with the operator's authority. `as`: the identity that the request has. */
  'POST /runs/:id/messages': { body: JsonObject & { as?: string }; answer: MessageAccepted }
  /** As the API lists them; without `agent` those of every agent. */
  'GET /sessions': {
    query: { agent?: string; versionId?: string; status?: string; ending?: string; skip?: string; take?: string }
    answer: OperatorList<SessionListItem & { readonly agent?: string }>
  }
  'GET /sessions/:id': { query: Record<string, never>; answer: SessionView }
  /** Finalized files, newest first. */
  'GET /files': { query: { skip?: string; take?: string }; answer: OperatorList<FileView> }
  /** The bytes; `key` is the object key or the file name. */
  'GET /files/content': { query: { key: string }; answer: never }
  'GET /tasks': {
    query: { ending?: string; agent?: string; kind?: string; all?: string; operator?: string }
    answer: OperatorList<InboxItem>
  }
  'GET /tasks/:id': { query: Record<string, never>; answer: InboxItem }
  /** Looks whether a call of unknown outcome happened, with the read-only tool that its author named. */
  'POST /tasks/:id/probe': { body: undefined; answer: ProbeView }
  /** Recorded policy decisions, oldest first: of a run's whole tree, of an agent, since an RFC 3339 time. */
  'GET /decisions': { query: { run?: string; agent?: string; since?: string }; answer: OperatorList<RecordedDecision> }
  /** The log, a line of JSON each, oldest first; `http`: the requests instead of everything else. */
  'GET /logs': {
    query: {
      run?: string
      agent?: string
      level?: string
      since?: string
      grep?: string
      http?: 'true'
      status?: string
      path?: string
      follow?: 'true'
    }
    answer: never
  }
  /** A `.tar.gz` of database and files; `x-svc-runs` and `x-svc-objects` tell how many. */
  'POST /backup': { body: undefined; answer: never }
  /** What a restore holds, and what may repeat when it is released. */
  'GET /restored': { query: Record<string, never>; answer: RestoredView }
  /** Releases everything, or what is named: a run by any run of its tree, an agent with its triggers, a trigger. */
  'POST /restored/release': {
    body: { run?: string; agent?: string; trigger?: string }
    answer: { runs: number; triggers: number }
  }
  'GET /status': {
    query: Record<string, never>
    answer: {
      version: string
      pid: number
      url: string | null
      uploadUrl: string | null
      workspace: string
      /** Who the request comes from: the credential's email, else the local identity. */
      operator: string
      startedAt: string
    }
  }
}
