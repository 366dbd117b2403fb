/** Published agents and versions. */
import { isoOrNull, toIsoText } from '../../../base/clock.ts'
import type { Digest } from '../../../base/digest.ts'
import { fail } from '../../../base/failure.ts'
import type { AgentView } from '../../../operations/versions.ts'
import type { AgentRow, AgentVersion } from '../../../store/version-rows.ts'
import { queryFailure } from '../../http/refuse.ts'
import { intactVersion, storedVersion } from '../../../store/altered-versions.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { notFoundFailure, findAgent, findVersion } from '../find/find.ts'

const DAY_MS = 86_400_000

export const listAgents: OperatorAction<'GET /agents'> = async ({ services, query }) => {
  const agents = await services.store.agents(services.workspace.id)
  const { usage = false } = query
  const items = await Promise.all(
    agents.map(async (agent) => ({
      ...(await toAgentView(services, agent)),
      ...(usage && (await usageOf(services, agent))),
    })),
  )
  return { items, total: items.length }
}

async function usageOf(
  { store, clock }: ServerServices,
  { id: agentId, workspaceId }: AgentRow,
): Promise<Required<Pick<AgentView, 'runsToday' | 'waiting' | 'lastRunAt'>>> {
  const filter = { workspaceId, agentId }
  const page = { skip: 0, take: 1 }
  const now = clock.now()
  const today = await store.runs({ ...filter, since: now - (now % DAY_MS) }, page)
  const waiting = await store.runs({ ...filter, waiting: true }, page)
  const [last] = (await store.runs(filter, page)).items
  return { runsToday: today.total, waiting: waiting.total, lastRunAt: last ? toIsoText(last.startedAt) : null }
}

/** Newest first. */
export const listVersions: OperatorAction<'GET /versions'> = async ({ services, query }) => {
  const agent = await findAgent(services, query.agent)
  const versions = [...(await services.store.versions(agent.id))].sort((a, b) => b.publishedAt - a.publishedAt)
  const items = versions.map(({ id, snapshot, publishedAt, publishedBy, message, yanked, yankReason }) => ({
    agentVersionId: id,
    versionLabel: snapshot.version,
    digest: snapshot.digest,
    publishedAt: toIsoText(publishedAt),
    publishedBy,
    ...(message !== undefined && { message }),
    deployed: id === agent.deployedVersionId,
    yanked,
    ...(yankReason !== undefined && { yankReason }),
  }))
  return { items, total: items.length }
}

export const getSnapshot: OperatorAction<'GET /snapshot'> = async ({ services, query }) => {
  const { agent: reference, version: label, digest } = query
  if (digest !== undefined) {
    const version = await services.store.versionByDigest(services.workspace.id, digest as Digest)
    if (!version) throw notFoundFailure('snapshot')
    return version.snapshot
  }
  if (reference === undefined) throw queryFailure('/agent', 'is required without digest')
  const agent = await findAgent(services, reference)
  const version = label === undefined ? await deployedOf(services, agent) : await findVersion(services, agent, label)
  if (!version) throw fail('no_deployed_version', { agent: agent.name })
  return version.snapshot
}

export const listDocuments: OperatorAction<'GET /documents'> = async ({ services, query }) => {
  const items = await services.store.documents(services.workspace.id, query.kind, query.id)
  return { items, total: items.length }
}

async function toAgentView(services: ServerServices, agent: AgentRow): Promise<AgentView> {
  const { store, workspace } = services
  const { deployedVersionId: id } = agent
  const named = id === null ? undefined : await storedVersion(store, agent.id, id)
  // Of a version that was altered in the database only its name is shown.
  const deployed = id === null ? undefined : await intactVersion(store, id)
  const triggers = await store.triggers(workspace.id, agent.id)
  const contract = deployed?.snapshot.inputContract
  const model = deployed?.snapshot.model
  return {
    agentId: agent.id,
    name: agent.name,
    deployed: named
      ? {
          versionLabel: named.snapshot.version,
          agentVersionId: named.id,
          expiresAt: isoOrNull(agent.deployedUntil),
        }
      : null,
    triggers: triggers.map(({ name }) => name),
    ...(model && { model: `${model.provider}/${model.name}` }),
    ...(contract !== undefined && { inputContract: contract }),
    tools: deployed?.snapshot.tools.map(({ id }) => id) ?? [],
  }
}

const deployedOf = async ({ store }: ServerServices, agent: AgentRow): Promise<AgentVersion | undefined> =>
  agent.deployedVersionId === null ? undefined : store.version(agent.deployedVersionId)
