/** Ends calls that wait for a time, a signal, or work outside. Source: docs/design/steering.md#waits-outside */
import { toIsoText } from '../../base/clock.ts'
import type { InvalidPlace } from '../../base/failure.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { RunState, ToolCall } from '../../spec/run/run.ts'
import { checkValue } from '../../tools/check/check.ts'
import type { TransitionEventOf } from '../session/event.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { updateCalls } from './calls.ts'
import { settleWithResult } from './outcome.ts'
import { recoverDispatch } from './recover.ts'
import { settleCall, settleWithError, toolError } from './settle.ts'

/** Ends the waits whose time has come. */
export function applyCallWait(run: RunHandle, here: StateAt<'calling'>): RunState | undefined {
  const isDue = ({ state }: ToolCall): boolean =>
    state.at === 'waiting' && state.wait.until !== undefined && state.wait.until <= run.tx.now
  return updateCalls(run, here, isDue, (call) => {
    const { state } = call.record
    if (state.at !== 'waiting') return call.record
    const { wait } = state
    if (wait.kind === 'timer')
      return settleCall(call, { outcome: 'executed', result: { waited_until: toIsoText(run.tx.now) } })
    if (wait.kind === 'signal')
      return settleWithError(call, 'failed', toolError('timeout', `No signal ${wait.name} came in time.`))
    // The tool had accepted the call, so it is unknown whether the work was done.
    return recoverDispatch(call, { error: 'Nobody reported its end in time.', code: 'dispatch:timeout', attempts: 0 })
  })
}

/** The first call of a run that waits for a signal. */
export const awaitedSignal = ({ state }: RunHandle, name: string): ToolCall | undefined =>
  state.at !== 'calling'
    ? undefined
    : state.calls.find(({ state: at }) => at.at === 'waiting' && at.wait.kind === 'signal' && at.wait.name === name)

/** The faults in the payload of a signal. */
export const signalProblems = ({ state }: ToolCall, data: JsonValue): readonly InvalidPlace[] =>
  state.at === 'waiting' && state.wait.kind === 'signal' && state.wait.schema !== undefined
    ? checkValue(state.wait.schema, data)
    : []

/** Ends the wait of one call with a signal. */
export function applySignal(
  run: RunHandle,
  here: StateAt<'calling'>,
  { callId, name, data }: TransitionEventOf<'signal'>,
): RunState | undefined {
  return updateCalls(
    run,
    here,
    (call) => call.id === callId && call.state.at === 'waiting',
    (call) => {
      run.setTimer('call_wait', call.record.id, null)
      return settleCall(call, { outcome: 'executed', result: { signal: name, data } })
    },
  )
}

/** The call that a token ends; undefined once it has ended. */
export const callOfToken = ({ state }: RunHandle, digest: string): ToolCall | undefined =>
  state.at !== 'calling'
    ? undefined
    : state.calls.find((call) => call.state.at !== 'settled' && call.tokens?.includes(digest) === true)

/** Ends a call with what was reported from outside; also one whose tool has not answered yet, or whose outcome is in doubt. */
export function applyReport(
  run: RunHandle,
  here: StateAt<'calling'>,
  { callId, result, isError }: TransitionEventOf<'call.reported'>,
): RunState | undefined {
  return updateCalls(
    run,
    here,
    ({ id, state }) => id === callId && state.at !== 'settled',
    (call) => {
      const { state } = call.record
      run.setTimer('call_wait', callId, null)
      run.setTimer('retry', callId, null)
      // A review of its outcome, or the approval of another attempt.
      run.cancelTaskOf(callId)
      const sentAt = state.at === 'sent' ? state.sentAt : run.tx.now
      const since = state.at === 'waiting' ? state.since : sentAt
      return settleWithResult(call, { at: 'returned', result, isError, durationMs: run.tx.now - since })
    },
  )
}

/** The error that a report of failure gives to the model. */
export const reportedError = (error: JsonValue): JsonValue =>
  isJsonObject(error) ? error : toolError('failed', typeof error === 'string' ? error : JSON.stringify(error))
