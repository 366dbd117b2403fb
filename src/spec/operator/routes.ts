/**
 * The operator application's interface: what `publish`, `deploy`, `keys`, `triggers`, `inbox` and the console speak.
 * HTTP over the Unix socket `admin.sock` of the server that holds the data directory, else in process under its lock.
 * One line a route, so that server and command line cannot drift apart; requests are in `schemas/operator-requests.yaml`. Bodies and answers are JSON; failures are `ErrorBody`.
 */
import type {
  Conversation,
  MessageAccepted,
  RunStatusBody,
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
import type { CostSums, CostView, PauseView, WorkerView, EffectView } from './operations.ts'
import type {
  PublishedMember,
  DeploymentView,
  SourcesView,
  AgentView,
  VersionView,
  AuthorityRow,
  ChangeView,
} from './publication.ts'
import type { RunView, RunOutline, RestoredView, FileView, CallView, SessionView } from './runs.ts'
import type { UndoPlanView } from './undo.ts'

/**
 * Header of a request by a person with a credential. Without it whoever reaches the channel is its local identity; with one
 * that is not valid the request is refused.
 */
export const OPERATOR_KEY_HEADER = 'x-operator-key'

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

/** A run that is not what its agent's documents say: for developers. */
export type RehearsalOptions = NonNullable<Requests['POST /runs']['body']['rehearsal']>

type Requests = OperatorRequests<CompiledBundle> & { 'POST /v1/agents/:id/runs': { readonly body: StartRunBody } }

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
  /** What a version reaches: of the deployed one where none is named. */
  'GET /graph': BundleGraph
  /** What `to` does that `from` did not, what widens authority first. */
  'GET /difference': { breaking: boolean; widens: boolean; changes: readonly ChangeView[] }
  'GET /documents': OperatorList<PublishedDocument>
  /** The files with which a version was published, as they were written. */
  'GET /sources': SourcesView
  /** Newest first, at most 200. */
  'GET /deployments': OperatorList<DeploymentView>
  /** What lint says about documents that somebody edits. */
  'POST /lint': { findings: readonly WrittenFinding[] }
  /** Decides a recorded call again, with other arguments or by edited policies; nothing happens. */
  'POST /decide': DecideView
  /** Decides recorded calls again by edited policies: those whose decision would be another, oldest first. */
  'POST /what-if': WhatIfView
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
  /** All routes of `/v1` answer here, with an operator as principal and never redacted; these are called by name. */
  'POST /v1/agents/:id/runs': StartRunResponse
  'GET /v1/runs/:id': RunStatusBody
  'GET /v1/runs/:id/conversation': Conversation
  /** Steps of the run and those below it, without their content. */
  'GET /runs/:id/outline': RunOutline
  /** One step of the run's session, whole. */
  'GET /runs/:id/step': TimelineItem
  /** The calls of the run and those below it, in the order of their last change. */
  'GET /runs/:id/calls': OperatorList<CallView>
  /** The run with its sub-agents as a scenario for `svc test`, in YAML. */
  'GET /runs/:id/scenario': { text: string }
  'POST /runs/:id/cancel': { runId: string; before: string; after: string }
  /** A run that failed, was cancelled or is held goes on where it stopped. */
  'POST /runs/:id/resume': RunView
  /** A new run of the deployed version with the same input. */
  /** Moves a waiting run to a version that may do no more; `changed` is false where it is on it. */
  'POST /runs/:id/migrate': RunView & { readonly changed: boolean }
  'POST /runs/:id/retry': RunView
  /** What an ended run and those below it made, and how each call would be undone; nothing happens. */
  'GET /runs/:id/undo': UndoPlanView
  /** Undoes calls of an ended run, newest first; the answer is the run that undoes the first. */
  'POST /runs/:id/undo': RunView
  /** New runs with the first steps of others as they were. Nothing starts where one of them cannot be forked so. */
  'POST /runs/fork': OperatorList<RunView>
  /** What such runs would do, with models asked, and tools and people played from the recording; nothing is stored. */
  'POST /runs/dry-fork': OperatorList<DryForkView> & { differing: number }
  /** As `POST /v1/runs/{runId}/messages`, with the operator's authority. `as`: the identity that the request has. */
  'POST /runs/:id/messages': MessageAccepted
  /** As the API lists them; without `agent` those of every agent. */
  'GET /sessions': OperatorList<SessionListItem & { readonly agent?: string }>
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
  /** Tells others that whoever asks looks at the task, for 15 minutes, or `leave`: not any more. Anybody may still decide it. */
  'POST /tasks/:id/claim': InboxItem
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
  /** What is paused, the oldest first; `all`: every act, the newest first. */
  'GET /pauses': OperatorList<PauseView>
  /**
   * Pauses something, or lets it go on; `changed` is false where it was so already. `items` are the open runs that it concerns,
   * `inFlight` counts the completions and calls of theirs that were under way and end, `pauses` is all that holds now.
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
    /** Who the request comes from: the credential's email, else the local identity. */
    operator: string
    roles: readonly string[]
    startedAt: string
  }
}
