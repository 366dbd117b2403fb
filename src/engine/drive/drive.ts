/**
 * The driver: each session has a mailbox, and one loop applies what is in it, saves the session, and starts the effects that its
 * new state asks for (`session-loop.ts`). The outcomes of effects arrive in the mailbox again. This file puts the parts together.
 */
import { fail } from '../../base/failure.ts'
import type { AttemptLookup } from '../../spec/run/hold.ts'
import type { Instant } from '../../base/clock.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { SessionQueue } from '../../queue/queue.ts'
import type { StoredEvent } from '../../spec/event.ts'
import type { Run } from '../../spec/run/run.ts'
import { type LeaseHolder, type SessionHint, FIRST_EPOCH } from '../../store/lease.ts'
import type { SessionTree, SessionUpdate } from '../../store/session-update.ts'
import type { ModelTool } from '../../providers/provider.ts'
import type { AgentSnapshot, BoundTool } from '../../spec/snapshot.ts'
import { describeTool, type DescribedTools } from '../effects/model-tools.ts'
import type { EngineParts } from '../interface/engine.ts'
import { createOutages } from '../capacity/outages.ts'
import { createSlots, createCompletionSlots, DEFAULT_CONCURRENCY } from '../capacity/slots.ts'
import type { SessionTransaction } from '../transaction/transaction.ts'
import { createVersions, type VersionCache, type VersionLookup } from '../session/versions.ts'
import { applySessionHint } from './apply-hint.ts'
import { createEffectWaits } from './effect-waits.ts'
import { eventsAfter } from './events-in-memory.ts'
import { createEffectRunner } from './effects-in-flight.ts'
import { createInternalPosts } from './internal-posts.ts'
import { createLeases, type LeaseStart, type SessionLeases } from './leases.ts'
import {
  createMailboxes,
  toContinuation,
  type DriverLifecycle,
  type MailboxOptions,
  type Mailboxes,
} from './mailbox.ts'
import type { SessionNotifier } from './notifier.ts'
import { createPauses } from './pauses.ts'
import { createRestingSessions } from './resting-sessions.ts'
import { createRestoreReader, type RestoreReader } from './restore-reader.ts'
import { createSessionLoop } from './session-loop.ts'
import { shutDown } from './shutdown.ts'
import { createTimerScheduler, type TimerScheduler } from './timers.ts'
import { createLive, takeUpdate } from '../session/live-session.ts'

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
    options?: Pick<MailboxOptions, 'about' | 'versions'>,
  ): Promise<T>
  /** Like `post`, but drops the change: only its result is wanted. Answered until everything in flight is stored, also while the driver closes. */
  ask<T>(sessionId: SessionId, look: (tx: SessionTransaction) => T, options?: Pick<MailboxOptions, 'about'>): Promise<T>
  /** Continues a session that has work in flight, or had when an earlier process ended. */
  wake(sessionId: SessionId): Promise<void>
  /** A tool as models see it; its calls are then checked against what its server says. */
  describeTool(snapshot: AgentSnapshot, tool: BoundTool, signal: AbortSignal): Promise<ModelTool>
  /** A run as stored, if its session is at work in this process. */
  inMemory(sessionId: SessionId, runId: RunId): Run | undefined
  /** All events of a session after a cursor, if this process has them in memory and nobody else can have stored more. */
  eventsInMemory(sessionId: SessionId, cursor: number): readonly StoredEvent[] | undefined
  /** Since when a save of the session has failed on a full disk. */
  fullSince(sessionId: SessionId): Instant | undefined
  /** See `Engine.nextAttempt`. */
  readonly nextAttempt: AttemptLookup
  /** The restore that made the store; undefined for a store of its own. */
  readonly readRestore: RestoreReader
  /** How many sessions this process holds. */
  leasesHeld(): number
  /** Stores how long a restore has held a session: that time counts against none of its limits. */
  endHold(sessionId: SessionId): Promise<void>
  /** Reads a session again after its hold was released, and continues it. */
  release(sessionId: SessionId): Promise<void>
  /** Called after a pause was set or ended in the store. */
  pausesChanged(): Promise<void>
  /** Applies the timers that are due, and retries failed saves; resolves with the time of the next timer. */
  applyDueTimers(): Promise<Instant | undefined>
  close(graceMs: number): Promise<void>
}

export interface SessionStart {
  /** Holds the sessions it starts; undefined if this process performs no effects. */
  readonly holder: LeaseHolder | undefined
  /** Takes over the session once it is stored, and starts its effects. */
  adopt(update: SessionUpdate): void
}

