/**
 * The only loop. Each session is driven by itself: what has happened to it is applied to its tree, the turn is saved, the
 * effects that the tree now asks for are begun, and what comes of them happens to it next.
 */
import { dieAtFailpoint } from '../../base/failpoint.ts'
import { fail, isFailure, type Failure } from '../../base/failure.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import type { SessionQueue } from '../../queue/queue.ts'
import type { CallRow, SessionTimer, SessionTree, SessionUpdate } from '../../store/store.ts'
import { isLongCheck, workWithChecks } from '../../tools/check.ts'
import { advanceRun } from '../machine/advance.ts'
import type { SessionNotifier } from './notifier.ts'
import { agentNamed, offeredMoves } from '../session/bindings.ts'
import { callKey, openTransaction, type SessionTransaction, type TransitionContext } from '../session/transaction.ts'
import {
  effectsOf,
  performEffect,
  waitingKeys,
  type DescribedTools,
  type RunEffect,
  type EffectInFlight,
} from './effects.ts'
import type { EngineParts } from '../session/engine.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import { createLive, loadLive, takeUpdate, type LiveSession } from '../session/live-session.ts'
import { createMeter } from './meter.ts'
import { standingOf } from '../calls/questions.ts'
import { createSlots, createTurnstile, DEFAULT_CONCURRENCY } from '../session/slots.ts'
import { timeOut } from '../machine/tasks.ts'
import { createVersions, lookBackMs, type VersionCache, type VersionLookup } from '../session/versions.ts'

export interface SessionDriver {
  /** Takes over a tree that was just stored, and begins its effects. */
  adopt(turn: SessionUpdate): void
  /**
   * Does something to a session, after whatever happened to it before, and answers once it is durable.
   * @throws Failure `not_found` for a session that is not there; `shutting_down`
   */
  post<T>(sessionId: SessionId, work: (draft: SessionTransaction) => T): Promise<T>
  /** Continues a session that has work in flight, or had. */
  wake(sessionId: SessionId): Promise<void>
  /** Reads a session that was held again, and continues it. */
  release(sessionId: SessionId): Promise<void>
  /** Applies the timers that are due; answers when the next one is. */
  fire(): Promise<number | undefined>
  close(graceMs: number): Promise<void>
}

/** Timers applied in one go. */
const TIMERS = 100
/** After a save that failed for want of room or the like, the outcomes that could not be kept are tried again so much later. */
const SAVE_AGAIN_MS = 1000

interface MailboxItem {
  readonly work: (draft: SessionTransaction) => unknown
  /** The run that fails when this cannot be applied; absent where only the asker is concerned. */
  readonly run?: RunId | undefined
  /** The effect whose outcome this is. */
  readonly effect?: string | undefined
  /** True for what must not be lost when a save fails; whoever waits for anything else is told and may ask again. */
  readonly kept?: boolean | undefined
  /** True for the look at what an earlier process sent: nothing is begun before each of these has been applied. */
  readonly woken?: boolean
  resolve(value: unknown): void
  reject(error: unknown): void
}

interface SessionActor {
  readonly id: SessionId
  live: LiveSession | undefined
  inbox: MailboxItem[]
  running: Promise<void> | undefined
  stuck: boolean
  /** After a save whose content was refused, items are applied one by one, to find the one that cannot be kept. */
  oneByOne: boolean
  /** Runs whose end cannot be stored either: this process does nothing for them. */
  readonly blocked: Set<RunId>
  readonly inFlight: Map<string, EffectInFlight & { readonly controller: AbortController }>
}

