/** Reads a session for its actor, and finds out whether this process performs its effects. */
import type { RunId } from '../../base/ids.ts'
import type { SessionTree } from '../../store/session-update.ts'
import { advanceRun } from '../machine/advance.ts'
import { loadLive } from './load-live.ts'
import type { VersionLookup } from '../session/versions.ts'
import { holdSession, type HoldingParts } from './hold-session.ts'
import type { MailboxItem, SessionActor } from './mailbox.ts'

/**
 * Leaves `actor.live` undefined for a session that is not there. Calls that an earlier holder sent are put first into the inbox, to be
 * recovered before anything else is applied.
 */
export async function loadSession(
  holding: HoldingParts,
  versionsOf: (tree: SessionTree) => VersionLookup,
  actor: SessionActor,
): Promise<void> {
  actor.isStale = false
  actor.storedVersion = 0
  actor.live = undefined
  const live = await loadLive(holding.parts.store, actor.id, versionsOf)
  if (live) Object.assign(actor, await holdSession(holding, live))
  actor.live = live
  // Drops checks from an earlier reading, when this process was about to take the session: its present holder may be making those calls.
  actor.inbox = actor.inbox.filter(({ isRecovery }) => isRecovery !== true)
  // A session held by another process is recovered by that process, one held by a restore when it is released.
  if (!actor.live || !actor.maySend) return
  const inFlight = new Set(actor.inFlight.keys())
  const unfinished = actor.live.tree.runs.filter(({ state }) => state.at !== 'done')
  actor.inbox.unshift(...unfinished.map(({ id }) => toRecovery(id, inFlight)))
}

/** The check of a run with calls that an earlier process may have sent. */
const toRecovery = (runId: RunId, inFlight: ReadonlySet<string>): MailboxItem => ({
  runId,
  retrySave: true,
  isRecovery: true,
  apply: (tx) => advanceRun(tx.run(runId), { type: 'woken', inFlight }),
  resolve: ignore,
  reject: ignore,
})

function ignore(): void {}
