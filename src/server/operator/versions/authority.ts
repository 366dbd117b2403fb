/** The authority of versions, and the differences between two of them. Source: docs/design/bundles-and-authority.md#comparisons */
import type { ChangeView } from '../../../operations/versions.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import { compareVersions, readMatrix, snapshotLoader, type LoadSnapshot } from '../../runtime/authority.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { findAgent, findAskedVersion, findVersion } from '../find/find.ts'

export const getMatrix: OperatorAction<'GET /matrix'> = async ({ services, query }) => {
  const agent = await findAgent(services, query.agent)
  const version = await findAskedVersion(services, agent, query.version)
  const items = await readMatrix(version.snapshot)
  return { items, total: items.length }
}

export const getDifference: OperatorAction<'GET /difference'> = async ({ services, query }) => {
  const agent = await findAgent(services, query.agent)
  const [from, to] = [await findVersion(services, agent, query.from), await findVersion(services, agent, query.to)]
  const { breaking, widens, changes } = await compareVersions(from.snapshot, to.snapshot, snapshotLoader(services))
  return { breaking, widens, changes }
}

/** Compares a version with itself after `edit`, applied to it and to the agents that it pins. */
export async function compareEdited(
  services: ServerServices,
  snapshot: AgentSnapshot,
  edit: (snapshot: AgentSnapshot) => AgentSnapshot,
): Promise<{ readonly widens: boolean; readonly changes: readonly ChangeView[] }> {
  const load = snapshotLoader(services)
  const loadEdited: LoadSnapshot = async (id, version) => {
    const found = await load(id, version)
    return found && edit(found)
  }
  const { widens, changes } = await compareVersions(snapshot, edit(snapshot), load, loadEdited)
  return { widens, changes }
}

/** Authority that `to` has beyond `from`, in sentences; undefined if none. */
export async function findWider(
  services: ServerServices,
  from: AgentSnapshot,
  to: AgentSnapshot,
): Promise<readonly string[] | undefined> {
  const { widens, changes } = await compareVersions(from, to, snapshotLoader(services))
  return widens ? changes.filter((each) => each.widens).map(({ say }) => say) : undefined
}
