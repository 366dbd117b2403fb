/** Acts of operators, and of the server itself: what somebody did outside of any one call. Source: docs/design/audit.md#acts */
import type { Instant } from '../../base/clock.ts'
import type { RunId, SessionId, WorkspaceId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { SetupDigest, SetupName } from './setup-name.ts'

interface ActDeclaration {
  /** What follows the name of whoever did it: "ana published …". */
  readonly words: string
  /** Operator routes that write it; none for acts of the server itself and of signing in. */
  readonly routes: readonly string[]
  /** What `before` and `after` hold; empty where the subject says everything. */
  readonly content: string
}

/** Every kind of act. A new kind is a row here, and one call of `act` in the route that writes it. */
export const ACTS_BY_KIND = {
  'version.published': { words: 'published', routes: ['POST /publish'], content: 'digests of what is new' },
  'version.deployed': { words: 'deployed', routes: ['POST /publish', 'POST /deploy'], content: 'the versions' },
  'version.rolled_back': { words: 'rolled back', routes: ['POST /deploy'], content: 'the versions' },
  'trust.installed': { words: 'installed', routes: ['POST /trust'], content: 'version and digest of the documents' },
  'version.yanked': { words: 'yanked', routes: ['POST /yank'], content: '' },
  'version.unyanked': { words: 'took back the yank of', routes: ['POST /yank'], content: '' },
  'trigger.created': { words: 'created', routes: ['POST /triggers'], content: 'its settings' },
  'trigger.changed': { words: 'changed', routes: ['PATCH /triggers/:id'], content: 'settings that changed' },
  'trigger.deleted': { words: 'deleted', routes: ['DELETE /triggers/:id'], content: 'its settings' },
  'key.created': { words: 'made', routes: ['POST /keys'], content: 'beginning, rights and end of the key' },
  'key.revoked': { words: 'revoked', routes: ['POST /keys/:id/revoke', 'DELETE /triggers/:id'], content: '' },
  'credential.created': { words: 'made', routes: ['POST /operator-keys'], content: 'beginning, roles and end of it' },
  'credential.revoked': { words: 'revoked', routes: ['POST /keys/:id/revoke'], content: '' },
  'passkey.added': {
    words: 'added',
    routes: ['POST /passkeys'],
    content: 'its name and whether it is bound to a device',
  },
  'passkey.removed': { words: 'removed', routes: ['POST /passkeys/:id/remove'], content: 'its name' },
  'standing.ended': { words: 'ended', routes: ['POST /policies/revoke'], content: '' },
  'standing.restored': { words: 'restored', routes: ['POST /policies/revoke'], content: '' },
  'effect.released': { words: 'released', routes: ['POST /effects/release'], content: 'the calls that held the key' },
  'effects.recorded': { words: 'recorded', routes: ['POST /restored/release'], content: 'keys of effects known to be' },
  'pause.set': { words: 'paused', routes: ['POST /pauses'], content: '' },
  'pause.ended': { words: 'let go on', routes: ['POST /pauses'], content: '' },
  'restore.released': { words: 'released', routes: ['POST /restored/release'], content: 'how much was held' },
  'run.started': { words: 'started', routes: ['POST /runs'], content: 'the new run' },
  'run.answered': { words: 'answered', routes: ['POST /runs/:id/messages'], content: 'task and decision' },
  'run.cancelled': { words: 'cancelled', routes: ['POST /runs/:id/cancel'], content: '' },
  'run.resumed': { words: 'resumed', routes: ['POST /runs/:id/resume'], content: 'version and granted limit' },
  'run.migrated': { words: 'moved', routes: ['POST /runs/:id/migrate'], content: 'the versions' },
  'run.retried': { words: 'started again', routes: ['POST /runs/:id/retry'], content: 'the new run' },
  'run.undone': { words: 'undid', routes: ['POST /runs/:id/undo'], content: 'the calls' },
  'run.forked': { words: 'forked', routes: ['POST /runs/fork'], content: 'step, edited steps and the new run' },
  'task.probed': { words: 'probed', routes: ['POST /tasks/:id/probe'], content: '' },
  'session.labelled': { words: 'labelled', routes: ['PATCH /sessions/:id'], content: 'names of labels, legal hold' },
  'session.erased': { words: 'erased', routes: ['DELETE /sessions/:id'], content: '' },
  'sessions.deleted': { words: 'deleted', routes: [], content: 'how many, and until when they ended' },
  'records.deleted': { words: 'deleted', routes: [], content: 'how many, and until when they were made' },
  'file.kept': { words: 'kept', routes: ['POST /files'], content: 'size and type' },
  'notice.retried': { words: 'sent again', routes: ['POST /notices/:id/retry'], content: '' },
  'channel.tested': { words: 'tested', routes: ['POST /notices/test'], content: '' },
  'store.exported': { words: 'exported', routes: ['POST /backup'], content: '' },
  'console.invited': { words: 'asked for', routes: ['POST /console/codes'], content: '' },
  'console.signed_in': { words: 'signed in to', routes: [], content: 'the browser, and groups of a provider' },
  'console.signed_out': { words: 'signed out of', routes: ['POST /console/sessions/:id/end'], content: 'the browser' },
  'person.signed_out': { words: 'signed out everywhere', routes: ['POST /console/sign-out'], content: '' },
  'worker.drained': { words: 'drained', routes: ['POST /workers/:id/drain'], content: '' },
  'server.configured': { words: 'started with', routes: [], content: 'settings that changed since the last start' },
  'access.used': { words: 'used', routes: [], content: '' },
} as const satisfies Readonly<Record<string, ActDeclaration>>

export type ActKind = keyof typeof ACTS_BY_KIND

/** Operator routes that change something and write no act, each with its reason. */
export const ROUTES_WITHOUT_ACT: Readonly<Record<string, string>> = {
  'POST /audit/checkpoints': 'Each act is signed by the next checkpoint: one a checkpoint would never end.',
  'POST /evals': 'It keeps a measurement, which allows and changes nothing; the newest are kept.',
  'POST /passkeys/challenge': 'It only begins what another request does within minutes.',
  'POST /tasks/:id/claim': 'It says who looks at a task, decides nothing, and is forgotten after minutes.',
}

export const ACT_CHANNELS = ['local', 'console', 'api', 'slack', 'email', 'server'] as const
/**
 * `local`: the admin socket, or the opened data directory. `api`: the operator listener, with a credential. `slack`, `email`: an answer
 * by what was sent to a person there.
 */
export type ActChannel = (typeof ACT_CHANNELS)[number]

/** What an act says beyond its subject. It can be erased, and the record still proves what it was. */
export interface ActContent {
  readonly reason: string | null
  /** Address of the client; null on the local channel. */
  readonly address: string | null
  readonly before: JsonValue
  readonly after: JsonValue
}

/** An act that is about to be written. */
export interface NewAct extends ActContent {
  readonly workspaceId: WorkspaceId
  readonly at: Instant
  readonly kind: ActKind
  /** `operator:ana@example.com`, as `approverOf` writes it; `server:` for the server itself. */
  readonly by: string
  /** How the server knows that: a credential, or the local channel, which proves nothing. */
  readonly proof: string
  /** The credential. */
  readonly keyId: string | null
  readonly channel: ActChannel
  readonly subject: string
  readonly sessionId: SessionId | null
  readonly runId: RunId | null
  /** Code of the failure with which the server refused it; null for an act that was done. */
  readonly refused: string | null
  /** How many equal refusals the record stands for; 1 for an act that was done. */
  readonly counted: number
  /** Rows that it changes: the store reads what it made of them. */
  readonly setup: readonly SetupName[]
}

/** An act as it is stored, a link of the chain of its workspace. */
export interface StoredAct extends Omit<NewAct, keyof ActContent | 'setup'> {
  /** From 1, without gaps. */
  readonly seq: number
  /** Null once it is erased. */
  readonly content: ActContent | null
  readonly contentDigest: string
  readonly salt: string | null
  /** What the act made of the rows that it changed; absent in acts of earlier versions of svc. */
  readonly rowDigests?: readonly SetupDigest[]
  readonly hash: string
}

/** An act as its row has it: the content is the text over which its digest was made. */
export interface ActRecord extends Omit<StoredAct, 'content'> {
  readonly content: string | null
}

/** What an act concerns, in the words of the route that writes it. */
export interface ActAbout {
  readonly subject: string
  readonly reason?: string | null | undefined
  readonly before?: JsonValue
  readonly after?: JsonValue
  /** Rows that it changes. */
  readonly setup?: readonly SetupName[]
  readonly run?: { readonly id: RunId; readonly sessionId: SessionId }
  readonly session?: SessionId
  /** Code of the failure with which the server refused it. */
  readonly refused?: string
}

/** Makes an act of the person of a request. */
export type MakeAct = (kind: ActKind, about: ActAbout) => NewAct
