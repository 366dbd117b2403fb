/**
 * Resumes a run that has failed or was cancelled, from the state in which it stopped. Only what comes next is decided here; it is
 * sent once the session was read again, as after a restart. Source: docs/design/steering.md#resume
 */
import { fail } from '../../base/failure.ts'
import type { LimitName, RunState } from '../../spec/run/run.ts'
import { type RunStep, isWholeCompletion } from '../../spec/step.ts'
import { PAUSE_TURN } from '../../providers/provider.ts'
import { proposeCalls } from '../calls/calls.ts'
import { resumeCalls } from '../calls/steer/resume.ts'
import { findBreachAfterCompletion, findBreachBeforeCompletion, grantLimit, hitlWaitBreach } from '../limits/limits.ts'
import { textOf } from '../../base/json/json.ts'
import { setBudgetTimers } from '../transaction/derive.ts'
import type { LimitBreach, TransitionEventOf } from '../session/event.ts'
import { callsOf } from '../prompt/call-results.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { withEndCounted } from '../transaction/waits.ts'
import { joinPausedAnswer } from './incomplete.ts'
import { concludeRun } from './output.ts'

/** @throws Failure `limit_reached`, and nothing has changed, where a limit would end the run again at once */
export function resumeRun(
  run: RunHandle,
  here: StateAt<'done'>,
  { by, reason, version, grants }: TransitionEventOf<'resumed'>,
): RunState | undefined {
  const { from, error, errorCode, outcome } = here
  if (outcome === 'completed' || !from) return undefined
  const { tx, record, usage } = run
  const before = record.versionLabel
  run.update({
    state: from,
    status: 'Running',
    output: null,
    error: null,
    errorCode: null,
    finishedAt: null,
    usage: {
      ...withEndCounted(usage, record.finishedAt ?? tx.now, tx.now),
      resumes: (usage.resumes ?? 0) + 1,
      // The time until now counts as ended, not once more as held.
      ...(tx.context.heldSince !== undefined && { holdCountedTo: tx.now }),
    },
    ...(version && {
      agentVersionId: version.id,
      versionLabel: version.snapshot.version,
      llmModel: version.snapshot.model.name,
    }),
  })
  const granted = errorCode === 'limit_exceeded' ? grantReached(run, from, grants === true) : []
  run.addStep('RunResumed', {
    resumed_by: by,
    reason,
    status: record.status,
    error: error ?? null,
    ...(version && { version: version.snapshot.version, from_version: before }),
    ...(granted.length > 0 && { granted }),
  })
  const running = { status: 'Running', output: null, error: null }
  run.addEvent('run', 'engine.run.resumed', { ...running, resumedBy: by })
  if (record.parentRunId === null) run.addEvent('session', 'engine.session.resumed', running)
  setBudgetTimers(run)
  resumeChildren(run, from, by)
  return nextOf(run, from)
}

/** Maximum grants of one limit at a resumption, in case a single completion went far beyond it. */
const MAX_GRANTS = 100

/** Grants the limits that would end the run again, as often as needed. */
function grantReached(run: RunHandle, from: RunState, mayGrant: boolean): LimitName[] {
  const granted: LimitName[] = []
  for (let breach = breachOf(run, from); breach; breach = breachOf(run, from)) {
    const { limit, value, used } = breach
    if (!mayGrant || granted.length >= MAX_GRANTS) throw fail('limit_reached', { limit, value, used })
    grantLimit(run, limit)
    granted.push(limit)
  }
  return granted
}

function breachOf(run: RunHandle, from: RunState): LimitBreach | undefined {
  const found = isBegun(from) ? findBreachBeforeCompletion(run) : findBreachAfterCompletion(run, true)
  return found ?? hitlWaitBreach(run)
}

/** False where a limit ended the run before the calls of its last completion were decided. */
const isBegun = (from: RunState): boolean =>
  from.at !== 'calling' || from.calls.some(({ state }) => state.at !== 'proposed')

const countIteration = (run: RunHandle): void => run.updateUsage({ iterations: run.usage.iterations + 1 })

/** Resumes children that ended with this run, and reports those that ended by themselves meanwhile. */
function resumeChildren(run: RunHandle, from: RunState, by: string): void {
  for (const child of run.children()) {
    const { state } = child
    if (state.at !== 'done') continue
    const endedWithParent = state.outcome === 'cancelled' && state.cancelledBy === undefined
    if (endedWithParent && state.from) child.queueEvent({ type: 'resumed', by, reason: null })
    else if (from.at === 'calling') {
      const waiting = from.calls.find((call) => call.state.at === 'delegated' && call.state.child === child.id)
      if (waiting) run.queueEvent({ type: 'child.ended', callId: waiting.id, child: child.id })
    }
  }
}

function nextOf(run: RunHandle, from: RunState): RunState {
  switch (from.at) {
    case 'thinking':
    case 'backing_off': {
      const answer = unreadAnswer(run)
      if (!answer) return askAgain(run, from.turn, from)
      const calls = callsOf(answer)
      if (calls.length === 0) return concludeFrom(run, from.turn, answer)
      countIteration(run)
      return proposeCalls(run, from.turn, calls)
    }
    case 'calling': {
      if (!isBegun(from)) countIteration(run)
      const calls = resumeCalls(run, from)
      const isOver = calls.every(({ state }) => state.at === 'settled')
      return isOver ? askAgain(run, from.turn + 1) : { ...from, calls }
    }
    case 'reviewing':
      return concludeFrom(run, from.turn, run.lastStep(isWholeCompletion)!)
    // Restores a final answer that waited for a limit or a review.
    case 'held':
    case 'done':
      return from
  }
}

/** Requests a completion as a retry that is due, so that a restart in between finds it again. */
function askAgain(run: RunHandle, turn: number, earlier?: StateAt<'thinking' | 'backing_off'>): StateAt<'backing_off'> {
  const { attempt = 0, note } = earlier ?? {}
  run.setTimer('retry', '', run.tx.now)
  return {
    at: 'backing_off',
    turn,
    // Answers to earlier attempts do not count.
    attempt: attempt + 1,
    ...(attempt > 0 && { lost: attempt }),
    until: run.tx.now,
    ...(note && { note }),
  }
}

const concludeFrom = (run: RunHandle, turn: number, answer: RunStep): RunState =>
  concludeRun(run, turn, joinPausedAnswer(run, textOf(answer.content['text'])), false)

/**
 * A complete answer without a successor: a limit ended the run before the calls were proposed, or before it became the
 * output.
 */
function unreadAnswer(run: RunHandle): RunStep | undefined {
  const last = run.lastStep(
    (step) =>
      isWholeCompletion(step) ||
      step.type === 'UserMessage' ||
      (step.type === 'OutputValidation' && step.content['valid'] === false),
  )
  if (!last || !isWholeCompletion(last) || last.content['finish_reason'] === PAUSE_TURN) return undefined
  return callsOf(last).some(({ id }) => run.callRow(id)) ? undefined : last
}
