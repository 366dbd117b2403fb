/** Starts the effects that a session asks for, aborts those it no longer needs, and posts their outcomes to its mailbox. */
import { dieAtFailpoint, isSwitchedOff } from '../../base/failpoint.ts'
import type { Instant } from '../../base/clock.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import { wellFormedJson } from '../../base/json/well-formed.ts'
import { positionOf } from '../calls/open-questions.ts'
import { agentNamed, isUnsafeCall, offeredTools } from '../session/bindings.ts'
import type { EngineParts } from '../interface/engine.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { Outages } from '../capacity/outages.ts'
import type { CallState, Run } from '../../spec/run/run.ts'
import type { ServerAnswer, ServerQuestion } from '../../spec/server-question.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { findPause, type EffectSubject } from '../../spec/steer/pause.ts'
import { HELD_BACK } from '../../tools/outcome.ts'
import type { ToolOutcome, ToolProgress } from '../../tools/tool.ts'
import { messagesBefore } from '../prompt/earlier.ts'
import { slotOwnerOf, type SlotOwner } from '../capacity/fair-line.ts'
import type { createCompletionSlots, Slots } from '../capacity/slots.ts'
import { undoneNotes } from '../session/undone.ts'
import { effectsOf, unknownKeys, waitingKeys, type RunEffect } from '../effects/effects.ts'
import type { SessionLeases } from './leases.ts'
import type { DriverLifecycle, MailboxOptions, SessionActor } from './mailbox.ts'
import { createMeter } from '../effects/meter.ts'
import type { DescribedTools } from '../effects/model-tools.ts'
import type { SessionNotifier } from './notifier.ts'
import { isAllAnswer } from './output-text.ts'
import { reachedCauses } from '../effects/outage-end.ts'
import type { Pauses } from './pauses.ts'
import type { EffectContext, EffectInFlight } from '../effects/effect-in-flight.ts'
import { performEffect, type LiveReports } from '../effects/perform-effect.ts'

export interface EffectRunner {
  /** Brings the effects in flight in line with the state of the session. */
  reconcile(actor: SessionActor, live: LiveSession): void
  /** Resolves when no effect is in flight and every outcome is posted. */
  settled(): Promise<void>
  /** Breaks off every effect that is in flight. */
  abortAll(): void
}

export interface EffectRunnerParts {
  readonly parts: EngineParts
  readonly notifier: SessionNotifier
  readonly slots: Slots
  readonly outages: Outages
  readonly pauses: Pauses
  readonly described: DescribedTools
  readonly enter: ReturnType<typeof createCompletionSlots>
  readonly lifecycle: DriverLifecycle
  readonly leases: SessionLeases
  /** Resolves when the event is applied, or cannot be; never rejects. */
  readonly postEvent: (
    sessionId: SessionId,
    runId: RunId,
    event: RunTransitionEvent,
    options?: MailboxOptions,
  ) => Promise<void>
}