export function createDriver(parts: EngineParts, notifier: SessionNotifier, queue: () => SessionQueue): SessionDriver {
  const { store, clock, log } = parts
  const lifecycle: DriverLifecycle = { phase: 'open' }
  const cache: VersionCache = new Map()
  const described: DescribedTools = new WeakMap()
  /** A process that has the store to itself sees every change. */
  const isShared = parts.leaseTimes?.claimEveryMs !== undefined
  const bounds = { ...DEFAULT_CONCURRENCY, ...parts.concurrency }
  const versionsOf = (tree: SessionTree): VersionLookup => createVersions(parts, cache, tree.session.workspaceId)

  const resting = createRestingSessions(store)
  const mailboxes = createMailboxes(
    lifecycle,
    (actor) => processInbox(actor),
    ({ id, live, isStale }) => {
      resting.keep(id, isStale ? undefined : live)
      if (lifecycle.phase === 'closing') leases.giveBack(id)
    },
  )
  const posts = createInternalPosts(mailboxes, lifecycle)
  const admit = (sessionId: SessionId, runId: RunId) => void posts.eventIfOpen(sessionId, runId, { type: 'admitted' })

  const timers = createTimerScheduler(store, clock, log, queue, lifecycle)
  const slots = createSlots(bounds, admit, () => clock.monotonic())
  const outages = createOutages(log, (sessionId, runId, cause) =>
    posts.eventIfOpen(sessionId, runId, { type: 'outage.over', cause }),
  )
  const leases = createLeases(parts, {
    claimed(id) {
      mailboxes.markStale(id)
      queue().wake(id)
    },
    changed: (id) => void posts.readAgain(id),
  })
  const pauses = createPauses(parts, () => {
    void posts.reconsider(new Set([...leases.all(), ...[...mailboxes.all()].map(({ id }) => id)]))
  })
  const effectWaits = createEffectWaits(admit)
  const readRestore = createRestoreReader(store)
  const enter = createCompletionSlots(bounds)
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
    postEvent: posts.event,
  })
  const processInbox = createSessionLoop({
    parts,
    holding: { parts, leases, lifecycle },
    commitParts: { store, clock, log, notifier, timers, leases, effectWaits },
    contextParts: { parts, cache, described, slots, outages, bounds, lifecycle },
    pauses,
    readRestore,
    effects,
    versionsOf,
    resting,
    wake: posts.wake,
  })

  /**
   * Answers by what is stored when the request arrives. A refusal saves nothing, so no save would find out that another process has
   * changed the session meanwhile, and hints get lost.
   */
  function postRequest<T>(
    sessionId: SessionId,
    apply: (tx: SessionTransaction) => T,
    options?: MailboxOptions,
  ): Promise<T> {
    const isRefused = (): boolean => lifecycle.phase !== 'open' && options?.isQuestion !== true
    if (isRefused()) return Promise.reject(fail('shutting_down'))
    const actor = isShared ? mailboxes.find(sessionId) : undefined
    if (!actor) return mailboxes.post(sessionId, apply, options)
    return store.session(sessionId).then((stored) => {
      actor.storedVersion = Math.max(actor.storedVersion, stored?.version ?? 0)
      if (isRefused()) throw fail('shutting_down')
      return mailboxes.post(sessionId, apply, options)
    })
  }

  return {
    beginStart() {
      const askedAt = leases.now()
      const maySend = parts.sends !== false && leases.mayClaim()
      return {
        holder: maySend ? leases.holderOf(undefined) : undefined,
        adopt: (update) => adoptSession({ mailboxes, leases, notifier, timers, versionsOf, maySend }, update, askedAt),
      }
    },
    claimAll: () => leases.claimAll(),
    applyHint: (hint) =>
      applySessionHint({ mailboxes, resting, leases, notifier, posts, wake: (id) => queue().wake(id) }, hint),
    reload(update) {
      const { id, lastSeq } = update.session
      notifier.notify(id, lastSeq)
      timers.schedule(update)
      void posts.readAgain(id)
    },
    post: postRequest,
    ask: (sessionId, look, options) => postRequest(sessionId, look, { ...options, isQuestion: true }),
    wake: posts.wake,
    readRestore,
    describeTool: (snapshot, tool, signal) => describeTool(parts.tools, described, snapshot, tool, signal),
    inMemory(sessionId, runId) {
      const actor = mailboxes.find(sessionId)
      // Another process may have changed it, so it is read from the store.
      if (!actor || actor.isStale || leases.epochOf(sessionId) === undefined) return undefined
      return actor.live?.tree.runs.find(({ id }) => id === runId)
    },
    eventsInMemory(sessionId, cursor) {
      if (isShared) return undefined
      const { live, isStale } = mailboxes.find(sessionId) ?? {}
      return live && !isStale ? eventsAfter(live, cursor) : undefined
    },
    fullSince: (sessionId) => mailboxes.find(sessionId)?.fullSince,
    nextAttempt: (cause) => outages.nextAttempt(cause, clock.now()),
    leasesHeld: () => leases.count(),
    async endHold(sessionId) {
      if (lifecycle.phase !== 'open') throw fail('shutting_down')
      await mailboxes.post(sessionId, (tx) => tx.endHold())
    },
    release: posts.readAgain,
    pausesChanged: () => pauses.changed(),
    applyDueTimers() {
      mailboxes.retry()
      return timers.applyDue(mailboxes)
    },
    close(graceMs) {
      pauses.close()
      return shutDown(lifecycle, mailboxes, effects, leases, graceMs)
    },
  }
}

interface AdoptionParts {
  /** False where the start gave this process no lease. */
  readonly maySend: boolean
  readonly mailboxes: Mailboxes
  readonly leases: SessionLeases
  readonly notifier: SessionNotifier
  readonly timers: TimerScheduler
  readonly versionsOf: (tree: SessionTree) => VersionLookup
}

/** @param askedAt time before the store was asked to start it; its lease counts from then */
function adoptSession(
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
  actor.inbox.push(toContinuation())
  // The caller that started the run is answered first, in this turn of the event loop.
  setImmediate(() => {
    if (actor.inbox.length > 0) mailboxes.process(actor)
  })
}
