/** The parts that routes work with. Built once, by `open.ts` or by a test. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Clock } from '../base/clock.ts'
import type { Ids, WorkspaceId } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Redactor } from '../base/secret.ts'
import type { Engine } from '../engine/engine.ts'
import type { Config } from '../spec/config.ts'
import type { Store } from '../store/store.ts'
import type { Attempts } from './attempts.ts'
import type { Readers } from './readers.ts'
import type { Rehearsals } from './rehearsals.ts'
import type { Scopes } from './scopes.ts'

export interface Services {
  /** The data directory; absent in memory. */
  readonly directory?: string
  readonly workspace: { readonly id: WorkspaceId; readonly name: string }
  readonly store: Store
  readonly engine: Engine
  /** Where uploads are; opened by the first who needs it where no listener takes any (`openBlobs`). */
  readonly blobs?: Blobs | (() => Promise<Blobs>)
  readonly config: Config
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly redactor: Redactor
  /** Open event streams, so that a revoked key and a shutdown reach them. */
  readonly readers: Readers
  /** Keys that failed, so that guessing is slowed down. */
  readonly attempts: Attempts
  readonly scopes: Scopes
  readonly about: About
  /** True where `as` may name anybody, and where runs may be rehearsed: a development server. */
  readonly development?: boolean
  readonly rehearsals: Rehearsals
  /** Identity of whoever speaks over the local operator channel without naming another. */
  readonly operator: string
}

/** What `GET /status` tells, and whether new work is taken. */
export interface About {
  readonly version: string
  readonly startedAt: number
  /** Set once the listeners know their ports. */
  url: string | null
  uploadUrl: string | null
  /** Called when the schedule triggers have changed. */
  onTriggers?: () => void
  /** True from the moment a shutdown begins: every request is then answered 503. */
  closing: boolean
}

export async function openBlobs({ blobs }: Services): Promise<Blobs> {
  if (!blobs) throw new Error('No storage is open.')
  return typeof blobs === 'function' ? await blobs() : blobs
}