export function createEffectRunner(runner: EffectRunnerParts): EffectRunner {
  const { slots, outages, pauses, lifecycle, enter, leases, postEvent } = runner
  const underWay = new Map<EffectInFlight, Promise<void>>()

  function start(actor: SessionActor, live: LiveSession, effect: RunEffect, epoch: number): void {
    const subject = subjectOfEffect(live, effect)
    const isPaused = (provider?: string): boolean => {
      const known = pauses.known(live.tree.session.workspaceId)
      return !known || findPause(known, provider === undefined ? subject : { ...subject, provider }) !== undefined
    }
    const token = actor.tokens.get(effect.key)
    actor.tokens.delete(effect.key)
    const started: EffectInFlight = {
      ...(token !== undefined && { token }),
      isCall: effect.do === 'invoke',
      isUnsafe: effect.do === 'invoke' && isUnsafeCall(snapshotOfEffect(live, effect), effect.call),
      isCalledOff: false,
      controller: new AbortController(),
      meter: createMeter(),
      enter: (provider, signal) => enter(provider, ownerOfEffect(live, effect), signal),
      mayLeave: (provider) =>
        !started.isCalledOff && (isSwitchedOff('guard') || (leases.mayLeave(actor.id, epoch) && !isPaused(provider))),
    }
    actor.inFlight.set(effect.key, started)
    const done = runEffect(actor, live, effect, started).finally(() => {
      underWay.delete(started)
      slots.ended(effect.key)
    })
    underWay.set(started, done)
  }

  async function runEffect(
    actor: SessionActor,
    live: LiveSession,
    effect: RunEffect,
    started: EffectInFlight,
  ): Promise<void> {
    const { workspaceId } = live.tree.session
    // If the pauses cannot be read, nothing leaves.
    if (!pauses.known(workspaceId)) await pauses.read(workspaceId).catch(() => {})
    const event = await outcomeOf(runner, live, effect, started, (question, until) =>
      askPerson(actor, effect, started, question, until),
    )
    if (!event) return
    for (const cause of reachedCauses(live, effect, event)) outages.over(cause)
    // The tree has already moved on from an effect that was called off. Whether a call was made is recorded all the same.
    const isKnown = event.type === 'call.ended' && event.outcome.at !== 'unknown'
    const isCalledOff = started.isCalledOff || started.controller.signal.aborted
    if ((isCalledOff && !isKnown) || lifecycle.phase === 'closed') return
    await postEvent(actor.id, effect.runId, event, { effectKey: effect.key, retrySave: true })
  }

  /** Opens a task for a question of a server whose call is open; resolves with the answer that `reconcile` finds in the session. */
  function askPerson(
    actor: SessionActor,
    effect: RunEffect,
    started: EffectInFlight,
    question: ServerQuestion,
    until: Instant,
  ): Promise<ServerAnswer> {
    if (effect.do !== 'invoke') return Promise.resolve(NO_ANSWER)
    const { id: callId, attempt } = effect.call
    const event = { type: 'call.asked', callId, attempt, question, until } as const
    return new Promise((resolve) => {
      started.asking = { name: question.name, resolve }
      void postEvent(actor.id, effect.runId, event, { retrySave: true }).then(() => {
        // The call is no longer under way, or cannot ask.
        if (questionOf(actor, effect)?.name !== question.name) resolve(NO_ANSWER)
      })
    })
  }

  /**
   * An unsafe call that has left is not cut off, which would undo nothing: its answer closes the review that was opened for it. Until
   * then it counts for the bounds on what is under way.
   */
  function callOffUnwanted(
    { inFlight }: SessionActor,
    wanted: ReadonlySet<string>,
    unknown: ReadonlySet<string>,
  ): void {
    for (const [key, started] of inFlight) {
      if (wanted.has(key) || unknown.has(key)) continue
      started.isCalledOff = true
      if (!started.isUnsafe) started.controller.abort()
      else if (underWay.has(started)) slots.outlast(key)
      inFlight.delete(key)
    }
  }

  return {
    reconcile(actor, live) {
      // A call that an earlier process sent must not be sent again before its recovery is applied.
      if (actor.inbox.some(({ isRecovery }) => isRecovery)) return
      const wanted = effectsOf(live.tree).filter(({ runId }) => !actor.blockedRuns.has(runId))
      const keys = new Set(wanted.map(({ key }) => key))
      callOffUnwanted(actor, keys, unknownKeys(live.tree))
      const waiting = waitingKeys(live.tree)
      actor.awaitsSlot = waiting.size > 0
      slots.keep(actor.id, (key) => keys.has(key) || waiting.has(key))
      for (const effect of wanted) passAnswerOn(effect, actor.inFlight.get(effect.key))
      const { epoch } = actor
      if (epoch === undefined || live.isHeld) return
      const missing = wanted.filter(({ key }) => !actor.inFlight.has(key))
      if (lifecycle.phase === 'open') {
        for (const effect of missing) start(actor, live, effect, epoch)
        return
      }
      const inFlight = new Set(actor.inFlight.keys())
      // Closes calls that were recorded as sent but never left: the next start would take them for lost.
      for (const runId of new Set(missing.map((effect) => effect.runId)))
        void postEvent(actor.id, runId, { type: 'stopped', inFlight })
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay.values())
    },
    abortAll() {
      for (const { controller } of underWay.keys()) controller.abort()
    },
  }
}

