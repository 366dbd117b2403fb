/** Applies a batch of mailbox items to a session and saves what they change, in one store transaction. */
import type { Clock } from '../../base/clock.ts'
import { giveWay, startWork } from '../../base/event-loop.ts'
import { isFailure } from '../../base/failure.ts'
import type { Log } from '../../base/log.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { isLongCheck, workWithChecks } from '../../tools/check/check.ts'
import { takeUpdate, type LiveSession } from '../session/live-session.ts'
import type { EffectRecord } from '../../spec/effect.ts'
import type { TransitionContext } from '../transaction/context.ts'
import { UnreadEffects, type ReadEffects } from '../transaction/effect-ledger.ts'
import { planRoomOf } from './plan-room.ts'
import { openTransaction } from '../transaction/open-transaction.ts'
import type { SessionTransaction } from '../transaction/transaction.ts'
import type { EffectWaits } from './effect-waits.ts'
import { wholeEvents } from './events-in-memory.ts'
import { EVENT_PAGE } from './run-events.ts'
import type { SessionLeases } from './leases.ts'
import { toRunFailure, type MailboxItem, type SessionActor } from './mailbox.ts'
import type { SessionNotifier } from './notifier.ts'
import { publishOutput } from './output-text.ts'
import type { TimerScheduler } from './timers.ts'
import type { Session } from '../../spec/run/session.ts'
import type { SessionTree, SessionUpdate } from '../../store/session-update.ts'

export interface CommitParts {
  readonly store: SessionStore
  readonly clock: Clock
  readonly log: Log
  readonly notifier: SessionNotifier
  readonly timers: TimerScheduler
  readonly leases: SessionLeases
  readonly effectWaits: EffectWaits
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
 * @param historySeen version of the workspace's history that the context has counted
 * @returns undefined when another process had saved the session meanwhile, or another session had taken an effect key or
 * decided calls that count, or the plan of the workspace has no room for a completion: the items are back in the inbox, to be
 * applied to the state that is stored now
 * @throws Failure `state_not_saved` when the store refused the content; any error of the store
 */
export async function commitBatch(
  { store, clock, log, notifier, timers, leases, effectWaits }: CommitParts,
  actor: SessionActor,
  live: LiveSession,
  batch: readonly MailboxItem[],
  readContext: (effectsOf: ReadEffects) => TransitionContext,
  historySeen?: number,
): Promise<readonly AppliedItem[] | undefined> {
  const { tx, applied, tookLong } = await workWithEffects(store, clock, live, (effectsOf) =>
    workWithChecks(() => {
      const tookLong = startWork()
      return { ...applyBatch(log, live, readContext(effectsOf), batch), tookLong: tookLong() }
    }),
  )
  const whole = tx.toUpdate()
  const isBare = applied.some(({ item }) => item.isBareEnd)
  const made = whole && isBare ? toBareUpdate(whole, live.tree) : whole
  if (!made) {
    actor.planRoom = 'free'
    return applied
  }
  // Only decisions depend on counted calls.
  const update = historySeen === undefined || made.calls.length === 0 ? made : { ...made, historySeen }
  // After long work the save has much to write and takes long as well.
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
    const planRoom = planRoomOf(error)
    if (isFailure(error, 'lease_lost')) leases.drop(actor.id, actor.epoch)
    else if (planRoom) actor.planRoom = planRoom
    else if (!MOVED_ON.some((code) => isFailure(error, code))) throw error
    actor.live = undefined
    actor.inbox.unshift(...applied.map(({ item }) => item))
    return undefined
  }
  actor.planRoom = 'free'
  publishOutput(notifier, live, update, tx.now)
  takeUpdate(live, update, tx.now)
  // Memory has steps that were left out.
  if (isBare) actor.isStale = true
  const { lastSeq } = update.session
  const { events } = update
  notifier.notify(actor.id, lastSeq, {
    after: lastSeq - events.length,
    make: () => (events.length < EVENT_PAGE ? wholeEvents(live, events) : undefined),
  })
  timers.schedule(update)
  effectWaits.saved(update)
  return applied
}

/** The store has changed since the batch was applied: it is applied again. */
const MOVED_ON = ['run_moved_on', 'effect_taken', 'history_moved_on'] as const

/** Effect keys of one batch. A batch of calls has far fewer, so more of them is a bug that must not loop for ever. */
const MAX_KEYS = 10_000

/** Repeats the work with each effect key that it turns out to need: keys follow from arguments, which are known only from the batch. */
async function workWithEffects<T>(
  store: SessionStore,
  clock: Clock,
  { tree, lastAt }: LiveSession,
  work: (effectsOf: ReadEffects) => Promise<T>,
): Promise<T> {
  const known = new Map<string, readonly EffectRecord[]>()
  for (;;) {
    try {
      return await work((key) => known.get(key))
    } catch (error) {
      if (!(error instanceof UnreadEffects) || known.size >= MAX_KEYS) throw error
      known.set(error.key, await store.effectsOfKey(tree.session.workspaceId, error.key, Math.max(clock.now(), lastAt)))
    }
  }
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
        applied.push({ item, value: item.apply(item.isQuestion ? openTransaction(live.tree, context) : tx) })
        return false
      } catch (error) {
        if (isLongCheck(error) || error instanceof UnreadEffects) throw error
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

/**
 * An update that ends all runs of a session, without the steps and calls that come with it: those that are stored stay as they are. Tasks
 * are kept, since people see them, and the events by which readers learn of the end.
 */
function toBareUpdate(update: SessionUpdate, { session, runs }: SessionTree): SessionUpdate {
  const said = update.events.filter(({ kind }) => kind === 'run' || kind === 'session')
  const events = said.map((event, at) => ({ ...event, seq: session.lastSeq + at + 1 }))
  const counters: Pick<Session, 'lastSeq' | 'lastOrdinal' | 'output'> = {
    lastSeq: session.lastSeq + events.length,
    lastOrdinal: session.lastOrdinal,
    output: null,
  }
  return {
    ...update,
    session: { ...update.session, ...counters },
    runs: update.runs.map((run) => ({
      ...run,
      output: null,
      lastSequence: runs.find(({ id }) => id === run.id)?.lastSequence ?? 0,
    })),
    steps: [],
    closedSteps: [],
    calls: [],
    spends: [],
    events,
  }
}
