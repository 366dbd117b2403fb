/** Mailboxes of sessions: changes to one session are applied one batch after another, those of different sessions side by side. */
import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { RunId, SessionId, VersionId } from '../../base/ids.ts'
import { advanceRun } from '../machine/advance.ts'
import type { PlanRoom } from '../transaction/context.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { SessionTransaction } from '../transaction/transaction.ts'
import type { EffectInFlight } from '../effects/effect-in-flight.ts'

/** A change to a session that waits to be applied and saved. */
export interface MailboxItem {
  readonly apply: (tx: SessionTransaction) => unknown
  /** The run that fails when this cannot be applied; absent where only the caller is concerned. */
  readonly runId?: RunId | undefined
  /** `RunEffect.key` of the effect that had this outcome. */
  readonly effectKey?: string | undefined
  /** True if the item must survive a failed save: it is tried again. For other items, the caller gets the error and may ask again. */
  readonly retrySave?: boolean | undefined
  /** Runs that it concerns, which may have ended long ago: they are read before this is applied. */
  readonly about?: readonly RunId[]
  /** Versions that runs are about to execute: they are read before this is applied. */
  readonly versions?: readonly VersionId[]
  /** True for the check of calls that an earlier process sent: no effect starts before all of these are applied. */
  readonly isRecovery?: boolean
  /** True for a timer, which is applied after everything that arrived with it: an answer of that moment wins over its time-out. */
  readonly isTimer?: boolean
  /** True for a query: it sees the session as it was before the batch, and changes nothing. */
  readonly isQuestion?: boolean
  /** True for the failure of a run that replaces an item. */
  readonly isRunFailure?: boolean
  /** True for the end of the whole session that replaces a failure which cannot be saved either: it is saved without content. */
  readonly isBareEnd?: boolean
  resolve(value: unknown): void
  reject(error: unknown): void
}

export type MailboxOptions = Pick<
  MailboxItem,
  'runId' | 'effectKey' | 'retrySave' | 'about' | 'versions' | 'isQuestion' | 'isTimer'
>

/** One session in this process: its mailbox, its state in memory and its effects in flight. */
export interface SessionActor {
  readonly id: SessionId
  /** Undefined until it is loaded, and after a failed save that leaves it uncertain what is stored. */
  live: LiveSession | undefined
  /** True if another process changed the session, so that it has to be read again. */
  isStale: boolean
  /** The newest version that a request has seen in the store since the session was read: memory of an older one is read again. */
  storedVersion: number
  /** False where another process holds the session, or this one performs no effects. */
  maySend: boolean
  /**
   * Epoch of the lease under which the session was read and its calls recovered: effects start under no other. Undefined if nobody
   * holds it. A lease that has been taken since is good for the session only once it was read again.
   */
  epoch: number | undefined
  inbox: MailboxItem[]
  /** Resolves when the inbox is processed; undefined while nobody processes it. */
  running: Promise<void> | undefined
  /** True while the whole inbox waits for the next attempt to save it. */
  awaitsRetry: boolean
  /** Since when saves have failed on a full disk. */
  fullSince: Instant | undefined
  /** True after a save whose content was refused: items are applied one by one, to find the one that cannot be saved. */
  oneByOne: boolean
  /** Runs whose end cannot be stored either: this process starts no effects for them. */
  readonly blockedRuns: Set<RunId>
  readonly inFlight: Map<string, EffectInFlight>
  /** Tokens of calls that are about to leave, by `dispatchKey`. */
  readonly tokens: Map<string, string>
  /** Room in the plan of the workspace, as the store answered the last save. */
  planRoom: PlanRoom
  /** True while a call of it waits for a slot, which is soon free. */
  awaitsSlot: boolean
}

/** An item that lets a session go on. It changes nothing, and is tried again: without it, a session that is held here would rest for ever. */
export const toContinuation = (): MailboxItem => ({ apply: ignore, retrySave: true, resolve: ignore, reject: ignore })

function ignore(): void {}

/** Sessions that stay in memory while they wait for nothing but a slot. To read one again costs more than one of its steps. */
const MAX_WAITING_SESSIONS = 1000

/** `closing`: no new effects, outcomes of those in flight are still stored. `closed`: nothing more is applied or stored. */
export interface DriverLifecycle {
  phase: 'open' | 'closing' | 'closed'
}