export function createDriver(parts: EngineParts, bell: SessionNotifier, queue: () => SessionQueue): SessionDriver {
  const { store, clock, log, sends = true } = parts
  const actors = new Map<SessionId, SessionActor>()
  const cache: VersionCache = new Map()
  const underWay = new Set<Promise<unknown>>()
  const described: DescribedTools = new WeakMap()
  let closing = false
  let closed = false
  /** Moves that look at other sessions' calls go one at a time, so that two cannot both be the last that is allowed. */
  let lookingBack: Promise<unknown> = Promise.resolve()

  const bounds = { ...DEFAULT_CONCURRENCY, ...parts.concurrency }
  const enter = createTurnstile(bounds)
  const slots = createSlots(bounds, (sessionId, runId) => {
    if (closing) return
    const work = (draft: SessionTransaction) => advanceRun(draft, runId, { type: 'admitted' })
    enqueue(sessionId, work, { run: runId, kept: true }).catch(alreadyTold)
  })

  const isClosed = (): boolean => closed

  const actorOf = (id: SessionId): SessionActor => {
    let actor = actors.get(id)
    if (!actor) {
      actor = {
        id,
        live: undefined,
        inbox: [],
        running: undefined,
        stuck: false,
        oneByOne: false,
        blocked: new Set(),
        inFlight: new Map(),
      }
      actors.set(id, actor)
    }
    return actor
  }

  const versionsOf = (tree: SessionTree): VersionLookup => createVersions(store, cache, tree.session.workspaceId)

  const enqueue = <T>(
    id: SessionId,
    work: (draft: SessionTransaction) => T,
    { run: runId, effect, kept }: Pick<MailboxItem, 'run' | 'effect' | 'kept'> = {},
  ): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (closed) return reject(fail('shutting_down'))
      const actor = actorOf(id)
      actor.inbox.push({ work, run: runId, effect, kept, resolve: resolve as (value: unknown) => void, reject })
      actor.stuck = false
      return run(actor)
    })

  function run(actor: SessionActor): void {
    if (closed || actor.running) return
    actor.running = drive(actor).finally(() => {
      actor.running = undefined
      if (actor.inbox.length > 0 && !actor.stuck) return run(actor)
      // A session that waits for a person or a time costs rows, not memory.
      if (actor.inbox.length === 0 && actor.inFlight.size === 0) actors.delete(actor.id)
    })
  }

  async function drive(actor: SessionActor): Promise<void> {
    actor.oneByOne = false
    while (actor.inbox.length > 0 && !actor.stuck && !isClosed()) {
      let batch: MailboxItem[] = []
      try {
        if (!actor.live) await load(actor)
        batch = actor.inbox.splice(0, actor.oneByOne ? 1 : actor.inbox.length)
        const { live } = actor
        if (!live) for (const item of batch) item.reject(fail('not_found', { what: 'run' }))
        else await move(actor, live, batch)
      } catch (error) {
        if (isFailure(error, 'state_not_saved') && batch.length > 0) leaveOut(actor, batch, error)
        else putBack(actor, batch.length > 0 ? batch : actor.inbox.splice(0), error)
      }
    }
  }

  /** A session that was not in memory may have calls that a process before this one sent. */
  async function load(actor: SessionActor): Promise<void> {
    actor.live = await loadLive(store, actor.id, versionsOf)
    // Nothing happens by itself to what is held: it is looked at when it is released.
    if (!actor.live || actor.live.isHeld) return
    const open = actor.live.tree.runs.filter((each) => each.state.at !== 'done')
    const inFlight = new Set(actor.inFlight.keys())
    actor.inbox.unshift(
      ...open.map((each): MailboxItem => ({
        run: each.id,
        kept: true,
        woken: true,
        work: (draft) => advanceRun(draft, each.id, { type: 'woken', inFlight }),
        resolve() {},
        reject() {},
      })),
    )
  }

  async function move(actor: SessionActor, live: LiveSession, batch: readonly MailboxItem[]): Promise<void> {
    await live.versions.prepare(live.tree.runs)
    const looksBack = live.tree.runs.some((each) => lookBackMs(live.versions.of(each).snapshot) > 0)
    if (!looksBack) return commit(actor, live, batch, [])
    const turn = lookingBack.then(async () => commit(actor, live, batch, await callsElsewhere(live)))
    lookingBack = turn.catch(() => {})
    return turn
  }

  async function commit(
    actor: SessionActor,
    live: LiveSession,
    batch: readonly MailboxItem[],
    elsewhere: readonly CallRow[],
  ): Promise<void> {
    const { draft, results } = await workWithChecks(() => apply(live, worldOf(actor, live, elsewhere), batch))
    const turn = draft.turn()
    if (turn) {
      try {
        await store.save(turn)
      } catch (error) {
        if (!isFailure(error, 'run_moved_on')) throw error
        // Another writer was faster: everything is read again, and the same things happen to what is there now.
        actor.live = undefined
        actor.inbox.unshift(...results.map(({ item }) => item))
        return
      }
      takeUpdate(live, turn, draft.now)
      bell.ring(actor.id, turn.session.lastSeq)
      setAlarm(turn)
    }
    for (const { item } of results) if (item.effect !== undefined) actor.inFlight.delete(item.effect)
    begin(actor, live)
    for (const { item, value } of results) item.resolve(value)
  }

  /** Applies what happened, in order. What cannot be applied is a bug of ours: the run it concerns fails, the rest goes on. */
  function apply(
    live: LiveSession,
    world: TransitionContext,
    batch: readonly MailboxItem[],
  ): { draft: SessionTransaction; results: { item: MailboxItem; value: unknown }[] } {
    let items = [...batch]
    for (;;) {
      const draft = openTransaction(live.tree, world)
      const results: { item: MailboxItem; value: unknown }[] = []
      const culprit = items.find((item) => {
        try {
          results.push({ item, value: item.work(draft) })
          return false
        } catch (error) {
          if (isLongCheck(error)) throw error
          if (!isFailure(error))
            log.write('error', 'A session could not be moved.', {
              sessionId: live.tree.session.id,
              error: String(error),
            })
          item.reject(error)
          return true
        }
      })
      if (!culprit) return { draft, results }
      items = items.flatMap((item) => (item === culprit ? giveUp(item) : [item]))
    }
  }

  /** Calls in other sessions of those agents whose policies look back over a window. */
  async function callsElsewhere({ versions, tree, lastAt }: LiveSession): Promise<readonly CallRow[]> {
    const now = Math.max(clock.now(), lastAt)
    const found = new Map<string, CallRow>()
    for (const run of tree.runs) {
      const span = lookBackMs(versions.of(run).snapshot)
      if (span === 0) continue
      for (const row of await store.calls({ agentId: run.agentId, since: now - span }))
        if (row.sessionId !== tree.session.id) found.set(callKey(row.runId, row.callId), row)
    }
    return [...found.values()]
  }

  function worldOf(actor: SessionActor, live: LiveSession, elsewhere: readonly CallRow[]): TransitionContext {
    const { versions } = live
    return {
      now: Math.max(clock.now(), live.lastAt),
      ids: parts.ids,
      snapshotOf: (each) => cache.get(each.agentVersionId)?.snapshot ?? versions.of(each).snapshot,
      childOf: (bound) => versions.childOf(bound),
      routeOf: (agent, tool) => parts.tools.route(agent, tool),
      describedBy: (tool) => described.get(tool),
      stepsOf: (id) => live.steps.get(id) ?? [],
      calls: live.calls,
      callsElsewhere: elsewhere,
      worker: parts.worker,
      maySend: sends && !closing && !live.isHeld,
      callsAtOnce: bounds.completion,
      takeSlot: (run, key, tool, { route, concurrency: bound }) =>
        slots.take({ session: actor.id, run, key, tool, route, bound }),
      mostOutput: ({ model }) => parts.providers.mostOutput(model, live.tree.session.id),
      spentOn: (completion) => actor.inFlight.get(completion)?.meter.spent(),
      maxIterations: parts.maxIterations ?? 100,
      jitter: parts.random(),
    }
  }

  /** Begins what the tree asks for and is not under way, and calls off what it no longer asks for. */
  function begin(actor: SessionActor, live: LiveSession): void {
    // A call that an earlier process sent is not sent again before somebody has looked at it.
    if (actor.inbox.some(({ woken }) => woken)) return
    const wanted = effectsOf(live.tree).filter(({ runId }) => !actor.blocked.has(runId))
    const keys = new Set(wanted.map((effect) => effect.key))
    if (actor.inFlight.size > 0) callOff(actor, keys)
    const waiting = waitingKeys(live.tree)
    slots.keep(actor.id, (key) => keys.has(key) || waiting.has(key))
    if (!sends || live.isHeld) return
    if (closing) {
      const unsent = wanted.filter(({ key }) => !actor.inFlight.has(key))
      const inFlight = new Set(actor.inFlight.keys())
      // What is recorded as sent and did not leave must not be taken for lost at the next start.
      for (const runId of new Set(unsent.map((effect) => effect.runId)))
        enqueue(actor.id, (draft) => advanceRun(draft, runId, { type: 'stopped', inFlight }), { run: runId }).catch(
          alreadyTold,
        )
      return
    }
    for (const effect of wanted) {
      if (actor.inFlight.has(effect.key)) continue
      const controller = new AbortController()
      const flight = { controller, signal: controller.signal, meter: createMeter(), enter }
      actor.inFlight.set(effect.key, flight)
      const done: Promise<unknown> = watch(actor, live, effect, flight).then(() => underWay.delete(done))
      underWay.add(done)
    }
  }

  function callOff({ inFlight }: SessionActor, wanted: ReadonlySet<string>): void {
    for (const [key, { controller }] of inFlight) {
      if (wanted.has(key)) continue
      controller.abort()
      inFlight.delete(key)
    }
  }

  async function watch(
    actor: SessionActor,
    live: LiveSession,
    effect: RunEffect,
    flight: EffectInFlight,
  ): Promise<void> {
    const { runId } = effect
    const { signal } = flight
    const run = live.tree.runs.find((each) => each.id === runId)!
    const { snapshot } = live.versions.of(run)
    const veil = parts.redactor.stream()
    const show = (text: string): void => {
      if (text === '') return
      bell.say({
        sessionId: actor.id,
        runId,
        ts: clock.now(),
        kind: 'step',
        subject: 'engine.step.delta',
        data: { sessionId: actor.id, runId, text },
      })
    }
    const scene = {
      run,
      snapshot,
      steps: [...(live.steps.get(runId) ?? [])],
      described,
      moves: offeredMoves(snapshot, standingOf(run, live.tree.runs)),
      childOf: (wire: string) => {
        const bound = agentNamed(snapshot, wire)
        return bound && live.versions.childOf(bound)
      },
    }
    let event: RunTransitionEvent
    try {
      if (effect.do === 'invoke') dieAtFailpoint('effect.afterDispatchRecord')
      event = parts.redactor.json(await performEffect(parts, effect, scene, (text) => show(veil.push(text)), flight))
      if (event.type === 'call.ended' && event.outcome.at === 'returned')
        slots.arrived(effect.key, sizeOf(event.outcome.result))
      dieAtFailpoint(effect.do === 'invoke' ? 'effect.afterReply' : 'model.afterReply')
      show(veil.end())
    } catch (error) {
      if (signal.aborted) return
      log.write('error', 'An effect failed in a way nobody expects.', {
        runId,
        effect: effect.do,
        error: String(error),
      })
      event = lost(effect)
    }
    // What was called off is no longer waited for, and the tree has said what that means; that a call was made all the same,
    // or never left, is still booked.
    const isKnown = event.type === 'call.ended' && event.outcome.at !== 'unknown'
    if ((signal.aborted && !isKnown) || closed) return
    await enqueue(actor.id, (draft) => advanceRun(draft, runId, event), {
      run: runId,
      effect: effect.key,
      kept: true,
    }).catch(alreadyTold)
  }

  const wake = (sessionId: SessionId): Promise<void> =>
    closing ? Promise.resolve() : enqueue(sessionId, () => undefined, { kept: true }).catch(alreadyTold)

  /** Resolves when no session is being moved. */
  async function quiet(): Promise<void> {
    for (const actor of actors.values()) while (actor.running) await actor.running
  }

  function setAlarm(turn: SessionUpdate): void {
    if (turn.setTimers.length > 0) queue().alarm(Math.min(...turn.setTimers.map((timer) => timer.at)))
  }

  /**
   * Nothing was kept, and memory is right: what cannot be saved is found by itself, and its run ends. Saved again and again it
   * would hold up its session for ever.
   */
  function leaveOut(actor: SessionActor, batch: readonly MailboxItem[], error: Failure): void {
    if (batch.length > 1) {
      actor.oneByOne = true
      actor.inbox.unshift(...batch)
      return
    }
    const [item] = batch
    log.write('error', 'What happened to a session cannot be stored.', {
      sessionId: actor.id,
      ...(item!.run !== undefined && { runId: item!.run }),
      error: error.message,
    })
    item!.reject(error)
    const end = giveUp(item!, 'state_not_saved')
    actor.inbox.unshift(...end)
    if (end.length > 0 || item!.run === undefined) return
    actor.blocked.add(item!.run)
    void wake(actor.id)
  }

  /** Outcomes wait for better times; whoever waits for an answer is told. */
  function putBack(actor: SessionActor, batch: readonly MailboxItem[], error: unknown): void {
    if (!isFailure(error))
      log.write('error', 'A session could not be saved.', { sessionId: actor.id, error: String(error) })
    // What memory says may be wrong now, whichever way the save failed.
    actor.live = undefined
    slots.keep(actor.id, (key) => actor.inFlight.has(key))
    const kept = batch.filter((item) => item.kept && !closed)
    for (const item of batch) if (!kept.includes(item)) item.reject(error)
    actor.inbox.unshift(...kept)
    if (kept.length === 0) return
    // Whoever asked meanwhile is not kept waiting for better times: for them it is tried again now.
    actor.stuck = actor.inbox.every((item) => item.kept)
    queue().alarm(clock.now() + SAVE_AGAIN_MS)
  }

  return {
    adopt(turn) {
      const actor = actorOf(turn.session.id)
      const tree: SessionTree = { session: { ...turn.session, version: 0 }, runs: [], tasks: [] }
      const live = createLive(tree, [], [], versionsOf(tree))
      takeUpdate(live, turn, turn.session.startedAt)
      actor.live = live
      bell.ring(actor.id, turn.session.lastSeq)
      setAlarm(turn)
      actor.inbox.push({ work: () => undefined, resolve() {}, reject() {} })
      // Whoever started the run is answered in what is left of this turn of the event loop, and goes first.
      setImmediate(() => {
        if (actor.inbox.length > 0) run(actor)
      })
    },
    post(sessionId, work) {
      if (closing) return Promise.reject(fail('shutting_down'))
      return enqueue(sessionId, work)
    },
    wake,
    release(sessionId) {
      const actor = actors.get(sessionId)
      if (actor) actor.live = undefined
      return wake(sessionId)
    },
    async fire() {
      for (const actor of actors.values()) {
        if (!actor.stuck) continue
        actor.stuck = false
        run(actor)
      }
      for (;;) {
        if (closing) return undefined
        const due = await store.dueTimers(clock.now(), TIMERS)
        if (due.length === 0) return store.nextTimerAt()
        const fired = await Promise.allSettled(
          due.map((timer) => enqueue(timer.sessionId, (draft) => ring(draft, timer))),
        )
        // What could not be saved is still due.
        if (fired.some((each) => each.status === 'rejected')) return clock.now() + SAVE_AGAIN_MS
      }
    },
    async close(graceMs) {
      closing = true
      const settled = (async () => {
        // A tree that was adopted a moment ago has yet to be looked at.
        for (const actor of actors.values()) if (actor.inbox.length > 0 && !actor.stuck) run(actor)
        while (underWay.size > 0) await Promise.all(underWay)
        await quiet()
      })()
      let timeout: NodeJS.Timeout | undefined
      await Promise.race([
        settled,
        new Promise((resolve) => {
          timeout = setTimeout(resolve, graceMs)
        }),
      ])
      clearTimeout(timeout)
      closed = true
      for (const actor of actors.values()) {
        for (const { controller } of actor.inFlight.values()) controller.abort()
        for (const item of actor.inbox.splice(0)) item.reject(fail('shutting_down'))
      }
      await quiet()
    },
  }
}

