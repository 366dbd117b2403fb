/**
 * Whether a session may continue with another root run, and what that run inherits.
 * Source: docs/design/steering.md#a-conversation-goes-on
 */
import type { Instant } from '../base/clock.ts'
import { fail } from '../base/failure.ts'
import type { SessionId } from '../base/ids.ts'
import { isTerminal, type Run, type RunUsage } from '../spec/run/run.ts'
import type { Session } from '../spec/run/session.ts'
import type { RunStep } from '../spec/step.ts'
import type { SessionTree } from '../store/session-update.ts'
import type { AgentVersion } from '../store/version-rows.ts'
import { addCountedCalls } from './drive/transition-context.ts'
import { sessionGrants } from './limits/limits.ts'
import type { EngineParts } from './interface/engine.ts'
import { createLive, type LiveSession } from './session/live-session.ts'
import { MAX_MESSAGES, roomForEarlier } from './prompt/earlier.ts'
import { readSaid } from './drive/load-live.ts'
import { createVersions } from './session/versions.ts'

/** @throws Failure `not_found`, `session_not_ended`, `session_erased` */
export async function checkContinuable({ store }: EngineParts, id: SessionId): Promise<Session> {
  const session = await store.session(id)
  if (!session) throw fail('not_found', { what: 'session' })
  if (session.erasedAt !== undefined) throw fail('session_erased')
  if (!isTerminal(session.status)) throw fail('session_not_ended', { status: session.status })
  return session
}

/** The session as the next root run finds it. */
export interface ContinuedSession {
  readonly tree: SessionTree
  /** What was said in all its root runs, as far back as a prompt may reach. */
  readonly said: readonly RunStep[]
  readonly calls: LiveSession['calls']
  /** Newest time recorded. */
  readonly lastAt: Instant
  /** What the usage of the next root run begins with. */
  readonly inherited: Pick<RunUsage, 'tainted' | 'grants'>
}

/** @throws Failure `not_found`, `session_not_ended`, `session_erased`, `session_limit_reached` */
export async function loadContinued(
  parts: EngineParts,
  id: SessionId,
  version: AgentVersion,
): Promise<ContinuedSession> {
  const { store, clock } = parts
  const { workspaceId } = await checkContinuable(parts, id)
  const tree = await store.load(id)
  if (!tree) throw fail('not_found', { what: 'session' })
  const { session, runs } = tree
  const working = runs.find((run: Run) => run.state.at !== 'done')
  if (working) throw fail('session_not_ended', { status: working.status })
  const most = version.snapshot.sessionLimits?.runs
  if (most !== undefined && session.runCount >= most)
    throw fail('session_limit_reached', { limit: 'svc/max-runs-per-session', value: most })
  const room = roomForEarlier(version.snapshot, parts.providers.terms(version.snapshot.model))
  const [said, calls, last] = await Promise.all([
    readSaid(store, tree, session.lastOrdinal + 1, { messages: MAX_MESSAGES, tokens: room }),
    store.calls({ sessionId: id, runIds: runs.map((run) => run.id) }),
    store.stepsAfter(id, session.lastOrdinal - 1, 1),
  ])
  const live = createLive(tree, last, calls, createVersions(parts, new Map(), workspaceId), { said })
  await addCountedCalls(store, clock, live, [version])
  const newest = runs.find((run: Run) => run.id === session.rootRunId)
  // Untrusted content read by an earlier run may reach the next one through its answer.
  const tainted = runs.some(({ usage }) => usage.tainted)
  return { tree, said, calls: live.calls, lastAt: live.lastAt, inherited: { tainted, grants: sessionGrants(newest) } }
}
