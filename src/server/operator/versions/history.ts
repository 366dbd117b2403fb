/** Published files as they were written, and the history of deployments. */
import { isoOrNull, toIsoText } from '../../../base/clock.ts'
import { queryFailure } from '../../http/refuse.ts'
import type { OperatorAction } from '../people/act.ts'
import { findAgent, notFoundFailure } from '../find/find.ts'
import { versionNamed } from '../policy/edits.ts'

/** Deployments in one answer. */
const MAX_DEPLOYMENTS = 200

export const getSources: OperatorAction<'GET /sources'> = async ({ services, query }) => {
  const { kind = 'Agent', id } = query
  const member = kind === 'Agent' ? await agentMember(services, query) : documentMember(kind, id, query.version)
  const kept = await services.store.sources(services.workspace.id, member)
  if (!kept) throw notFoundFailure(`text of ${member.id}@${member.version}: it was published without its documents`)
  return { id: member.id, version: member.version, ...kept }
}

type Named = Parameters<typeof getSources>[0]

async function agentMember(services: Named['services'], { id, version }: Named['query']) {
  const { snapshot } = await versionNamed(services, { agent: id, version })
  return { kind: 'Agent' as const, id: snapshot.id, version: snapshot.version }
}

function documentMember(kind: 'Tool' | 'Policy', id: string, version: string | undefined) {
  if (version === undefined) throw queryFailure('/version', 'is required for a Tool or Policy')
  return { kind, id, version }
}

export const listDeployments: OperatorAction<'GET /deployments'> = async ({ services, query }) => {
  const { store } = services
  const agent = await findAgent(services, query.agent)
  const labels = new Map((await store.versions(agent.id)).map(({ id, snapshot }) => [id, snapshot.version]))
  const rows = await store.deployments(agent.id, MAX_DEPLOYMENTS)
  const items = rows.map(({ versionId, fromVersionId, at, by, message = null, expiresAt }) => ({
    versionLabel: labels.get(versionId) ?? versionId,
    agentVersionId: versionId,
    from: fromVersionId === null ? null : (labels.get(fromVersionId) ?? fromVersionId),
    at: toIsoText(at),
    by,
    message,
    expiresAt: isoOrNull(expiresAt),
  }))
  return { items, total: items.length }
}
