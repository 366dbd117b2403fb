/** GET /graph: what a version reaches. Source: docs/design/console.md#screens */
import type { BoundAgent } from '../../../spec/snapshot.ts'
import { bundleGraph } from '../../../view/bundle-graph.ts'
import { intactVersion } from '../../../store/altered-versions.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { findAgent, findAskedVersion } from '../find/find.ts'

export const getGraph: OperatorAction<'GET /graph'> = async ({ services, query }) => {
  const agent = await findAgent(services, query.agent)
  const version = await findAskedVersion(services, agent, query.version)
  return await bundleGraph(version.snapshot, (bound) => childOf(services, bound))
}

/** A late-bound delegation reaches what is deployed now. */
async function childOf(services: ServerServices, { id, version, lateBound }: BoundAgent) {
  const agent = await findAgent(services, id).catch(() => undefined)
  if (!agent) return undefined
  if (!lateBound && version !== undefined)
    return (await services.store.versions(agent.id)).find(({ snapshot }) => snapshot.version === version)?.snapshot
  return agent.deployedVersionId === null
    ? undefined
    : (await intactVersion(services.store, agent.deployedVersionId))?.snapshot
}