export interface Mailboxes {
  actorOf(id: SessionId): SessionActor
  all(): Iterable<SessionActor>
  /** The session, if it is in memory. */
  find(id: SessionId): SessionActor | undefined
  /**
   * Applies a change to a session after those posted before it; resolves with its result once it is durable.
   * @throws Failure `not_found` for a session that is not there; `shutting_down`
   */
  post<T>(id: SessionId, apply: (tx: SessionTransaction) => T, options?: MailboxOptions): Promise<T>
  /** Makes a session that is in memory be read again before anything else is applied. */
  markStale(id: SessionId): void
  /** Processes the inbox of a session, unless that is under way. */
  process(actor: SessionActor): void
  /** Processes the inboxes whose save failed. */
  retry(): void
  /** Resolves when no inbox is being processed. */
  idle(): Promise<void>
}

/** True if nothing of the session is under way in this process. */
export const isIdle = (actor: SessionActor | undefined): boolean =>
  !actor || (!actor.running && actor.inbox.length === 0 && actor.inFlight.size === 0)

/**
 * @param processInbox applies what is in an inbox until it is empty or awaits a retry
 * @param becameIdle called when nothing of a session is under way any more
 */
export function createMailboxes(
  lifecycle: DriverLifecycle,
  processInbox: (actor: SessionActor) => Promise<void>,
  becameIdle: (actor: SessionActor) => void,
): Mailboxes {
  const actors = new Map<SessionId, SessionActor>()

  const actorOf = (id: SessionId): SessionActor => {
    let actor = actors.get(id)
    if (!actor) {
      actor = {
        id,
        live: undefined,
        isStale: false,
        storedVersion: 0,
        maySend: false,
        epoch: undefined,
        inbox: [],
        running: undefined,
        awaitsRetry: false,
        fullSince: undefined,
        oneByOne: false,
        blockedRuns: new Set(),
        inFlight: new Map(),
        tokens: new Map(),
        awaitsSlot: false,
        planRoom: 'free',
      }
      actors.set(id, actor)
    }
    return actor
  }

  function process(actor: SessionActor): void {
    if (lifecycle.phase === 'closed' || actor.running) return
    actor.running = processInbox(actor).finally(() => {
      actor.running = undefined
      if (actor.inbox.length > 0 && !actor.awaitsRetry) return process(actor)
      if (!isIdle(actor)) return
      becameIdle(actor)
      // A session that waits for a person or a timer costs rows, not memory.
      if (!actor.awaitsSlot || actors.size > MAX_WAITING_SESSIONS) actors.delete(actor.id)
    })
  }

  return {
    actorOf,
    all: () => actors.values(),
    find: (id) => actors.get(id),
    post: <T>(id: SessionId, apply: (tx: SessionTransaction) => T, options: MailboxOptions = {}): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        if (lifecycle.phase === 'closed') return reject(fail('shutting_down'))
        const actor = actorOf(id)
        actor.inbox.push({ ...options, apply, resolve: resolve as (value: unknown) => void, reject })
        actor.awaitsRetry = false
        return process(actor)
      }),
    markStale(id) {
      const actor = actors.get(id)
      if (actor) actor.isStale = true
    },
    process,
    retry() {
      for (const actor of actors.values()) {
        if (!actor.awaitsRetry) continue
        actor.awaitsRetry = false
        process(actor)
      }
    },
    async idle() {
      for (const actor of actors.values()) while (actor.running) await actor.running
    },
  }
}

/**
 * The replacement of an item that cannot be applied or saved: the failure of its run; where that is what cannot be saved, the failure
 * of the root run, which ends all others, saved without content. None if the item concerns no run or has been replaced by all of these.
 */
export function toRunFailure(item: MailboxItem, errorCode?: 'state_not_saved'): MailboxItem[] {
  const { runId } = item
  if (runId === undefined || item.isBareEnd) return []
  if (item.isRunFailure) {
    if (errorCode === undefined) return []
    const end = (tx: SessionTransaction): boolean =>
      advanceRun(tx.run(tx.session.rootRunId), { type: 'broken', errorCode })
    return [{ ...item, apply: end, isBareEnd: true }]
  }
  const apply = (tx: SessionTransaction): boolean =>
    advanceRun(tx.run(runId), { type: 'broken', ...(errorCode && { errorCode }) })
  return [{ ...item, apply, isRunFailure: true }]
}
