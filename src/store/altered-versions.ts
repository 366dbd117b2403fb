/**
 * Versions for whoever lists and replaces them. One that was altered in the database does not run, but it must hold up neither the
 * lists of all others nor what takes its place. Source: docs/design/trust.md#what-runs
 */
import { isFailure } from '../base/failure.ts'
import type { AgentId, VersionId } from '../base/ids.ts'
import type { Store } from './store.ts'
import type { AgentVersion } from './version-rows.ts'

/** @returns undefined for one that is missing, or was altered */
export async function intactVersion(store: Pick<Store, 'version'>, id: VersionId): Promise<AgentVersion | undefined> {
  try {
    return await store.version(id)
  } catch (error) {
    if (isFailure(error, 'version_altered')) return undefined
    throw error
  }
}

/** To name it only: what is said by the snapshot of one that was altered is nothing to believe. */
export const storedVersion = async (
  store: Pick<Store, 'version' | 'versions'>,
  agentId: AgentId,
  id: VersionId,
): Promise<AgentVersion | undefined> =>
  (await intactVersion(store, id)) ?? (await store.versions(agentId)).find((version) => version.id === id)
