/**
 * The persistence interface of the engine and the server. Every method takes a value, runs one transaction and returns a
 * value; no callback crosses this interface. A promise resolves only after the transaction is durable.
 *
 * A session (one execution tree) is the unit of writing. A writer names the version it read; of two concurrent writers the
 * slower one is refused, and nothing of its update is stored.
 */
import type { ActStore } from './act-store.ts'
import type { CatalogStore } from './catalog-store.ts'
import type { ClusterStore } from './cluster-store.ts'
import type { NoticeStore } from './notice-store.ts'
import type { SessionStore } from './session-store.ts'
import type { TraceStore } from './trace-store.ts'

export interface Store extends SessionStore, CatalogStore, ClusterStore, NoticeStore, ActStore, TraceStore {
  /** Writes everything committed to a new file; reads and writes continue meanwhile. */
  backup(path: string): Promise<void>
  /** Finishes pending writes, makes them durable and closes the file. */
  close(): Promise<void>
}
