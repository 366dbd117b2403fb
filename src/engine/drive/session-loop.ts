/**
 * The loop of one session: reads the session where it must, applies what is in the mailbox as one batch, saves it as one update,
 * starts the effects that the new state asks for, and answers those who posted; again, until the mailbox is empty.
 */
import { fail, isFailure, type Failure } from '../../base/failure.ts'
import type { SessionId, RunId } from '../../base/ids.ts'
import type { SessionTree } from '../../store/session-update.ts'
import type { EngineParts } from '../interface/engine.ts'
import type { ReadEffects } from '../transaction/effect-ledger.ts'
import type { LiveSession } from '../session/live-session.ts'
import { addTrees, loadLive } from './load-live.ts'
import type { VersionLookup } from '../session/versions.ts'
import { commitBatch, type CommitParts } from './commit.ts'
import type { EffectRunner } from './effects-in-flight.ts'
import { takeOver, type HoldingParts, holdSession } from './hold-session.ts'
import { type MailboxItem, type SessionActor, toContinuation, toRunFailure } from './mailbox.ts'
import type { RestoreReader } from './restore-reader.ts'
import type { Pauses } from './pauses.ts'
import type { RestingSessions } from './resting-sessions.ts'
import {
  addCountedCalls,
  decidingVersions,
  looksBack,
  NO_OUTLOOK,
  readAttachedTexts,
  readOutlook,
  transitionContextOf,
  type Outlook,
  type TransitionContextParts,
} from './transition-context.ts'
import type { Log } from '../../base/log.ts'
import { advanceRun } from '../machine/advance.ts'

export interface SessionLoopParts {
  readonly parts: EngineParts
  readonly holding: HoldingParts
  readonly commitParts: CommitParts
  readonly contextParts: TransitionContextParts
  readonly pauses: Pauses
  readonly readRestore: RestoreReader
  readonly effects: EffectRunner
  readonly versionsOf: (tree: SessionTree) => VersionLookup
  readonly resting: RestingSessions
  /** Continues a session once the work under way for it is done. */
  readonly wake: (sessionId: SessionId) => Promise<void>
}

