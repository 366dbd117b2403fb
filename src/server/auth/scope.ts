/**
 * What a caller may reach: a key its own agent and trigger, an operator everything in the workspace. A missing resource is
 * reported before one out of scope; resources of other workspaces count as missing. Source: docs/design/http.md#scope
 */
import { fail } from '../../base/failure.ts'
import { isUuid, toAgentId, type AgentId, type RunId, type SessionId, type TriggerId } from '../../base/ids.ts'
import type { Run } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { ApiPrincipal } from './auth.ts'
import type { ServerServices } from '../runtime/services.ts'

/** @param reference id or `namespace.name` @throws Failure `not_found`, `agent_out_of_scope` */
export async function agentInScope(
  { store, workspace }: ServerServices,
  principal: ApiPrincipal,
  reference: string,
): Promise<AgentId> {
  const id = toAgentId(workspace.name, reference)
  // An agent is never deleted, so the one of a key is there.
  if (principal.type === 'api_key' && id === principal.agentId) return id
  const agent = await store.agent(id)
  if (!agent || agent.workspaceId !== principal.workspaceId) throw fail('not_found', { what: 'agent' })
  if (principal.type === 'api_key' && agent.id !== principal.agentId) throw fail('agent_out_of_scope')
  return agent.id
}

/**
 * For a key the run must belong to a session of the key's agent and, where a trigger started it, to the key's trigger. Runs
 * of sub-agents are reached through the session's root agent.
 * @throws Failure `not_found`, `run_out_of_scope`
 */
export async function runInScope({ store, scopes }: ServerServices, principal: ApiPrincipal, id: string): Promise<Run> {
  const run = isUuid(id) ? await store.run(id.toLowerCase() as RunId) : undefined
  const scope = run && run.workspaceId === principal.workspaceId ? await scopes.of(run.sessionId) : undefined
  if (!run || !scope) throw fail('not_found', { what: 'run' })
  if (principal.type === 'operator') return run
  if (scope.agentId !== principal.agentId) throw fail('run_out_of_scope')
  if (scope.triggerId !== null && scope.triggerId !== principal.triggerId) throw fail('run_out_of_scope')
  return run
}

/**
 * For a key the session must be of the key's agent and, where a trigger started it, of the key's trigger.
 * @throws Failure `not_found`, `run_out_of_scope`
 */
export async function sessionInScope({ store }: ServerServices, principal: ApiPrincipal, id: string): Promise<Session> {
  const session = isUuid(id) ? await store.session(id.toLowerCase() as SessionId) : undefined
  if (session?.workspaceId !== principal.workspaceId) throw fail('not_found', { what: 'session' })
  if (principal.type === 'operator') return session
  if (session.agentId !== principal.agentId) throw fail('run_out_of_scope')
  if (session.triggerId !== null && session.triggerId !== principal.triggerId) throw fail('run_out_of_scope')
  return session
}

/**
 * The triggers whose sessions a caller lists with content, null for sessions that no trigger started. Sessions of another
 * trigger are listed without content if either trigger hides its timeline; a deleted trigger counts as hiding it.
 * Source: docs/design/http.md#scope
 */
export async function shownTriggers(
  { store }: ServerServices,
  principal: ApiPrincipal,
): Promise<ReadonlySet<TriggerId | null> | 'all'> {
  if (principal.type === 'operator') return 'all'
  const { triggerId: own, exposeTimeline, workspaceId, agentId } = principal
  if (!exposeTimeline) return new Set([own])
  const triggers = await store.triggers(workspaceId, agentId)
  return new Set([own, null, ...triggers.filter((each) => each.exposeTimeline).map(({ id }) => id)])
}

/** The root run of a session that the key lists with content although another trigger started it; else undefined. */
export async function listedInScope(
  services: ServerServices,
  principal: ApiPrincipal,
  id: string,
): Promise<Run | undefined> {
  if (principal.type === 'operator') return undefined
  const run = isUuid(id) ? await services.store.run(id.toLowerCase() as RunId) : undefined
  const scope = run?.workspaceId === principal.workspaceId ? await services.scopes.of(run.sessionId) : undefined
  if (!run || run.parentRunId !== null || scope?.agentId !== principal.agentId) return undefined
  if (scope.triggerId === null || scope.triggerId === principal.triggerId) return undefined
  const shown = await shownTriggers(services, principal)
  return shown === 'all' || shown.has(scope.triggerId) ? run : undefined
}
