/**
 * The driver: each session has a mailbox, and one loop applies what is in it, saves the session, and starts the effects that its
 * new state asks for. The outcomes of effects arrive in the mailbox again.
 */
import { fail, isFailure } from '../../base/failure.ts'
import type { Instant } from '../../base/clock.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { SessionQueue } from '../../queue/queue.ts'
import type { Run } from '../../spec/run.ts'
import { FIRST_EPOCH, type LeaseHolder, type SessionHint } from '../../store/lease.ts'
import type { SessionTree, SessionUpdate } from '../../store/session-update.ts'
import { advanceRun } from '../machine/advance.ts'
import type { EngineParts } from '../session/engine.ts'
import type { ReadEffects } from '../session/effect-ledger.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import { createLive, loadLive, takeUpdate, type LiveSession } from '../session/live-session.ts'
import { createOutages } from '../session/outages.ts'
import { createSlots, createCompletionSlots, DEFAULT_CONCURRENCY } from '../session/slots.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { createVersions, type VersionCache, type VersionLookup } from '../session/versions.ts'
import { commitBatch } from './commit.ts'
import { createEffectWaits } from './effect-waits.ts'
import { createEffectRunner } from './effects-in-flight.ts'
import type { DescribedTools } from './model-tools.ts'
import { createPauses } from './pauses.ts'
import { holdSession, takeOver } from './hold-session.ts'
import { isolateUnsavable, keepForRetry } from './failed-save.ts'
import {
  createMailboxes,
  type DriverLifecycle,
  type MailboxItem,
  type MailboxOptions,
  type SessionActor,
} from './mailbox.ts'
import type { SessionNotifier } from './notifier.ts'
import { createLeases, type LeaseStart } from './leases.ts'
import { shutDown } from './shutdown.ts'
import { createTimerScheduler } from './timers.ts'
import {
  looksBack,
  NO_OUTLOOK,
  readAttachedTexts,
  readOutlook,
  transitionContextOf,
  type Outlook,
} from './transition-context.ts'

export interface SessionDriver {
  /** Called right before a session is stored for the first time. */
  beginStart(): SessionStart
  /** Takes over sessions that no process holds; resolves with their number. */
  claimAll(): Promise<number>
  /** Another process changed or released these sessions. */
  applyHint(hint: SessionHint): Promise<void>
  /** Reads a session again that was stored with another root run, and starts its effects. */
  reload(update: SessionUpdate): void
  /**
   * Applies a change to a session after those posted before it; resolves with its result once it is durable.
   * @throws Failure `not_found` for a session that is not there; `shutting_down`
   */
  post<T>(
    sessionId: SessionId,
    apply: (tx: SessionTransaction) => T,
    options?: Pick<MailboxOptions, 'versions'>,
  ): Promise<T>
  /** As `post`, but what is applied is dropped: only its result is wanted. */
  ask<T>(sessionId: SessionId, look: (tx: SessionTransaction) => T): Promise<T>
  /** Continues a session that has work in flight, or had when an earlier process ended. */
  wake(sessionId: SessionId): Promise<void>
  /** A run as it is stored, where its session is at work in this process. */
  inMemory(sessionId: SessionId, runId: RunId): Run | undefined
  /** Since when a save of the session has failed on a full disk. */
  fullSince(sessionId: SessionId): Instant | undefined
  /** Stores how long a restore has held a session, which uses none of its limits. */
  endHold(sessionId: SessionId): Promise<void>
  /** Reads a session again that is held no longer, and continues it. */
  release(sessionId: SessionId): Promise<void>
  /** Something was paused, or goes on, in the store. */
  pausesChanged(): Promise<void>
  /** Applies the timers that are due, and retries failed saves; resolves with the time of the next timer. */
  applyDueTimers(): Promise<Instant | undefined>
  close(graceMs: number): Promise<void>
}

