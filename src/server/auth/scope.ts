/** What a key may reach. Existence is told before scope, and other workspaces do not exist. Source: decisions, section 3. */
import { fail } from '../../base/failure.ts'
import { isUuid, type AgentId, type RunId } from '../../base/ids.ts'
import type { Run } from '../../spec/run.ts'
import type { AgentRow } from '../../store/store.ts'
import type { KeyPrincipal } from './auth.ts'
import type { ServerServices } from '../runtime/services.ts'

/** @throws Failure `not_found`, `agent_out_of_scope` */
export async function agentInScope({ store }: ServerServices, principal: KeyPrincipal, id: string): Promise<AgentRow> {
  const agent = isUuid(id) ? await store.agent(id.toLowerCase() as AgentId) : undefined
  if (!agent || agent.workspaceId !== principal.workspaceId) throw fail('not_found', { what: 'agent' })
  if (agent.id !== principal.agentId) throw fail('agent_out_of_scope')
  return agent
}

/**
 * The run belongs to a session of the key's agent and, where a trigger started it, to the key's trigger. Runs of sub-agents
 * are reached through the session's root agent.
 * @throws Failure `not_found`, `run_out_of_scope`
 */
export async function runInScope({ store, scopes }: ServerServices, principal: KeyPrincipal, id: string): Promise<Run> {
  const run = isUuid(id) ? await store.run(id.toLowerCase() as RunId) : undefined
  const scope = run && run.workspaceId === principal.workspaceId ? await scopes.of(run.sessionId) : undefined
  if (!run || !scope) throw fail('not_found', { what: 'run' })
  if (scope.agentId !== principal.agentId) throw fail('run_out_of_scope')
  if (scope.triggerId !== null && scope.triggerId !== principal.triggerId) throw fail('run_out_of_scope')
  return run
}