/** @returns processes the inbox of an actor until it is empty or awaits a retry; never rejects */
export function createSessionLoop(loop: SessionLoopParts): (actor: SessionActor) => Promise<void> {
  const { parts, holding, commitParts, contextParts, pauses, readRestore, effects, wake } = loop
  const { store, clock, log } = parts
  const { lifecycle, slots } = contextParts
  const { effectWaits, timers } = commitParts
  /**
   * The last commit that counted calls of other sessions. Those of this process run one at a time, so that they do not refuse each
   * other; the store refuses the slower of two processes.
   */
  let lastLookBack: Promise<unknown> = Promise.resolve()

  /** A batch that cannot be saved is tried again later; what cannot be saved at all is taken out of it. */
  async function processInbox(actor: SessionActor): Promise<void> {
    actor.oneByOne = false
    while (actor.inbox.length > 0 && !actor.awaitsRetry && lifecycle.phase !== 'closed') {
      let batch: MailboxItem[] = []
      try {
        if (!actor.live || actor.isStale) await loadSession(loop, actor)
        while (isBehind(actor)) await loadSession(loop, actor)
        putTimersLast(actor)
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

  /** Reads in advance the outside facts that transitions need, since they are pure. */
  async function applyAndSave(actor: SessionActor, live: LiveSession, batch: readonly MailboxItem[]): Promise<void> {
    await addTrees(
      store,
      live,
      batch.flatMap(({ about = [], runId }) => (runId === undefined ? about : [...about, runId])),
    )
    const next = batch.flatMap(({ versions = [] }) => versions)
    await live.versions.prepare(live.tree.runs, next)
    const deciding = decidingVersions(live, next)
    await readAttachedTexts(parts, live, deciding)
    await addCountedCalls(store, clock, live, deciding)
    if (!looksBack(live, deciding)) return commit(actor, live, batch, NO_OUTLOOK)
    const done = lastLookBack.then(async () =>
      commit(actor, live, batch, await readOutlook(store, clock, live, deciding)),
    )
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
    const restore = await readRestore()
    const readContext = (effectsOf: ReadEffects) =>
      transitionContextOf(contextParts, actor, live, { ...outlook, pauses: paused, restore }, effectsOf)
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
    // Held from now on: the loop reads the session again and recovers its calls.
    actor.isStale = true
    actor.inbox.push(toContinuation())
  }

  function retryLater(actor: SessionActor, batch: readonly MailboxItem[], error: unknown): void {
    if (isFailure(error, 'storage_full')) actor.fullSince ??= clock.now()
    const isRetried = keepForRetry(log, actor, batch, error, lifecycle.phase === 'closed')
    slots.keep(actor.id, (key) => actor.inFlight.has(key))
    if (isRetried) timers.scheduleRetry()
  }

  return processInbox
}

/** What a person answered before a time-out was applied stands. */
function putTimersLast(actor: SessionActor): void {
  const timers = actor.inbox.filter(({ isTimer }) => isTimer)
  if (timers.length > 0) actor.inbox = [...actor.inbox.filter(({ isTimer }) => !isTimer), ...timers]
}

const isBehind = ({ live, storedVersion }: SessionActor): boolean =>
  live !== undefined && live.tree.session.version < storedVersion

function ignore(): void {}

/**
 * The store refused the content: nothing was stored and memory is right, but saving the same again would block the session for
 * ever. Finds the item by applying one at a time, and fails its run instead.
 * @returns true when the run was blocked because its failure cannot be stored either
 */
function isolateUnsavable(log: Log, actor: SessionActor, batch: readonly MailboxItem[], error: Failure): boolean {
  const [item] = batch
  if (item === undefined || batch.length > 1) {
    actor.oneByOne = true
    actor.inbox.unshift(...batch)
    return false
  }
  log.write('error', 'A change to a session cannot be stored.', {
    sessionId: actor.id,
    ...(item.runId !== undefined && { runId: item.runId }),
    error: error.message,
  })
  item.reject(error)
  const failure = toRunFailure(item, 'state_not_saved')
  actor.inbox.unshift(...failure)
  if (failure.length > 0 || item.runId === undefined) return false
  actor.blockedRuns.add(item.runId)
  return true
}

/**
 * The session could not be loaded or saved. Outcomes go back into the inbox, callers get the error.
 * @param isClosed true if the driver is closed and keeps nothing for another attempt
 * @returns true when items wait for another attempt
 */
function keepForRetry(
  log: Log,
  actor: SessionActor,
  batch: readonly MailboxItem[],
  error: unknown,
  isClosed: boolean,
): boolean {
  if (!isFailure(error))
    log.write('error', 'A session could not be saved.', { sessionId: actor.id, error: String(error) })
  // The save may have reached the store or not, so memory can be wrong either way.
  actor.live = undefined
  const retried = batch.filter((item) => item.retrySave && !isClosed)
  for (const item of batch) if (!retried.includes(item)) item.reject(error)
  actor.inbox.unshift(...retried)
  if (retried.length === 0) return false
  // New requests are tried at once; only stored outcomes wait for the next attempt.
  actor.awaitsRetry = actor.inbox.every((item) => item.retrySave)
  return true
}

/**
 * Leaves `actor.live` undefined for a session that is not there. Calls that an earlier holder sent are put first into the inbox, to be
 * recovered before anything else is applied.
 */
async function loadSession({ holding, versionsOf, resting }: SessionLoopParts, actor: SessionActor): Promise<void> {
  actor.isStale = false
  actor.storedVersion = 0
  actor.live = undefined
  const live = (await resting.take(actor.id)) ?? (await loadLive(holding.parts.store, actor.id, versionsOf))
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
