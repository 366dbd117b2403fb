/** Whether a session may continue with another root run, and what that run inherits. Source: decisions, section 17. */
import { fail } from '../base/failure.ts'
import type { SessionId } from '../base/ids.ts'
import { isTerminal, type Run } from '../spec/run.ts'
import type { Session } from '../spec/session.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'
import type { EngineParts } from './session/engine.ts'
import { loadLive, type LiveSession } from './session/live-session.ts'
import { createVersions } from './session/versions.ts'

/** @throws Failure `not_found`, `session_not_ended`, `session_erased` */
export async function checkContinuable({ store }: EngineParts, id: SessionId): Promise<Session> {
  const session = await store.session(id)
  if (!session) throw fail('not_found', { what: 'session' })
  if (session.erasedAt !== undefined) throw fail('session_erased')
  if (!isTerminal(session.status)) throw fail('session_not_ended', { status: session.status })
  return session
}

/**
 * The session as the next root run finds it.
 * @throws Failure `not_found`, `session_not_ended`, `session_erased`, `session_limit_reached`
 */
export async function loadContinued(
  parts: EngineParts,
  id: SessionId,
  { sessionLimits }: AgentSnapshot,
): Promise<{ readonly live: LiveSession; readonly tainted: boolean }> {
  const { workspaceId } = await checkContinuable(parts, id)
  const live = await loadLive(parts.store, id, () => createVersions(parts.store, new Map(), workspaceId))
  if (!live) throw fail('not_found', { what: 'session' })
  const { runs } = live.tree
  const working = runs.find((run: Run) => run.state.at !== 'done')
  if (working) throw fail('session_not_ended', { status: working.status })
  const most = sessionLimits?.runs
  if (most !== undefined && runs.length >= most)
    throw fail('session_limit_reached', { limit: 'svc/max-runs-per-session', value: most })
  // Untrusted content read by an earlier run may reach the next one through its answer.
  return { live, tainted: runs.some(({ usage }) => usage.tainted) }
}
