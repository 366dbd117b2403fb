/**
 * Whether this process performs the effects of a session: it holds the lease, or takes it.
 * Source: docs/design/several-processes.md#lease-and-epoch
 */
import type { EngineParts } from '../interface/engine.ts'
import type { LiveSession } from '../session/live-session.ts'
import { hasWork } from '../transaction/open-transaction.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { SessionLeases } from './leases.ts'
import type { DriverLifecycle, SessionActor } from './mailbox.ts'

export interface HoldingParts {
  readonly parts: EngineParts
  readonly leases: SessionLeases
  readonly lifecycle: DriverLifecycle
}

/** Whether this process holds a session that was just read, takes it now, or takes it with the next save. */
export async function holdSession(
  { parts, leases, lifecycle }: HoldingParts,
  { tree, heldBy, isHeld }: LiveSession,
): Promise<Pick<SessionActor, 'maySend' | 'epoch'>> {
  const { id, version } = tree.session
  if (heldBy !== parts.worker) leases.drop(id, leases.epochOf(id))
  if (parts.sends === false || isHeld) return NOT_OURS
  if (leases.epochOf(id) === undefined) {
    if (lifecycle.phase !== 'open' || !leases.mayClaim() || (heldBy !== undefined && heldBy !== parts.worker))
      return NOT_OURS
    // A session that is not busy is taken in the same transaction as the save that makes it busy.
    if (!hasWork(tree.runs)) return { maySend: true, epoch: undefined }
    if (!(await leases.claimOne(id))) return NOT_OURS
  }
  leases.sawVersion(id, version)
  return { maySend: true, epoch: leases.epochOf(id) }
}

const NOT_OURS = { maySend: false, epoch: undefined }

/** Takes a session that this process has changed without holding it, unless another one works on it. */
export async function takeOver({ parts, leases, lifecycle }: HoldingParts, live: LiveSession): Promise<boolean> {
  if (parts.sends === false || live.isHeld || lifecycle.phase !== 'open' || !hasWork(live.tree.runs)) return false
  const { id } = live.tree.session
  return leases.claimOne(id).catch((error: unknown) => {
    // The change is stored: whoever looks for free sessions next takes it.
    if (!isStoreAway(error))
      parts.log.write('warn', 'A session could not be taken over.', { sessionId: id, error: String(error) })
    return false
  })
}
