/** Applies hints of other processes: reads changed sessions again if they are at work here, and takes free ones. */
import type { SessionId } from '../../base/ids.ts'
import type { SessionHint } from '../../store/lease.ts'
import type { InternalPosts } from './internal-posts.ts'
import type { SessionLeases } from './leases.ts'
import type { Mailboxes } from './mailbox.ts'
import type { SessionNotifier } from './notifier.ts'
import type { RestingSessions } from './resting-sessions.ts'

export interface HintParts {
  readonly mailboxes: Mailboxes
  readonly resting: RestingSessions
  readonly leases: SessionLeases
  readonly notifier: SessionNotifier
  readonly posts: InternalPosts
  /** Continues a session that was just taken. */
  readonly wake: (id: SessionId) => void
}

export async function applySessionHint(
  { mailboxes, resting, leases, notifier, posts, wake }: HintParts,
  hint: SessionHint,
): Promise<void> {
  if (hint === 'all') {
    resting.forgetAll()
    const ids = [...mailboxes.all()].map(({ id }) => id)
    for (const id of ids) void posts.readAgain(id)
    notifier.notifyAll()
    await leases.claimAll()
    return
  }
  const free: SessionId[] = []
  for (const id of hint.sessions) {
    // Readers do not wait for claims.
    notifier.notify(id)
    resting.forget(id)
    if (mailboxes.find(id) || leases.epochOf(id) !== undefined) void posts.readAgain(id)
    else if (hint.isFree) free.push(id)
  }
  if (free.length > 1) await leases.claimAll()
  else for (const id of free) if (leases.hasRoom() && (await leases.claimOne(id))) wake(id)
}
