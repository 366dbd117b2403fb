/** A store that gives no version whose snapshot is not the one that was published. Source: docs/design/trust.md#what-runs */
import { fail } from '../../../base/failure.ts'
import { versionIdOf } from '../../../base/ids.ts'
import { digestOfSet } from '../../../policy/policy-set.ts'
import { digestOfSnapshot, type AgentSnapshot } from '../../../spec/snapshot.ts'
import type { Store } from '../../../store/store.ts'
import type { AgentVersion } from '../../../store/version-rows.ts'

/**
 * Each snapshot is checked once, when it is read from the database; the store keeps those that were read.
 * @param workspace name of the workspace, from which the ids of its versions are made
 */
export function withIntactVersions(store: Store, workspace: string): Store {
  const intact = new WeakSet<AgentSnapshot>()
  function check(version: AgentVersion | undefined): AgentVersion | undefined {
    if (!version || intact.has(version.snapshot)) return version
    const { id, snapshot } = version
    if (id !== versionIdOf(workspace, snapshot.id, snapshot.digest) || !isIntact(snapshot))
      throw fail('version_altered', { what: nameOf(version) })
    intact.add(snapshot)
    return version
  }
  return {
    ...store,
    version: async (id) => check(await store.version(id)),
    versionByDigest: async (workspaceId, digest) => check(await store.versionByDigest(workspaceId, digest)),
  }
}

/** What was changed may be the name. */
const nameOf = ({ id, snapshot }: AgentVersion): string =>
  typeof snapshot.id === 'string' && typeof snapshot.version === 'string'
    ? `${snapshot.id}@${snapshot.version}`
    : `Version ${id}`

function isIntact({ digest, ...content }: AgentSnapshot): boolean {
  try {
    return digestOfSnapshot(content) === digest && digestOfSet(content.policies) === content.policies.digest
  } catch {
    // It does not even have the shape of one.
    return false
  }
}
