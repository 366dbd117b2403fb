/**
 * Ends a standing authority at once, for running and waiting runs too, or restores it.
 * Source: docs/design/policies.md#standing-authority
 */
import { fail } from '../../base/failure.ts'
import { approverOf } from '../../spec/people/key.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './people/act.ts'

export const revokeStanding: OperatorAction<'POST /policies/revoke'> = async ({ services, operator, body, act }) => {
  const { store, workspace, clock, log } = services
  const { name, reason, undo = false } = body
  const agents = await agentsWith(services, name)
  // A misspelt name would silently end nothing.
  if (agents.length === 0)
    throw fail(
      'not_found',
      { what: `grant with svc/standing "${name}"` },
      { fix: 'Name it as the Policy document does.' },
    )
  const { revoked } = await store.workspaceHistory(workspace.id)
  const before = revoked.includes(name)
  const by = approverOf(operator)
  const recorded = act(undo ? 'standing.restored' : 'standing.ended', {
    subject: `standing authority "${name}"`,
    reason,
    setup: [`standing ${name}`],
  })
  await store
    .recording(recorded)
    .setStandingRevoked(workspace.id, { name, isRevoked: !undo, at: clock.now(), by, reason })
  log.write('info', undo ? 'A standing authority was restored.' : 'A standing authority was ended.', { name, by })
  return { name, revoked: !undo, changed: before === undo, agents }
}

/** Agents of which a version has a grant of this name, deployed or not: an older one may still run. */
async function agentsWith({ store, workspace }: ServerServices, name: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const agent of await store.agents(workspace.id)) {
    const versions = await store.versions(agent.id)
    const has = versions.some(({ snapshot }) =>
      snapshot.policies.entries.some(({ effect, obligations }) => effect === 'grant' && obligations.standing === name),
    )
    if (has) found.push(agent.name)
  }
  return found
}
