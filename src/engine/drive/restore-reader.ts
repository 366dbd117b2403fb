import type { StoreRestore } from '../../spec/run/restore.ts'
import type { SessionStore } from '../../store/session-store.ts'

export type RestoreReader = () => Promise<StoreRestore | undefined>

/** Reads the restore of a store. A store becomes one that was restored only while no process uses it, so most are asked once. */
export function createRestoreReader(store: Pick<SessionStore, 'lastRestore'>): RestoreReader {
  let isOriginal = false
  return async () => {
    if (isOriginal) return undefined
    const restore = await store.lastRestore()
    isOriginal = restore === undefined
    return restore
  }
}
