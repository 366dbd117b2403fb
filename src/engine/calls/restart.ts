/** Calls across a restart: recovers what an earlier process sent, and takes back what this one will not send. */
import type { RunState, ToolCall } from '../../spec/run/run.ts'
import { CallHandle } from '../transaction/call-handle.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { proceedWithCalls } from './calls.ts'
import { retryCallsAtStart } from './outage.ts'
import { MAX_ATTEMPTS, recoverDispatch } from './recover.ts'

/** Recovers calls that a process sent before it ended, and continues the others. */
export function recoverCalls(run: RunHandle, here: StateAt<'calling'>, inFlight: ReadonlySet<string>): RunState {
  const lost = {
    error: 'The server ended before the outcome was known.',
    code: 'dispatch:broken',
    attempts: MAX_ATTEMPTS,
  }
  const calls = updateSentElsewhere(run, here, inFlight, (call) => {
    // Its server asked on a request that is gone.
    run.cancelTaskOf(call.record.id)
    return recoverDispatch(call, lost)
  })
  return proceedWithCalls(run, retryCallsAtStart(run, { ...here, calls }))
}

/** Makes calls ready again that this process recorded as sent and never dispatched. */
export function revertUnsent(
  run: RunHandle,
  here: StateAt<'calling'>,
  inFlight: ReadonlySet<string>,
): RunState | undefined {
  const calls = updateSentElsewhere(run, here, inFlight, (call) => {
    call.closeDispatch('The server stopped before the call was sent.')
    return call.to({ at: 'ready' }, { attempt: call.record.attempt + 1 })
  })
  return calls.every((call, index) => call === here.calls[index]) ? undefined : { ...here, calls }
}

/** Updates the calls that are recorded as sent and are not in flight in this process. */
const updateSentElsewhere = (
  run: RunHandle,
  here: StateAt<'calling'>,
  inFlight: ReadonlySet<string>,
  update: (call: CallHandle) => ToolCall,
): ToolCall[] =>
  here.calls.map((record) => {
    const call = new CallHandle(run, here.turn, record)
    return record.state.at === 'sent' && !inFlight.has(call.dispatchKey) ? update(call) : record
  })
