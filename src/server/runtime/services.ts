/** The parts of a server that routes use, built once by `openRuntime` or by a test. */
import type { Blobs } from '../../blobs/blobs.ts'
import type { StoreClock } from '../../base/clock.ts'
import type { IdSource, WorkspaceId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Redactor } from '../../base/secret.ts'
import type { SecretVariable } from '../../spec/project/secret-variables.ts'
import type { Engine } from '../../engine/interface/engine.ts'
import type { ModelProviders } from '../../providers/provider.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import type { Store } from '../../store/store.ts'
import type { RouteHandler } from '../http/route.ts'
import type { RefusedActs } from './refused-acts.ts'
import type { KeyAttempts } from './attempts.ts'
import type { ChangeHints } from './change-hints.ts'
import type { SignInCodes } from './sign-in-codes.ts'
import type { IdentityProvider } from '../sign-in/identity-provider.ts'
import type { DocumentCompiler } from './document-compiler.ts'
import type { StreamReaders } from './readers.ts'
import type { RehearsalRegistry } from './rehearsals.ts'
import type { SessionScopes } from './scopes.ts'

export interface ServerServices {
  /** The data directory; absent in memory. */
  readonly directory?: string
  readonly workspace: { readonly id: WorkspaceId; readonly name: string }
  readonly store: Store
  readonly engine: Engine
  /** Uploaded files. A function where no listener accepts uploads: it opens the storage on first use (`openBlobs`). */
  readonly blobs?: Blobs | (() => Promise<Blobs>)
  readonly config: ProjectConfig
  /** That of the store. */
  readonly clock: StoreClock
  readonly ids: IdSource
  readonly log: Log
  readonly redactor: Redactor
  /** Open event streams, so that a revoked key and a shutdown reach them. */
  readonly readers: StreamReaders
  /** Sends hints to screens when lists change. */
  readonly changes: ChangeHints
  /** One-time codes with which a browser signs in to the console. */
  readonly signInCodes: SignInCodes
  /** Where people sign in whom a provider names; absent where none is configured, and where nothing is served. */
  readonly signIn?: IdentityProvider
  /** Records acts that were refused. */
  readonly refusedActs: RefusedActs
  /** Failed keys per address, to slow down guessing. */
  readonly attempts: KeyAttempts
  readonly scopes: SessionScopes
  readonly serverState: ServerState
  /** True for a development server: `as` may name anybody, and runs may be rehearsed. */
  readonly development?: boolean
  readonly rehearsals: RehearsalRegistry
  /** For dry runs; absent in tests of routes. */
  readonly models?: ModelProviders
  /** Absent if the server was opened without the compiler. */
  readonly documents?: DocumentCompiler
  /** Whether an environment variable of this process has a value. Never the value. */
  readonly secretState: (variable: string) => 'set' | 'empty' | 'missing'
  /** Variables that are secrets of the server itself, not of an agent; absent in tests of routes. */
  readonly secretVariables?: readonly SecretVariable[]
  /** Identity of requests on the local operator channel that carry no credential. */
  readonly operator: string
}

/** State of the server: the facts of `GET /status`, and whether it accepts new work. */
export interface ServerState {
  readonly version: string
  readonly startedAt: number
  /** The store is a PostgreSQL database; else it is in the data directory. */
  readonly isStoreShared?: boolean
  /** Set once the listeners know their ports. */
  url: string | null
  uploadUrl: string | null
  /** Null where the console is off. */
  consoleUrl: string | null
  /** Where the other processes of the store reach this one; null without an internal listener. */
  peerUrl: string | null
  /** Channels to which receivers send requests, by name; absent where nothing is sent from here. */
  noticeReceivers?: ReadonlyMap<string, RouteHandler>
  /** Called when the outbox has more to send; absent where nothing is sent from here. */
  onNoticesAdded?: () => void
  /** Called when the schedule triggers have changed. */
  onTriggersChanged?: () => void
  /** True once shutdown begins: every request is then answered 503. */
  closing: boolean
}

export async function openBlobs({ blobs }: ServerServices): Promise<Blobs> {
  if (!blobs) throw new Error('No storage is open.')
  return typeof blobs === 'function' ? await blobs() : blobs
}
