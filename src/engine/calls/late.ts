import type { LateOutcome } from '../../spec/run.ts'
import { CallHandle } from '../session/transaction/call-handle.ts'
import type { RunHandle } from '../session/transaction/transaction.ts'

/** Keeps what became known of a call after its run had ended, in case the run is resumed. The run stays ended. */
export function keepLateOutcome(run: RunHandle, callId: string, { result, isError, notExecuted }: LateOutcome): void {
  const { state } = run
  if (state.at !== 'done' || state.from?.at !== 'calling') return
  const late: LateOutcome = { result, isError, ...(notExecuted && { notExecuted }) }
  const { turn, calls: stopped } = state.from
  const calls = stopped.map((call) =>
    call.id === callId ? new CallHandle(run, turn, call).with({ late }).record : call,
  )
  run.setState({ ...state, from: { ...state.from, calls } })
}