/** Who applies and saves has logged what went wrong; nobody waits for this answer. */
const alreadyTold = (): void => {}

/** A timer that has rung is gone, whatever it still means. */
function ring(draft: SessionTransaction, timer: SessionTimer): void {
  draft.timer(timer.runId, timer.kind, timer.ref, null)
  switch (timer.kind) {
    case 'task_timeout':
      timeOut(draft, timer.ref as Parameters<typeof timeOut>[1])
      return
    case 'retry':
    case 'wall_clock':
    case 'hitl_wait':
      advanceRun(draft, timer.runId, { type: `${timer.kind}.due` })
  }
}

/** An item that cannot be applied becomes the end of its run; if even that cannot be, it is dropped. */
function giveUp(item: MailboxItem, errorCode?: 'state_not_saved'): MailboxItem[] {
  const { run } = item
  if (run === undefined || brokenBefore.has(item)) return []
  const end: MailboxItem = {
    ...item,
    work: (draft) => advanceRun(draft, run, { type: 'broken', ...(errorCode && { errorCode }) }),
  }
  brokenBefore.add(end)
  return [end]
}
const brokenBefore = new WeakSet<MailboxItem>()

/** Characters of a result as it will be stored. */
const sizeOf = (result: JsonValue): number =>
  typeof result === 'string' ? result.length : JSON.stringify(result).length

/** An effect that threw has said nothing about the world: a call may have happened. */
function lost(effect: RunEffect): RunTransitionEvent {
  if (effect.do === 'complete') return { type: 'broken' }
  const { id: callId, attempt } = effect.call
  return {
    type: 'call.ended',
    callId,
    attempt,
    outcome: { at: 'unknown', code: 'broken', error: 'The call broke off.' },
  }
}
