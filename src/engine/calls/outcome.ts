/** Applies the outcomes of dispatches. This is also where a call of unknown outcome gets its recovery. */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { RunState, ToolCall } from '../../spec/run/run.ts'
import { checkValue } from '../../tools/check/check.ts'
import type { ToolOutcome } from '../../tools/tool.ts'
import { endEffectOf, type CallHandle } from '../transaction/call-handle.ts'
import type { TransitionEventOf } from '../session/event.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { updateCalls } from './calls.ts'
import { routeToPerson } from './gate/gate.ts'
import { keepLateOutcome, settleCall, settleWithError, toolError } from './settle.ts'
import { postponeCall } from './outage.ts'
import { isReadOnlyCall, MAX_LIVE_ATTEMPTS, recoverDispatch, routeLost, realAttemptsOf } from './recover.ts'
import { askForServer } from './server-questions.ts'
import { endsOutside, waitOutside } from './wait.ts'

/**
 * Applies the outcome of a dispatch; outcomes of earlier attempts are ignored. A process that lost the session may still
 * report the outcome of its own attempt, which another process meanwhile treated as unknown; then no review is needed.
 */
export function applyCallOutcome(
  run: RunHandle,
  here: StateAt<'calling'>,
  { callId, attempt, outcome }: TransitionEventOf<'call.ended'>,
): RunState | undefined {
  const isDispatched = ({ id, state, attempt: latest }: ToolCall): boolean =>
    id === callId && latest === attempt && (state.at === 'sent' || (state.at === 'unknown' && outcome.at !== 'unknown'))
  return updateCalls(run, here, isDispatched, (call) => {
    // A review is open where another process treated the outcome as unknown.
    run.cancelTaskOf(callId)
    return applyOutcome(call, outcome)
  })
}

function applyOutcome(call: CallHandle, outcome: ToolOutcome): ToolCall {
  if (outcome.at === 'returned' && !outcome.isError && endsOutside(call)) return waitOutside(call)
  if (outcome.at === 'returned') return settleWithResult(call, outcome)
  if (outcome.at === 'asked') return askForServer(call, outcome)
  if (outcome.at === 'not_sent' && outcome.code === 'held_back') {
    call.closeDispatch(outcome.error)
    return call.to({ at: 'ready' }, { attempt: call.record.attempt + 1 })
  }
  // A policy that says who decides about a lost read comes before the wait for its tool.
  if (outcome.at === 'unknown' && isReadOnlyCall(call) && realAttemptsOf(call) === MAX_LIVE_ATTEMPTS) {
    const routed = routeLost(call, outcome.error, `dispatch:${outcome.code}`)
    if (routed) return routed
  }
  const postponed = postponeCall(call, outcome)
  if (postponed) return postponed
  if (outcome.at === 'unknown' || call.record.inDoubt) {
    const { error, code } = outcome
    return recoverDispatch(call, { error, code: `dispatch:${code}`, attempts: MAX_LIVE_ATTEMPTS })
  }
  const routed = outcome.code === 'no_handler' ? routeToPerson(call, 'no_handler') : undefined
  if (!routed) return settleWithError(call, 'not_sent', toolError(`dispatch:${outcome.code}`, outcome.error))
  call.closeDispatch(outcome.error)
  return call.as(routed).with({ attempt: call.record.attempt + 1 }).record
}

export function settleWithResult(
  call: CallHandle,
  { result, isError, durationMs, notExecuted, media }: Extract<ToolOutcome, { at: 'returned' }>,
): ToolCall {
  const errors = isError ? [] : findResultProblems(call, result)
  if (errors.length === 0)
    return settleCall(call, {
      outcome: isError ? 'failed' : 'executed',
      result,
      isError,
      durationMs,
      ...(notExecuted && { notExecuted }),
      ...(media && { media }),
    })
  const invalid = toolError(
    'invalid_result',
    `${call.record.name} was executed, but its result does not match its output schema.`,
    { details: errors, result },
  )
  return settleCall(call, { outcome: 'executed', result: invalid, isError: true, durationMs })
}

function findResultProblems({ tool }: CallHandle, result: JsonValue): JsonObject[] {
  const schema = tool?.outputSchema
  return schema === undefined ? [] : checkValue(schema, result).map(({ path, message }) => ({ path, message }))
}

/**
 * Applies an outcome that arrives after the run has ended. The run stays as it is; the record of the call is corrected, because
 * policy conditions of other runs count it.
 */
export function applyLateOutcome(
  run: RunHandle,
  { callId, attempt, outcome }: TransitionEventOf<'call.ended'>,
): undefined {
  const { tx } = run
  const row = run.callRow(callId)
  if (outcome.at === 'unknown' || row?.state !== 'unknown' || row.attempt !== attempt) return
  const tool = run.snapshot.tools.find(({ id }) => id === row.ref)
  // The tool has only accepted the call.
  if (outcome.at === 'returned' && !outcome.isError && endsOutside({ tool })) return
  // A server that only asks has not made it.
  const isNotMade = outcome.at === 'not_sent' || outcome.at === 'asked'
  const hasFailed = outcome.at === 'returned' && outcome.isError
  const made = hasFailed ? 'failed' : 'executed'
  tx.recordCallRow({ ...row, state: isNotMade ? 'not_sent' : made, at: tx.now })
  if (outcome.at === 'returned') keepLateOutcome(run, callId, outcome)
  const isGone = isNotMade || outcome.notExecuted === true
  const known = hasFailed ? 'unknown' : 'done'
  endEffectOf(run, row, isGone ? 'not_made' : known)
  // The outcome is known, so no review is needed.
  run.cancelTaskOf(callId)
}
