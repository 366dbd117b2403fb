/**
 * Agent and trigger of each session. They never change, so they are cached: polling a run reads only the run again.
 */
import type { AgentId, SessionId, TriggerId } from '../../base/ids.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { dropOldest } from '../../base/values/collections.ts'

export interface SessionScope {
  readonly agentId: AgentId
  /** Null = started by an operator. */
  readonly triggerId: TriggerId | null
}

export interface SessionScopes {
  of(session: SessionId): Promise<SessionScope | undefined>
  /** For a session that was just started: who started it soon reads it. */
  add(session: SessionId, scope: SessionScope): void
}

/** Cached sessions; the oldest are evicted first. */
const MAX_CACHED = 10_000

export function createSessionScopes(store: SessionStore): SessionScopes {
  const known = new Map<SessionId, SessionScope>()
  const add: SessionScopes['add'] = (id, scope) => {
    known.set(id, scope)
    dropOldest(known, MAX_CACHED)
  }
  return {
    add,
    async of(id) {
      const found = known.get(id)
      if (found) return found
      const session = await store.session(id)
      if (!session) return undefined
      const scope = { agentId: session.agentId, triggerId: session.triggerId }
      add(id, scope)
      return scope
    },
  }
}
