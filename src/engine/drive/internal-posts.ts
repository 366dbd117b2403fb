/** Posts of the driver itself to mailboxes. Nobody waits for them; failures are logged where they are applied or saved. */
import type { RunId, SessionId } from '../../base/ids.ts'
import { advanceRun } from '../machine/advance.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import type { SessionTransaction } from '../transaction/transaction.ts'
import type { DriverLifecycle, Mailboxes, MailboxOptions } from './mailbox.ts'

/** Its promises resolve when the post is applied, or cannot be; they never reject. */
export interface InternalPosts {
  /** Posts the outcome of an effect, also while the driver closes. */
  readonly event: (
    sessionId: SessionId,
    runId: RunId,
    event: RunTransitionEvent,
    options?: MailboxOptions,
  ) => Promise<void>
  /** Posts a change that a closing driver does not need. */
  readonly eventIfOpen: (sessionId: SessionId, runId: RunId, event: RunTransitionEvent) => Promise<void>
  /** Continues a session that has work in flight, or had when an earlier process ended. */
  readonly wake: (sessionId: SessionId) => Promise<void>
  /** Continues a session once it was read again. */
  readonly readAgain: (sessionId: SessionId) => Promise<void>
  /** Lets the waiting runs of these sessions look again at what they wait for, in turn. */
  readonly reconsider: (sessionIds: Iterable<SessionId>) => Promise<void>
}

export function createInternalPosts(mailboxes: Mailboxes, lifecycle: DriverLifecycle): InternalPosts {
  const isOpen = (): boolean => lifecycle.phase === 'open'

  async function event(
    sessionId: SessionId,
    runId: RunId,
    happened: RunTransitionEvent,
    options: MailboxOptions = {},
  ): Promise<void> {
    await mailboxes.post(sessionId, (tx) => advanceRun(tx.run(runId), happened), { ...options, runId }).catch(ignore)
  }

  async function wake(sessionId: SessionId): Promise<void> {
    if (isOpen()) await mailboxes.post(sessionId, ignore, { retrySave: true }).catch(ignore)
  }

  return {
    event,
    async eventIfOpen(sessionId, runId, happened) {
      if (isOpen()) await event(sessionId, runId, happened, { retrySave: true })
    },
    wake,
    readAgain(sessionId) {
      mailboxes.markStale(sessionId)
      return wake(sessionId)
    },
    async reconsider(sessionIds) {
      const lookAgain = (tx: SessionTransaction): void => {
        for (const { id } of tx.runs()) advanceRun(tx.run(id), { type: 'admitted' })
      }
      for (const id of sessionIds) {
        if (!isOpen()) return
        await mailboxes.post(id, lookAgain, { retrySave: true }).catch(ignore)
      }
    },
  }
}

function ignore(): void {}
