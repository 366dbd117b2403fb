/** The authority of versions, and the differences between two of them. Source: docs/design/bundles-and-authority.md#comparisons */
import { fail } from '../../../base/failure.ts'
import type { ChangeView } from '../../../spec/operator/publication.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import type { AuthorityReader, LoadSnapshot } from '../../runtime/authority-reader.ts'
import { snapshotLoader } from '../../runtime/looser-calls.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { findAgent, findAskedVersion, findVersion } from '../find/find.ts'

export const getMatrix: OperatorAction<'GET /matrix'> = async ({ services, query }) => {
  const reader = readerOf(services)
  const agent = await findAgent(services, query.agent)
  const version = await findAskedVersion(services, agent, query.version)
  const items = await reader.matrix(version.snapshot)
  return { items, total: items.length }
}

export const getDifference: OperatorAction<'GET /difference'> = async ({ services, query }) => {
  const reader = readerOf(services)
  const agent = await findAgent(services, query.agent)
  const [from, to] = [await findVersion(services, agent, query.from), await findVersion(services, agent, query.to)]
  const { breaking, widens, changes } = await reader.difference(from.snapshot, to.snapshot, snapshotLoader(services))
  return { breaking, widens, changes }
}

/** Compares a version with itself after `edit`, applied to it and to the agents that it pins. Undefined without the compiler. */
export async function compareEdited(
  services: ServerServices,
  snapshot: AgentSnapshot,
  edit: (snapshot: AgentSnapshot) => AgentSnapshot,
): Promise<{ readonly widens: boolean; readonly changes: readonly ChangeView[] } | undefined> {
  const { authority } = services
  if (!authority) return undefined
  const load = snapshotLoader(services)
  const loadEdited: LoadSnapshot = async (id, version) => {
    const found = await load(id, version)
    return found && edit(found)
  }
  const { widens, changes } = await authority.difference(snapshot, edit(snapshot), load, loadEdited)
  return { widens, changes }
}

/**
 * Authority that `to` has beyond `from`, in sentences; undefined if none. Empty without the compiler, because the
 * difference is then unknown.
 */
export async function findWider(
  services: ServerServices,
  from: AgentSnapshot,
  to: AgentSnapshot,
): Promise<readonly string[] | undefined> {
  const { authority } = services
  if (!authority) return []
  const { widens, changes } = await authority.difference(from, to, snapshotLoader(services))
  return widens ? changes.filter((each) => each.widens).map(({ say }) => say) : undefined
}

function readerOf({ authority }: ServerServices): AuthorityReader {
  if (!authority) throw fail('not_found', { what: 'view of authority: this server was opened without the compiler' })
  return authority
}
