/**
 * The operator application's interface: what `publish`, `deploy`, `keys`, `triggers`, `inbox` and the console speak. HTTP
 * over the Unix socket `admin.sock` of the server that holds the data directory, else in process under its lock. One line a
 * route, so that server and command line agree by type; requests are in `schemas/operator-requests.yaml`. Bodies and
 * answers are JSON; failures are `ErrorBody`.
 */
import type {
  Conversation,
  MessageAccepted,
  RunStatusBody,
  SessionList,
  SessionListItem,
  StartRunBody,
  StartRunResponse,
  TimelineItem,
} from '../api.ts'
import type { DryForkView } from './dry-fork.ts'
import type { BundleGraph } from './bundle-graph.ts'
import type { OperatorRequests } from '../generated/operator.ts'
import type { WrittenFinding } from '../explanation.ts'
import type { CompiledBundle, PublishedDocument, AgentSnapshot } from '../snapshot.ts'
import type {
  TriggerView,
  KeyView,
  OperatorKeyView,
  CreatedKey,
  CreatedOperatorKey,
  ConsoleSessionView,
  SecretView,
} from './access.ts'
import type { DecideView, WhatIfView, RecordedDecision } from './decide.ts'
import type { InboxItem, ProbeView } from './inbox.ts'
import type {
  CostSums,
  CostView,
  PauseView,
  OverviewView,
  RunOutcomes,
  StorageView,
  WorkerView,
  EffectView,
} from './operations.ts'
import type {
  PublishedMember,
  DeploymentView,
  SourcesView,
  AgentView,
  LooserVersion,
  VersionView,
  AuthorityRow,
  ChangeView,
} from './publication.ts'
import type { RunHolders, RunView, RunOutline, RestoredView, FileView, CallView, SessionView } from './runs.ts'
import type { UndoPlanView } from './undo.ts'

/**
 * Header with a person's credential. A request without it has the channel's local identity; an invalid credential is
 * refused.
 */
export const OPERATOR_KEY_HEADER = 'x-operator-key'

/** Carries the half of a console session that the page keeps, beside the cookie. */
export const PAGE_KEY_HEADER = 'x-svc-page-key'

/** Routes that change nothing, and are asked by POST since what they are asked is long. */
export const OPERATOR_QUESTIONS: ReadonlySet<string> = new Set<keyof OperatorRoutes>([
  'POST /lint',
  'POST /decide',
  'POST /what-if',
  'POST /runs/dry-fork',
])

export interface OperatorList<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** Changes to a run for development: other models, recordings. */
export type RehearsalOptions = NonNullable<Requests['POST /runs']['body']['rehearsal']>

type Requests = OperatorRequests<CompiledBundle> & { 'POST /v1/agents/:id/runs': { readonly body: StartRunBody } }

/**
 * `METHOD path` -> request and answer. Requests are in `schemas/operator-requests.yaml`; a route that is missing there
 * takes no query and no body.
 */
export type OperatorRoutes = {
  [R in keyof OperatorAnswers]: (R extends keyof Requests ? Requests[R] : unknown) & {
    readonly answer: OperatorAnswers[R]
  }
}

