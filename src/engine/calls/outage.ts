/**
 * Calls whose tool or secret cannot be reached: they are made later, after they were authorized again, and the model does not
 * see the delay. They were certainly not made, or their class allows that they are made again.
 */
import type { Instant } from '../../base/clock.ts'
import { isHeldBy } from '../../spec/run/outage.ts'
import type { RunState, ToolCall } from '../../spec/run/run.ts'
import type { ToolOutcome } from '../../tools/tool.ts'
import { describeExpired, laterAttempt, nextAttempt } from '../limits/outage.ts'
import { CallHandle } from '../transaction/call-handle.ts'
import type { OutageReport, TransitionEventOf } from '../session/event.ts'
import { toolCause } from '../capacity/outages.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { updateCalls } from './calls.ts'
import { isReadOnlyCall, MAX_ATTEMPTS, mayBeRepeated, reviewForgotten, realAttemptsOf } from './recover.ts'

type Unanswered = Extract<ToolOutcome, { at: 'not_sent' | 'unknown' }>

/**
 * The call as it waits for its next attempt; undefined where its outcome is no outage, the agent does not wait, or the call may not
 * be made again. An outage that outlasts what the agent allows fails the run, unless a person has to say what became of the call.
 */
export function postponeCall(call: CallHandle, outcome: Unanswered): ToolCall | undefined {
  const report = reportOf(call, outcome)
  if (!report) return undefined
  const { run, record } = call
  const inDoubt = record.inDoubt === true || (outcome.at === 'unknown' && !isReadOnlyCall(call))
  const step = nextAttempt(run, record.outage, report)
  if (step.outcome === 'give_up') {
    if (!step.expired || !record.outage || inDoubt) return undefined
    const error = describeExpired(record.outage, run.tx.now, outcome.error)
    return call.to({ at: 'settled', outcome: 'not_sent', ends: { error, errorCode: 'outage' } })
  }
  call.closeDispatch(outcome.error)
  run.setTimer('retry', record.id, step.until)
  return call.to(
    { at: 'retrying', until: step.until },
    { attempt: record.attempt + 1, ...(inDoubt && { inDoubt }), outage: step.outage },
  )
}

function reportOf(call: CallHandle, { at, code, error, retryAfterMs }: Unanswered): OutageReport | undefined {
  const { run, record, tool } = call
  if ((at === 'unknown' || record.inDoubt) && !mayBeRepeated(call)) return undefined
  if (code === 'secret_missing') return { reason: 'secret_missing', cause: error }
  const isBroken = code === 'broken' && realAttemptsOf(call) < MAX_ATTEMPTS
  if (!tool || (code !== 'unreachable' && !isBroken)) return undefined
  return {
    reason: tool.mcp ? 'mcp_unreachable' : 'tool_unreachable',
    cause: toolCause(run.snapshot, tool),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** Makes the calls that are due. The timer of a later attempt is set again, since one that fired has cleared it. */
export function retryCalls(run: RunHandle, here: StateAt<'calling'>): RunState | undefined {
  for (const { id, state } of here.calls) if (state.at === 'retrying') run.setTimer('retry', id, state.until)
  return retry(run, here, ({ until }) => until <= run.tx.now)
}

export const retryCallsAfterOutage = (
  run: RunHandle,
  here: StateAt<'calling'>,
  { cause }: TransitionEventOf<'outage.over'>,
): RunState | undefined => retry(run, here, (_, call) => call.outage?.cause === cause)

/** An operator reports that the outage is over, so the calls do not wait for their next attempt. */
export const retryCallsNow = (run: RunHandle, here: StateAt<'calling'>): RunState | undefined =>
  updateCalls(run, here, ({ state }) => state.at === 'retrying', authorizeAgain)

/** Continues calls after another wait, if all are held or settled; undefined while others are in flight. */
export function callsToResume(run: RunHandle, { turn, calls }: StateAt<'calling'>): readonly ToolCall[] | undefined {
  const isHeld = ({ state, outage }: ToolCall): boolean =>
    state.at === 'retrying' && outage !== undefined && isHeldBy(outage)
  if (!calls.some(isHeld) || !calls.every((call) => isHeld(call) || call.state.at === 'settled')) return undefined
  return calls.map((record) => {
    return record.state.at === 'retrying' ? authorizeAgain(new CallHandle(run, turn, record)) : record
  })
}

/** A decision is valid for seconds only: a held call is authorized again, with the approval that it has. */
function authorizeAgain(call: CallHandle): ToolCall {
  const { run, record } = call
  run.setTimer('retry', record.id, null)
  return reviewForgotten(call) ?? call.toProposed()
}

/** A process that starts may have the secret that was missing. */
export const retryCallsAtStart = (run: RunHandle, here: StateAt<'calling'>): StateAt<'calling'> => ({
  ...here,
  calls: here.calls.map((record) =>
    record.state.at === 'retrying' && record.outage?.reason === 'secret_missing'
      ? attemptAgain(new CallHandle(run, here.turn, record))
      : record,
  ),
})

function retry(
  run: RunHandle,
  here: StateAt<'calling'>,
  isDue: (state: { readonly until: Instant }, call: ToolCall) => boolean,
): RunState | undefined {
  const matches = (call: ToolCall): boolean => call.state.at === 'retrying' && isDue(call.state, call)
  return updateCalls(run, here, matches, attemptAgain)
}

function attemptAgain(call: CallHandle): ToolCall {
  const { run, record } = call
  const later = laterAttempt(run, record.outage)
  run.setTimer('retry', record.id, later ?? null)
  if (later !== undefined) return call.to({ at: 'retrying', until: later })
  return record.outage && isHeldBy(record.outage) ? authorizeAgain(call) : call.to({ at: 'ready' })
}
