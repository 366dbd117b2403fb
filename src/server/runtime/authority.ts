/**
 * What versions may do, and what one may do that another could not. Comparing is loaded on the first use: a server starts without it.
 * Source: docs/design/bundles-and-authority.md#comparisons
 */
import { agentIdOf } from '../../base/ids.ts'
import { finishInTurns } from '../../base/event-loop.ts'
import type { VersionDifference } from '../../authority/change.ts'
import type { AuthorityRow } from '../../operations/versions.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { ServerServices } from './services.ts'

/** A published version; undefined = it is missing. */
export type LoadSnapshot = (id: string, version: string) => Promise<AgentSnapshot | undefined>

/** Loads published versions of the workspace by name and label. */
export const snapshotLoader =
  ({ store, workspace }: Pick<ServerServices, 'store' | 'workspace'>): LoadSnapshot =>
  async (id, version) =>
    (await store.versions(agentIdOf(workspace.name, id))).find(({ snapshot }) => snapshot.version === version)?.snapshot

/** Every call that the version offers, with what decides it. */
export async function readMatrix(snapshot: AgentSnapshot): Promise<readonly AuthorityRow[]> {
  const { authorityMatrix } = await import('../../authority/matrix.ts')
  return authorityMatrix(snapshot)
}

/** What makes `to` another version than `from`, each with the agents that it pins. @param loadTo loads those of `to`; `load` by default */
export async function compareVersions(
  from: AgentSnapshot,
  to: AgentSnapshot,
  load: LoadSnapshot,
  loadTo = load,
): Promise<VersionDifference> {
  return (await compareLoaded(from, to, load, loadTo)).difference
}

/** What `to` may decide more loosely for some call, in sentences; undefined if every call is proven equal or tighter. */
export async function findLooserCalls(
  services: Pick<ServerServices, 'store' | 'workspace'>,
  from: AgentSnapshot,
  to: AgentSnapshot,
): Promise<readonly string[] | undefined> {
  const load = snapshotLoader(services)
  const { looserCalls } = await import('../../authority/looser-calls.ts')
  const { before, after, difference } = await compareLoaded(from, to, load, load)
  const looser = looserCalls(before, after, difference.changes)
  return looser.length === 0 ? undefined : looser.map(({ say }) => say)
}

async function compareLoaded(from: AgentSnapshot, to: AgentSnapshot, load: LoadSnapshot, loadTo: LoadSnapshot) {
  const [{ compareClosures }, { loadClosure }] = await Promise.all([
    import('../../authority/diff.ts'),
    import('../../authority/closure.ts'),
  ])
  const [before, after] = await Promise.all([loadClosure(from, load), loadClosure(to, loadTo)])
  return { before, after, difference: await finishInTurns(compareClosures(before, after)) }
}
