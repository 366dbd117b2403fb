/**
 * What one version may decide more loosely than another, for whoever may not get wider authority unasked.
 * Source: docs/design/steering.md#migrate
 */
import { agentIdOf } from '../../base/ids.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { LoadSnapshot } from './authority-reader.ts'
import type { ServerServices } from './services.ts'

/** What `to` may decide more loosely for some call, in sentences; undefined if every call is proven equal or tighter. */
export async function findLooserCalls(
  services: ServerServices,
  from: AgentSnapshot,
  to: AgentSnapshot,
): Promise<readonly string[] | undefined> {
  const looser = await services.authority?.looserCalls(from, to, snapshotLoader(services))
  return looser?.length === 0 ? undefined : (looser ?? []).map(({ say }) => say)
}

/** Loads published versions of the workspace by name and label. */
export const snapshotLoader =
  ({ store, workspace }: Pick<ServerServices, 'store' | 'workspace'>): LoadSnapshot =>
  async (id, version) =>
    (await store.versions(agentIdOf(workspace.name, id))).find(({ snapshot }) => snapshot.version === version)?.snapshot
