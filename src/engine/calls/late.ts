import type { LateOutcome } from '../../spec/run.ts'
import type { RunHandle } from '../session/transaction/transaction.ts'

/** Keeps what became known of a call after its run had ended, in case the run is resumed. The run stays ended. */
export function keepLateOutcome(run: RunHandle, callId: string, { result, isError, notExecuted }: LateOutcome): void {
  const { state } = run
  if (state.at !== 'done' || state.from?.at !== 'calling') return
  const late: LateOutcome = { result, isError, ...(notExecuted && { notExecuted }) }
  const calls = state.from.calls.map((call) => (call.id === callId ? { ...call, late } : call))
  run.setState({ ...state, from: { ...state.from, calls } })
}
