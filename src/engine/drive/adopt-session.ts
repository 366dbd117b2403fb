/** Takes a session over that this process has just started: its state is known, so nothing is read. */
import { FIRST_EPOCH } from '../../store/lease.ts'
import type { SessionTree, SessionUpdate } from '../../store/session-update.ts'
import { createLive, takeUpdate } from '../session/live-session.ts'
import type { VersionLookup } from '../session/versions.ts'
import type { LeaseStart, SessionLeases } from './leases.ts'
import type { Mailboxes } from './mailbox.ts'
import type { SessionNotifier } from './notifier.ts'
import type { TimerScheduler } from './timers.ts'

export interface AdoptionParts {
  /** False where the start gave this process no lease. */
  readonly maySend: boolean
  readonly mailboxes: Mailboxes
  readonly leases: SessionLeases
  readonly notifier: SessionNotifier
  readonly timers: TimerScheduler
  readonly versionsOf: (tree: SessionTree) => VersionLookup
}

/** @param askedAt time before the store was asked to start it; its lease counts from then */
export function adoptSession(
  { mailboxes, leases, notifier, timers, versionsOf, maySend }: AdoptionParts,
  update: SessionUpdate,
  askedAt: LeaseStart,
): void {
  const { id, lastSeq, startedAt } = update.session
  if (maySend && update.busy) leases.keep({ sessionId: id, epoch: FIRST_EPOCH }, askedAt)
  const actor = mailboxes.actorOf(id)
  actor.maySend = maySend
  actor.epoch = leases.epochOf(id)
  const tree: SessionTree = { session: { ...update.session, version: 0 }, runs: [], tasks: [] }
  const live = createLive(tree, [], [], versionsOf(tree))
  takeUpdate(live, update, startedAt)
  actor.live = live
  notifier.notify(id, lastSeq)
  timers.schedule(update)
  actor.inbox.push({ apply: ignore, resolve: ignore, reject: ignore })
  // The caller that started the run is answered first, in this turn of the event loop.
  setImmediate(() => {
    if (actor.inbox.length > 0) mailboxes.process(actor)
  })
}

function ignore(): void {}