// oxfmt-ignore -- one line a route
interface OperatorAnswers {
  'POST /publish': {
    published: PublishedMember[]
    deployed?: { agentId: string; agentVersionId: string; from: string | null }
  }
  'POST /deploy': { agentId: string; from: string | null; to: string; agentVersionId: string; runningOnOld: number }
  /** What still runs on versions that allow more than the deployed one, and the triggers whose keys may start such a version. */
  'GET /looser-versions': { items: LooserVersion[]; triggers: string[] }
  'GET /agents': OperatorList<AgentView>
  'GET /versions': OperatorList<VersionView>
  /** Snapshot of a version: `agent` and `version` or the digest; for resolution, differences and `explain`. */
  'GET /snapshot': AgentSnapshot
  /** Of a version; the deployed one by default. */
  'GET /matrix': OperatorList<AuthorityRow>
  /** Everything that a version reaches; the deployed one by default. */
  'GET /graph': BundleGraph
  /** The changes from `from` to `to`, wider authority first. */
  'GET /difference': { breaking: boolean; widens: boolean; changes: readonly ChangeView[] }
  'GET /documents': OperatorList<PublishedDocument>
  /** The files with which a version was published, as they were written. */
  'GET /sources': SourcesView
  /** Newest first, at most 200. */
  'GET /deployments': OperatorList<DeploymentView>
  /** Findings of lint about edited documents. */
  'POST /lint': { findings: readonly WrittenFinding[] }
  /** Decides a recorded call again, with other arguments or edited policies; has no effect. */
  'POST /decide': DecideView
  /** Decides recorded calls again by edited policies; answers those whose decision would change, oldest first. */
  'POST /what-if': WhatIfView
  /** A yanked version is never newly chosen; documents that pin it keep it. */
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
  /** All routes of `/v1` answer here, with an operator as principal and never redacted; these are called by name. */
  'POST /v1/agents/:id/runs': StartRunResponse
  'GET /v1/runs/:id': RunStatusBody
  'GET /v1/runs/:id/conversation': Conversation
  /** What holds the run: who paused it, when and why, or what is out of reach and for how long it may be. */
  'GET /runs/:id/holders': RunHolders
  /** Steps of the run and those below it, without their content. */
  'GET /runs/:id/outline': RunOutline
  /** One step of the run's session, whole. */
  'GET /runs/:id/step': TimelineItem
  /** The calls of the run and those below it, in the order of their last change. */
  'GET /runs/:id/calls': OperatorList<CallView>
  /** The run with its sub-agents as a scenario for `svc test`, in YAML. */
  'GET /runs/:id/scenario': { text: string }
  'POST /runs/:id/cancel': { runId: string; before: string; after: string }
  /** Continues a run that failed, was cancelled or is held where it stopped. */
  'POST /runs/:id/resume': RunView
  /** Moves a waiting run to a version that may do no more; `changed` is false where it is on it. */
  'POST /runs/:id/migrate': RunView & { readonly changed: boolean }
  /** A new run of the deployed version with the same input. */
  'POST /runs/:id/retry': RunView
  /** The calls of an ended run and its descendants, and how each would be undone; has no effect. */
  'GET /runs/:id/undo': UndoPlanView
  /** Undoes calls of an ended run, newest first; the answer is the run that undoes the first. */
  'POST /runs/:id/undo': RunView
  /** New runs with the first steps of others as they were. Nothing starts where one of them cannot be forked so. */
  'POST /runs/fork': OperatorList<RunView>
  /** What such runs would do: calls models, plays tools and people from the recording, stores nothing. */
  'POST /runs/dry-fork': OperatorList<DryForkView> & { differing: number }
  /** As `POST /v1/runs/{runId}/messages`, with the operator's authority. `as`: the identity that the request has. */
  'POST /runs/:id/messages': MessageAccepted
  /** As the API lists them, with its `nextCursor`; without `agent` those of every agent, which have no cursor. */
  'GET /sessions': OperatorList<SessionListItem & { readonly agent?: string }> & Pick<SessionList, 'nextCursor'>
  'GET /sessions/:id': SessionView
  'PATCH /sessions/:id': SessionView
  'DELETE /sessions/:id': SessionView
  /** Finalized files, newest first. */
  'GET /files': OperatorList<FileView>
  /** Keeps the bytes of the body, at most 32 MiB, as a file of the workspace; larger ones take the addresses of `/v1`. */
  'POST /files': FileView
  /** The bytes. */
  'GET /files/content': never
  'GET /tasks': OperatorList<InboxItem>
  'GET /tasks/:id': InboxItem
  /** Decided tasks about the same tool and the same agent, newest first, at most 20. */
  'GET /tasks/:id/similar': OperatorList<InboxItem>
  /** Shows others for 15 minutes that the caller is looking at the task; `leave` ends this. Anybody may still decide it. */
  'POST /tasks/:id/claim': InboxItem
  /** Checks whether a call of unknown outcome happened, with the read-only tool that its author named. */
  'POST /tasks/:id/probe': ProbeView
  /**
   * Recorded policy decisions, oldest first: of a run's whole tree, of an agent, since an RFC 3339 time. With `take` the last so
   * many; `skipped` are earlier ones that the page leaves out.
   */
  'GET /decisions': OperatorList<RecordedDecision> & { readonly skipped?: number }
  /** How the last 24 hours went; at most 5 seconds old. */
  'GET /overview': OverviewView
  /** Of the newest runs; `countedSince` where there are more in the time than were counted. */
  'GET /outcomes': OperatorList<RunOutcomes> & { readonly counted: number; readonly countedSince?: string }
  /**
   * Kept sums by `agent`, `model` and `day` (`by`, separated by commas), of whole days in UTC: the last 30 days, or from `since`
   * to `until`. `sum` adds up all of them.
   */
  'GET /costs': OperatorList<CostView> & { readonly sum: CostSums }
  /** Ends the grants with this `svc/standing`, or restores them with `undo`; `changed` is false if nothing changed. */
  'POST /policies/revoke': { name: string; revoked: boolean; changed: boolean; agents: readonly string[] }
  /** Calls that hold an effect key, newest first; `all`: also those that do not any more; `key`: of this key. */
  'GET /effects': OperatorList<EffectView>
  /** Lets an effect happen again; `items` are the calls that held the key. */
  'POST /effects/release': { key: string; items: readonly EffectView[] }
  /** What is paused, the oldest first; `all`: every act, the newest first. */
  'GET /pauses': OperatorList<PauseView>
  /**
   * Pauses something, or ends a pause; `changed` is false if nothing changed. `items` are the open runs concerned,
   * `inFlight` counts their effects in flight, which still end, `pauses` are all present pauses.
   */
  'POST /pauses': PauseView & {
    changed: boolean
    inFlight: number
    pauses: readonly PauseView[]
  } & OperatorList<RunView>
  /** The log, a line of JSON each, oldest first; `http`: the requests instead of everything else. */
  'GET /logs': never
  /** A `.tar.gz` of database and files; `x-svc-runs` and `x-svc-objects` tell how many. */
  'POST /backup': never
  /** The runs and triggers that a restore holds, and the calls that a release may repeat. */
  'GET /restored': RestoredView
  /**
   * Releases everything, or a run (by any run of its tree), an agent with its triggers, or a trigger. `asksUntil`: until then calls
   * ask that may have been made after the backup; null while the store is held. `known`: effect keys that were taken for `happened`.
   */
  'POST /restored/release': { runs: number; triggers: number; asksUntil: string | null; known: number }
  /** An address that signs one browser in as the caller, valid for a minute. */
  'POST /console/codes': { url: string; expiresAt: string }
  /** Newest first. */
  'GET /console/sessions': OperatorList<ConsoleSessionView>
  'POST /console/sessions/:id/end': ConsoleSessionView
  /** Server-sent `LiveHint`s. */
  'GET /live': never
  /** The HTTP API as a page. */
  'GET /reference': never
  /** The server processes of the store, oldest start first. */
  'GET /workers': OperatorList<WorkerView>
  /** The process hands over what it holds, and ends. `:id` is an id or its unique ending. */
  'POST /workers/:id/drain': WorkerView
  /** Secrets of deployed agents, as this server finds them. */
  'GET /secrets': OperatorList<SecretView>
  'GET /status': {
    version: string
    pid: number
    url: string | null
    uploadUrl: string | null
    consoleUrl: string | null
    workspace: string
    /** Identity of the request: the credential's email, else the local identity. */
    operator: string
    roles: readonly string[]
    /** `svc dev`: runs may be rehearsed with another model. */
    isDevelopment: boolean
    storage: StorageView
    startedAt: string
    /** How far its clock is ahead of that of its store; negative where it is behind. */
    clockAheadMs: number
  }
}
