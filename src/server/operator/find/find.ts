/** Finds agents, versions, triggers, keys, runs and tasks by what users write. */
import { fail, type Failure } from '../../../base/failure.ts'
import { isUuid, toAgentId, type KeyId, type RunId, type TaskId, type TriggerId } from '../../../base/ids.ts'
import type { ApiKey, OperatorKey, Trigger } from '../../../spec/people/key.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { TaskRecord } from '../../../spec/task.ts'
import type { AgentRow, AgentVersion } from '../../../store/version-rows.ts'
import type { ServerServices } from '../../runtime/services.ts'

/** @param reference id or `namespace.name` @throws Failure `not_found` */
export async function findAgent({ store, workspace }: ServerServices, reference: string): Promise<AgentRow> {
  const agent = await store.agent(toAgentId(workspace.name, reference))
  if (!agent || agent.workspaceId !== workspace.id) throw fail('not_found', { what: `agent "${reference}"` })
  return agent
}

/** @param label `metadata.version` @throws Failure `not_found` */
export async function findVersion({ store }: ServerServices, agent: AgentRow, label: string): Promise<AgentVersion> {
  const found = (await store.versions(agent.id)).find(({ snapshot }) => snapshot.version === label)
  if (!found) throw fail('not_found', { what: `version "${agent.name}@${label}"` })
  return found
}

/** @param label the deployed version where absent @throws Failure `not_found`, `no_deployed_version` */
export async function findAskedVersion(
  services: ServerServices,
  agent: AgentRow,
  label: string | undefined,
): Promise<AgentVersion> {
  if (label !== undefined) return await findVersion(services, agent, label)
  if (agent.deployedVersionId === null) throw fail('no_deployed_version', { agent: agent.name })
  const version = await services.store.version(agent.deployedVersionId)
  if (!version) throw notFoundFailure('version')
  return version
}

/** @param reference id or name of one of the agent's triggers @throws Failure `not_found` */
export async function findTriggerOf(
  { store, workspace }: ServerServices,
  agent: AgentRow,
  reference: string,
): Promise<Trigger> {
  const triggers = await store.triggers(workspace.id, agent.id)
  const found = triggers.find(({ id, name }) => id === reference.toLowerCase() || name === reference)
  if (!found) throw fail('not_found', { what: `trigger "${reference}" of ${agent.name}` })
  return found
}

export async function findTrigger({ store, workspace }: ServerServices, id: string): Promise<Trigger> {
  const trigger = isUuid(id) ? await store.trigger(id as TriggerId) : undefined
  if (trigger?.workspaceId !== workspace.id) throw notFoundFailure('trigger')
  return trigger
}

export async function findKey({ store, workspace }: ServerServices, id: string): Promise<ApiKey | OperatorKey> {
  const keys = [...(await store.keys(workspace.id)), ...(await store.operatorKeys(workspace.id))]
  const key = keys.find((each) => each.id === (id as KeyId))
  if (!key) throw notFoundFailure('key')
  return key
}

export async function findRun({ store, workspace }: ServerServices, id: string): Promise<Run> {
  const run = isUuid(id) ? await store.run(id as RunId) : undefined
  if (run?.workspaceId !== workspace.id) throw notFoundFailure('run')
  return run
}

/** @returns undefined if the workspace has no such task */
export async function taskById(
  { store, workspace }: ServerServices,
  id: string,
): Promise<{ readonly task: TaskRecord; readonly run: Run } | undefined> {
  const task = isUuid(id) ? await store.task(id as TaskId) : undefined
  const run = task && (await store.run(task.runId))
  return task && run?.workspaceId === workspace.id ? { task, run } : undefined
}

export const notFoundFailure = (what: string): Failure => fail('not_found', { what })
