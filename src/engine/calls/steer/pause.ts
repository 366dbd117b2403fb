/** Calls held by an operator's pause. They are decided again when they continue. */
import type { ToolCall } from '../../../spec/run/run.ts'
import { pauseOfCall } from '../../limits/pause.ts'
import type { CallHandle } from '../../transaction/call-handle.ts'
import { reviewForgotten } from '../recover.ts'

/** True while a pause holds the effect of the call, or the run that it would start. */
export const isCallPaused = ({ run, record }: CallHandle): boolean =>
  (record.kind === 'tool' || record.kind === 'agent') && pauseOfCall(run, record.ref) !== undefined

/** Marks the call as held; keeps the time of an earlier hold. */
export const holdCall = (call: CallHandle): ToolCall =>
  call.record.paused === undefined ? call.with({ paused: call.tx.now }).record : call.record

/** Ends the hold: the call is to be authorized again. */
export function resumeCall(call: CallHandle): CallHandle {
  const here = call.without('paused')
  const forgotten = reviewForgotten(here)
  if (forgotten) return here.as(forgotten)
  return here.record.state.at === 'ready' ? here.as(here.toProposed()) : here
}
