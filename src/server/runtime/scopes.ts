/**
 * What a session belongs to. It never changes, so it is read once: of a run that is polled, only the run is read again.
 */
import type { AgentId, SessionId, TriggerId } from '../../base/ids.ts'
import type { Store } from '../../store/store.ts'

export interface SessionScope {
  readonly agentId: AgentId
  /** Null = started by an operator. */
  readonly triggerId: TriggerId | null
}

export interface SessionScopes {
  of(session: SessionId): Promise<SessionScope | undefined>
}

/** Sessions that are remembered; the oldest go first. */
const MOST = 10_000

export function createScopes(store: Store): SessionScopes {
  const known = new Map<SessionId, SessionScope>()
  return {
    async of(id) {
      const found = known.get(id)
      if (found) return found
      const session = await store.session(id)
      if (!session) return undefined
      const scope = { agentId: session.agentId, triggerId: session.triggerId }
      known.set(id, scope)
      if (known.size > MOST) known.delete(known.keys().next().value!)
      return scope
    },
  }
}
