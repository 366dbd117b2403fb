/** Applies a batch of mailbox items to a session and saves what they change, in one store transaction. */
import { giveWay, startWork } from '../../base/event-loop.ts'
import { isFailure } from '../../base/failure.ts'
import type { Log } from '../../base/log.ts'
import type { Store } from '../../store/store.ts'
import { isLongCheck, workWithChecks } from '../../tools/check.ts'
import { takeUpdate, type LiveSession } from '../session/live-session.ts'
import type { TransitionContext } from '../session/context.ts'
import { openTransaction } from '../session/open-transaction.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { EVENT_PAGE } from './follow.ts'
import { freshEvents } from './fresh-events.ts'
import type { SessionLeases } from './leases.ts'
import { toRunFailure, type MailboxItem, type SessionActor } from './mailbox.ts'
import type { SessionNotifier } from './notifier.ts'
import { publishOutput } from './output-text.ts'
import type { TimerScheduler } from './timers.ts'

export interface CommitParts {
  readonly store: Store
  readonly log: Log
  readonly notifier: SessionNotifier
  readonly timers: TimerScheduler
  readonly leases: SessionLeases
}

/** An item that was applied, and what it answered. */
export interface AppliedItem {
  readonly item: MailboxItem
  readonly value: unknown
}

/**
 * Applies a batch in order, saves the result, and tells readers and the timer queue. A process that performs the effects of the
 * session saves as the holder of its lease, and takes the lease with the save where it has none.
 * @param readContext called again where an item has to be applied again
 * @returns undefined when another process had saved the session meanwhile: the items are back in the inbox, to be applied to
 * what is stored now
 * @throws Failure `state_not_saved` when the store refused the content; any error of the store
 */
export async function commitBatch(
  { store, log, notifier, timers, leases }: CommitParts,
  actor: SessionActor,
  live: LiveSession,
  batch: readonly MailboxItem[],
  readContext: () => TransitionContext,
): Promise<readonly AppliedItem[] | undefined> {
  const { tx, applied, tookLong } = await workWithChecks(() => {
    const tookLong = startWork()
    return { ...applyBatch(log, live, readContext(), batch), tookLong: tookLong() }
  })
  const update = tx.toUpdate()
  if (!update) return applied
  // A save writes what the work made, which then takes long as well.
  if (tookLong) await giveWay()
  const holder = actor.maySend ? leases.holderOf(actor.epoch) : undefined
  const askedAt = leases.now()
  try {
    const lease = await store.save(update, holder)
    if (lease && actor.epoch === undefined) leases.keep(lease, askedAt)
    else if (!lease) leases.drop(actor.id, actor.epoch)
    actor.epoch = lease?.epoch
    leases.sawVersion(actor.id, update.session.version + 1)
  } catch (error) {
    if (isFailure(error, 'lease_lost')) leases.drop(actor.id, actor.epoch)
    else if (!isFailure(error, 'run_moved_on')) throw error
    actor.live = undefined
    actor.inbox.unshift(...applied.map(({ item }) => item))
    return undefined
  }
  publishOutput(notifier, live, update, tx.now)
  takeUpdate(live, update, tx.now)
  const { lastSeq } = update.session
  const { events } = update
  notifier.notify(actor.id, lastSeq, {
    after: lastSeq - events.length,
    make: () => (events.length < EVENT_PAGE ? freshEvents(live, events) : undefined),
  })
  timers.schedule(update)
  return applied
}

/** An item that cannot be applied is a bug of ours: the run it concerns fails, and the others are applied to a fresh transaction. */
function applyBatch(
  log: Log,
  live: LiveSession,
  context: TransitionContext,
  batch: readonly MailboxItem[],
): { readonly tx: SessionTransaction; readonly applied: readonly AppliedItem[] } {
  let items = [...batch]
  for (;;) {
    const tx = openTransaction(live.tree, context)
    const applied: AppliedItem[] = []
    const failed = items.find((item) => {
      try {
        applied.push({ item, value: item.apply(tx) })
        return false
      } catch (error) {
        if (isLongCheck(error)) throw error
        if (!isFailure(error))
          log.write('error', 'A change to a session could not be applied.', {
            sessionId: live.tree.session.id,
            error: String(error),
          })
        item.reject(error)
        return true
      }
    })
    if (!failed) return { tx, applied }
    items = items.flatMap((item) => (item === failed ? toRunFailure(item) : [item]))
  }
}
