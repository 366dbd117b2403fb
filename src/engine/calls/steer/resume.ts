/**
 * Calls of a run that is resumed after it had ended. Calls that were made keep their results; calls that were certainly not
 * made are proposed, and so authorized, again; a person decides about calls that may have been made. Source: docs/design/steering.md#resume
 */
import type { ToolCall } from '../../../spec/run/run.ts'
import { CallHandle } from '../../transaction/call-handle.ts'
import type { RunHandle, StateAt } from '../../transaction/transaction.ts'
import { MAX_ATTEMPTS, prepareRepetition, recoverDispatch } from '../recover.ts'
import { openOutcomeReview } from '../../review/review.ts'
import { settleCall } from '../settle.ts'

/** Continues the calls of the completion at which the run stopped. Sends nothing. */
export const resumeCalls = (run: RunHandle, { turn, calls }: StateAt<'calling'>): readonly ToolCall[] =>
  calls.map((record) => resumeCall(new CallHandle(run, turn, record)))

function resumeCall(call: CallHandle): ToolCall {
  const { record } = call
  const { state } = record
  switch (state.at) {
    case 'settled':
      return state.ends ? resumeEnding(call, state) : record
    // The child is resumed too, or its end settles the call.
    case 'delegated':
    case 'asking':
      return call.to(state)
    case 'waiting':
      return resumeWait(call, state)
    case 'sent':
    case 'unknown':
      return resumeUncertain(call)
    case 'proposed':
    case 'ready':
    case 'retrying':
    case 'awaiting':
    case 'listening':
      return record.inDoubt ? resumeUncertain(call) : proposeAgain(call)
  }
}

/** The call that ended the run. A refusal stays: the model has read it, and continues in the next turn. */
function resumeEnding(call: CallHandle, { outcome, ends }: Extract<ToolCall['state'], { at: 'settled' }>): ToolCall {
  // The call was held for the longest time allowed and never made.
  if (outcome === 'not_sent') return proposeAgain(call.with({ attempt: call.record.attempt + 1 }))
  // A person stopped the run over an unknown outcome, which is still unknown.
  if (ends?.errorCode === 'tool_failed') return sendAgain(call) ?? openOutcomeReview(call, ENDED)
  return call.to({ at: 'settled', outcome })
}

/** Keeps waiting until the same time, also for external work, whose token is still valid, unless its end was reported. */
function resumeWait(call: CallHandle, state: Extract<ToolCall['state'], { at: 'waiting' }>): ToolCall {
  const { run, record } = call
  const isKnown = record.late !== undefined || run.callRow(record.id)?.state !== 'unknown'
  if (state.wait.kind === 'external' && isKnown) return resumeUncertain(call)
  // The review that was opened when the run ended.
  run.cancelTaskOf(record.id)
  const { until } = state.wait
  if (until !== undefined) run.setTimer('call_wait', record.id, until)
  return call.to(state)
}

/** A call that was sent, or may have been, when the run ended. */
function resumeUncertain(call: CallHandle): ToolCall {
  const { late, ...record } = call.record
  const here = call.without('late')
  if (late) return settleCall(here, { outcome: late.isError ? 'failed' : 'executed', ...late })
  const known = call.run.callRow(record.id)?.state
  // Its tool or a person has reported since that it was not made.
  if (known === 'not_sent' || known === 'skipped') return proposeAgain(here.with({ attempt: record.attempt + 1 }))
  return askWhatHappened(here)
}

const ENDED = 'The run had ended before the outcome was known.'

/** Sends a safe call again, and asks a person about any other. */
function askWhatHappened(call: CallHandle): ToolCall {
  const earlier = call.run.cancelTaskOf(call.record.id)
  const lost = { error: ENDED, code: 'dispatch:broken', attempts: MAX_ATTEMPTS, ...(earlier && { earlier }) }
  return sendAgain(call) ?? recoverDispatch(call, lost)
}

function sendAgain(call: CallHandle): ToolCall | undefined {
  const next = prepareRepetition(call, { error: ENDED, attempts: MAX_ATTEMPTS })
  return next && proposeAgain(next)
}

/** Approvals and decisions do not outlast the end of a run: the call is authorized again. */
const proposeAgain = (call: CallHandle): ToolCall =>
  call
    .without('decisionId', 'approvedBy', 'approval', 'repeats', 'effectWait', 'paused', 'outage', 'late', 'input')
    .to({ at: 'proposed' })