export interface SessionStart {
  /** Holds what it starts; undefined where this process performs no effects. */
  readonly holder: LeaseHolder | undefined
  /** Takes over the session once it is stored, and starts its effects. */
  adopt(update: SessionUpdate): void
}

export function createDriver(parts: EngineParts, notifier: SessionNotifier, queue: () => SessionQueue): SessionDriver {
  const { store, clock, log } = parts
  const lifecycle: DriverLifecycle = { phase: 'open' }
  const cache: VersionCache = new Map()
  const described: DescribedTools = new WeakMap()
  const bounds = { ...DEFAULT_CONCURRENCY, ...parts.concurrency }
  const mailboxes = createMailboxes(lifecycle, processInbox)
  const timers = createTimerScheduler(store, clock, queue, lifecycle)
  const slots = createSlots(bounds, (sessionId, runId) => {
    if (lifecycle.phase === 'open') void postEvent(sessionId, runId, { type: 'admitted' }, { retrySave: true })
  })
  const outages = createOutages(log, (sessionId, runId, cause) =>
    lifecycle.phase === 'open'
      ? postEvent(sessionId, runId, { type: 'outage.over', cause }, { retrySave: true })
      : Promise.resolve(),
  )
  const enter = createCompletionSlots(bounds)
  const pauses = createPauses(parts, () => void reconsiderPaused())
  const leases = createLeases(parts, {
    claimed: (id) => {
      markStale(id)
      queue().wake(id)
    },
    changed: (id) => {
      markStale(id)
      void wake(id)
    },
  })
  const effects = createEffectRunner({
    parts,
    notifier,
    slots,
    outages,
    pauses,
    described,
    enter,
    lifecycle,
    leases,
    postEvent,
  })
  const holding = { parts, leases, lifecycle }
  const effectWaits = createEffectWaits(
    (sessionId, runId) => void postEvent(sessionId, runId, { type: 'admitted' }, { retrySave: true }),
  )
  const commitParts = { store, clock, log, notifier, timers, leases, effectWaits }
  const contextParts = { parts, cache, described, slots, outages, bounds, lifecycle }
  /** The last commit that counted calls of other sessions. Such commits run one at a time, so that two cannot both be the last allowed. */
  let lastLookBack: Promise<unknown> = Promise.resolve()

  const versionsOf = (tree: SessionTree): VersionLookup => createVersions(store, cache, tree.session.workspaceId)

  /** Posts an event that nobody waits for. What fails is logged where it is applied or saved. */
  async function postEvent(
    sessionId: SessionId,
    runId: RunId,
    event: RunTransitionEvent,
    options: MailboxOptions = {},
  ): Promise<void> {
    await mailboxes.post(sessionId, (tx) => advanceRun(tx.run(runId), event), { ...options, runId }).catch(ignore)
  }

  /**
   * The loop of one session: reads the session where it must, applies what is in the mailbox as one batch, and saves it, until
   * the mailbox is empty. A batch that cannot be saved is tried again later; what cannot be saved at all is taken out of it.
   */
  async function processInbox(actor: SessionActor): Promise<void> {
    actor.oneByOne = false
    while (actor.inbox.length > 0 && !actor.awaitsRetry && lifecycle.phase !== 'closed') {
      let batch: MailboxItem[] = []
      try {
        if (!actor.live || actor.isStale) await load(actor)
        batch = actor.inbox.splice(0, actor.oneByOne ? 1 : actor.inbox.length)
        if (actor.live) await applyAndSave(actor, actor.live, batch)
        else for (const item of batch) item.reject(fail('not_found', { what: 'run' }))
      } catch (error) {
        if (isFailure(error, 'state_not_saved') && batch.length > 0) {
          // Other runs of the session go on without the one that is blocked.
          if (isolateUnsavable(log, actor, batch, error)) void wake(actor.id)
        } else retryLater(actor, batch.length > 0 ? batch : actor.inbox.splice(0), error)
      }
    }
  }

  /** Loads a session. Calls that an earlier holder sent are recovered before anything else is applied. */
  async function load(actor: SessionActor): Promise<void> {
    actor.isStale = false
    actor.live = undefined
    const live = await loadLive(store, actor.id, versionsOf)
    if (live) Object.assign(actor, await holdSession(holding, live))
    actor.live = live
    // What another process holds is recovered by that one, and what a restore holds when it is released.
    if (!actor.live || !actor.maySend) return
    const inFlight = new Set(actor.inFlight.keys())
    const unfinished = actor.live.tree.runs.filter(({ state }) => state.at !== 'done')
    actor.inbox.unshift(...unfinished.map(({ id }) => toRecovery(id, inFlight)))
  }

  /** Reads from outside what the transitions will ask for, since they are pure. */
  async function applyAndSave(actor: SessionActor, live: LiveSession, batch: readonly MailboxItem[]): Promise<void> {
    await live.versions.prepare(
      live.tree.runs,
      batch.flatMap(({ versions = [] }) => versions),
    )
    await readAttachedTexts(parts, live)
    if (!looksBack(live)) return commit(actor, live, batch, NO_OUTLOOK)
    const done = lastLookBack.then(async () => commit(actor, live, batch, await readOutlook(store, clock, live)))
    lastLookBack = done.catch(ignore)
    return done
  }

  /** Applies a batch, saves it as one update, starts what the new state asks for, and then answers those who posted. */
  async function commit(
    actor: SessionActor,
    live: LiveSession,
    batch: readonly MailboxItem[],
    outlook: Outlook,
  ): Promise<void> {
    const paused = await pauses.read(live.tree.session.workspaceId)
    const readContext = (effectsOf: ReadEffects) =>
      transitionContextOf(contextParts, actor, live, outlook, paused, effectsOf)
    // Before the save reads who holds the effect keys: a call that ends meanwhile is noticed.
    const endsSeen = effectWaits.count()
    const applied = await commitBatch(commitParts, actor, live, batch, readContext, outlook.version)
    if (!applied) return
    actor.fullSince = undefined
    for (const { item } of applied) if (item.effectKey !== undefined) actor.inFlight.delete(item.effectKey)
    effectWaits.keep(actor.id, live.tree, endsSeen)
    effects.reconcile(actor, live)
    for (const { item, value } of applied) item.resolve(value)
    if (actor.maySend || !(await takeOver(holding, live))) return
    // Held from now on: an empty item lets the loop read the session again and recover its calls.
    actor.isStale = true
    actor.inbox.push({ apply: ignore, resolve: ignore, reject: ignore })
  }

  /** Makes a session that is in memory be read again before anything else is applied. */
  function markStale(id: SessionId): void {
    const actor = mailboxes.find(id)
    if (actor) actor.isStale = true
  }

  function retryLater(actor: SessionActor, batch: readonly MailboxItem[], error: unknown): void {
    if (isFailure(error, 'storage_full')) actor.fullSince ??= clock.now()
    const isRetried = keepForRetry(log, actor, batch, error, lifecycle.phase === 'closed')
    slots.keep(actor.id, (key) => actor.inFlight.has(key))
    if (isRetried) timers.scheduleRetry()
  }

  /** Something was paused, or goes on: the sessions at work here look again, in turn. */
  async function reconsiderPaused(): Promise<void> {
    const ids = new Set([...leases.all(), ...[...mailboxes.all()].map(({ id }) => id)])
    for (const id of ids) {
      if (lifecycle.phase !== 'open') return
      const lookAgain = (tx: SessionTransaction): void => {
        for (const { id: runId } of tx.runs()) advanceRun(tx.run(runId), { type: 'admitted' })
      }
      await mailboxes.post(id, lookAgain, { retrySave: true }).catch(ignore)
    }
  }

  async function wake(sessionId: SessionId): Promise<void> {
    if (lifecycle.phase === 'open') await mailboxes.post(sessionId, ignore, { retrySave: true }).catch(ignore)
  }

  function adopt(update: SessionUpdate, askedAt: LeaseStart): void {
    const { id } = update.session
    const maySend = parts.sends !== false
    if (maySend && update.busy) leases.keep({ sessionId: id, epoch: FIRST_EPOCH }, askedAt)
    const actor = mailboxes.actorOf(id)
    actor.maySend = maySend
    actor.epoch = leases.epochOf(id)
    const tree: SessionTree = { session: { ...update.session, version: 0 }, runs: [], tasks: [] }
    const live = createLive(tree, [], [], versionsOf(tree))
    takeUpdate(live, update, update.session.startedAt)
    actor.live = live
    notifier.notify(actor.id, update.session.lastSeq)
    timers.schedule(update)
    actor.inbox.push({ apply: ignore, resolve: ignore, reject: ignore })
    // The caller that started the run is answered first, in this turn of the event loop.
    setImmediate(() => {
      if (actor.inbox.length > 0) mailboxes.process(actor)
    })
  }

  function readAgain(sessionId: SessionId): Promise<void> {
    markStale(sessionId)
    return wake(sessionId)
  }

  return {
    beginStart() {
      const askedAt = leases.now()
      return {
        holder: parts.sends === false ? undefined : leases.holderOf(undefined),
        adopt: (update) => adopt(update, askedAt),
      }
    },
    claimAll: () => leases.claimAll(),
    async applyHint(hint) {
      if (hint === 'all') {
        for (const { id } of mailboxes.all()) markStale(id)
        for (const { id } of mailboxes.all()) void wake(id)
        notifier.notifyAll()
        await leases.claimAll()
        return
      }
      for (const id of hint.sessions) {
        if (mailboxes.find(id) || leases.epochOf(id) !== undefined) {
          markStale(id)
          void wake(id)
        } else if (hint.isFree && (await leases.claimOne(id))) queue().wake(id)
        notifier.notify(id)
      }
    },
    reload(update) {
      const { id, lastSeq } = update.session
      notifier.notify(id, lastSeq)
      timers.schedule(update)
      void readAgain(id)
    },
    post(sessionId, apply, options) {
      if (lifecycle.phase !== 'open') return Promise.reject(fail('shutting_down'))
      return mailboxes.post(sessionId, apply, options)
    },
    ask(sessionId, look) {
      if (lifecycle.phase !== 'open') return Promise.reject(fail('shutting_down'))
      return mailboxes.post(sessionId, look, { isQuestion: true })
    },
    wake,
    inMemory(sessionId, runId) {
      const actor = mailboxes.find(sessionId)
      // What another process may have changed is read from the store.
      if (!actor || actor.isStale || leases.epochOf(sessionId) === undefined) return undefined
      return actor.live?.tree.runs.find(({ id }) => id === runId)
    },
    fullSince: (sessionId) => mailboxes.find(sessionId)?.fullSince,
    async endHold(sessionId) {
      if (lifecycle.phase !== 'open') throw fail('shutting_down')
      await mailboxes.post(sessionId, (tx) => tx.endHold())
    },
    release: readAgain,
    pausesChanged: () => pauses.changed(),
    applyDueTimers() {
      for (const actor of mailboxes.all()) {
        if (!actor.awaitsRetry) continue
        actor.awaitsRetry = false
        mailboxes.process(actor)
      }
      return timers.applyDue(mailboxes)
    },
    close(graceMs) {
      pauses.close()
      return shutDown(lifecycle, mailboxes, effects, leases, graceMs)
    },
  }
}

/** The check of a run whose calls an earlier process may have sent. */
const toRecovery = (runId: RunId, inFlight: ReadonlySet<string>): MailboxItem => ({
  runId,
  retrySave: true,
  isRecovery: true,
  apply: (tx) => advanceRun(tx.run(runId), { type: 'woken', inFlight }),
  resolve: ignore,
  reject: ignore,
})

function ignore(): void {}