const NO_ANSWER: ServerAnswer = { action: 'cancel' }

/** The question that a call under way has now, in the session as it is. */
function questionOf({ live }: SessionActor, { key }: RunEffect): SentState['question'] {
  const effect = live && effectsOf(live.tree).find((each) => each.key === key)
  return effect?.do === 'invoke' && effect.call.state.at === 'sent' ? effect.call.state.question : undefined
}

type SentState = Extract<CallState, { at: 'sent' }>

/** Tells the server of a call what a person has answered. */
function passAnswerOn(effect: RunEffect, started: EffectInFlight | undefined): void {
  const { asking } = started ?? {}
  if (!asking || effect.do !== 'invoke' || effect.call.state.at !== 'sent') return
  const { question } = effect.call.state
  if (question?.name === asking.name && 'answer' in question) asking.resolve(question.answer)
}

/** For whom an effect happens: who started the root run above. */
function ownerOfEffect({ tree }: LiveSession, { runId }: RunEffect): SlotOwner {
  const find = (id: RunId | null): Run | undefined => tree.runs.find((each) => each.id === id)
  let above = find(runId)
  while (above && !above.starter) above = find(above.parentRunId)
  return slotOwnerOf(above?.starter ?? tree.session, tree.session, runId)
}

/** Performs an effect. @returns undefined when it was aborted before it had an outcome */
async function outcomeOf(
  { parts, notifier, slots, described }: EffectRunnerParts,
  live: LiveSession,
  effect: RunEffect,
  started: EffectInFlight,
  onQuestion: LiveReports['onQuestion'],
): Promise<RunTransitionEvent | undefined> {
  const { runId, do: kind } = effect
  const redactor = parts.redactor.stream()
  const context = effectContextOf(live, runId, described)
  const isAnswer = isAllAnswer(context.run, context.snapshot)
  const publish = createTextPublisher(parts, notifier, live, runId, isAnswer)
  try {
    if (kind === 'invoke') dieAtFailpoint('effect.afterDispatchRecord')
    const turn = kind === 'invoke' ? slots.enter(effect.key) : undefined
    if (turn && (!(await turn) || hasWaitedLong(effect, parts.clock.now()))) return heldBack(effect)
    if (!started.mayLeave()) return heldBack(effect)
    const shown: LiveReports = {
      onText: (text) => publish(redactor.push(text)),
      onProgress(progress) {
        if (effect.do === 'invoke') publishProgress(parts, notifier, live, effect, progress)
      },
      onQuestion,
    }
    const event = parts.redactor.json(await performEffect(parts, effect, context, shown, started))
    if (event.type === 'call.ended' && event.outcome.at !== 'unknown')
      slots.arrived(effect.key, event.outcome.at === 'returned' ? storedLength(event.outcome) : 0)
    dieAtFailpoint(kind === 'invoke' ? 'effect.afterReply' : 'model.afterReply')
    publish(redactor.end())
    return event
  } catch (error) {
    if (started.controller.signal.aborted) return undefined
    parts.log.write('error', 'An effect failed unexpectedly.', { runId, effect: kind, error: String(error) })
    return unknownOutcome(effect)
  }
}

/** A call whose turn took more of its time-out than it can spare, because its tool has become slow: it is recorded anew. */
function hasWaitedLong(effect: RunEffect, now: Instant): boolean {
  if (effect.do !== 'invoke' || effect.call.state.at !== 'sent') return false
  const { sentAt, notAfter } = effect.call.state
  return now - sentAt > (notAfter - sentAt) / 10
}

