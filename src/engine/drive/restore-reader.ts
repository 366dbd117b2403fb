import type { StoreRestore } from '../../spec/restore.ts'
import type { Store } from '../../store/store.ts'

export type RestoreReader = () => Promise<StoreRestore | undefined>

/** Reads the restore of a store. A store becomes one that was restored only while no process uses it, so most are asked once. */
export function createRestoreReader(store: Pick<Store, 'lastRestore'>): RestoreReader {
  let isOriginal = false
  return async () => {
    if (isOriginal) return undefined
    const restore = await store.lastRestore()
    isOriginal = restore === undefined
    return restore
  }
}