/** An effect that was not started: it is requested again, or held. */
const heldBack = (effect: RunEffect): RunTransitionEvent =>
  effect.do === 'complete'
    ? { type: 'model.held_back', turn: effect.turn, attempt: effect.attempt }
    : { type: 'call.ended', callId: effect.call.id, attempt: effect.call.attempt, outcome: HELD_BACK }

function snapshotOfEffect({ tree, versions }: LiveSession, { runId }: RunEffect): AgentSnapshot {
  return versions.of(tree.runs.find(({ id }) => id === runId)!).snapshot
}

/** The names by which a pause holds the effect. */
function subjectOfEffect({ tree, versions }: LiveSession, effect: RunEffect): EffectSubject {
  const agents: string[] = []
  const labels: string[] = []
  let run = tree.runs.find(({ id }) => id === effect.runId)
  const { snapshot } = versions.of(run!)
  for (; run; run = tree.runs.find(({ id }) => id === run?.parentRunId)) {
    agents.push(run.agentName)
    labels.push(`${run.agentName}@${run.versionLabel}`)
  }
  const target = effect.do === 'invoke' ? { tool: effect.call.ref } : { provider: snapshot.model.provider }
  return { agents, versions: labels, ...target }
}

/** Publishes model text to those who follow the session now. */
const createTextPublisher =
  ({ clock }: EngineParts, notifier: SessionNotifier, live: LiveSession, runId: RunId, isAnswer: boolean) =>
  (text: string): void => {
    if (text === '') return
    const { id: sessionId, lastSeq } = live.tree.session
    const data = { sessionId, runId, text }
    notifier.publishDelta(
      {
        sessionId,
        runId,
        ts: clock.now(),
        kind: 'step',
        subject: 'engine.step.delta',
        data,
        ...(isAnswer && { isAnswer }),
      },
      lastSeq,
    )
  }

/** Tells those who follow the session now what a tool reports. */
function publishProgress(
  { clock, redactor }: EngineParts,
  notifier: SessionNotifier,
  live: LiveSession,
  { runId, call }: Extract<RunEffect, { do: 'invoke' }>,
  progress: ToolProgress,
): void {
  const { id: sessionId, lastSeq } = live.tree.session
  const data = { sessionId, runId, toolCallId: call.id, ...wellFormedJson(redactor.json(progress)) }
  notifier.publishDelta(
    { sessionId, runId, ts: clock.now(), kind: 'step', subject: 'engine.step.progress', data },
    lastSeq,
  )
}

function effectContextOf(live: LiveSession, runId: RunId, described: DescribedTools): EffectContext {
  const run = live.tree.runs.find((each) => each.id === runId)!
  const { snapshot } = live.versions.of(run)
  return {
    run,
    snapshot,
    steps: [...(live.steps.get(runId) ?? [])],
    before: messagesBefore(run, {
      said: live.said,
      undone: undoneNotes(live.tree.runs, () => [...live.calls.values()]),
    }),
    described,
    offered: offeredTools(snapshot, positionOf(run, live.tree.runs)),
    childOf: (wire) => {
      const bound = agentNamed(snapshot, wire)
      return bound && live.versions.childOf(bound)
    },
  }
}

/** Characters of a result as it will be stored. */
const storedLength = ({ result, media = [] }: Extract<ToolOutcome, { at: 'returned' }>): number =>
  (typeof result === 'string' ? result : JSON.stringify(result)).length +
  media.reduce((sum, { data }) => sum + data.length, 0)

/** The outcome of an effect that threw: a call may have happened. */
function unknownOutcome(effect: RunEffect): RunTransitionEvent {
  if (effect.do === 'complete') return { type: 'broken' }
  const { id: callId, attempt } = effect.call
  return {
    type: 'call.ended',
    callId,
    attempt,
    outcome: { at: 'unknown', code: 'broken', error: 'The call broke off.' },
  }
}
