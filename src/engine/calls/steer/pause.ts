/** Calls held by an operator's pause. They are decided again when they continue. */
import type { ToolCall } from '../../../spec/run.ts'
import { pauseOfCall } from '../../limits/pause.ts'
import type { CallHandle } from '../../session/transaction/call-handle.ts'
import { reviewForgotten } from '../recover.ts'

/** True while a pause holds the effect of the call, or the run that it would start. */
export const isCallPaused = ({ run, record }: CallHandle): boolean =>
  (record.kind === 'tool' || record.kind === 'agent') && pauseOfCall(run, record.ref) !== undefined

/** Marks the call as held; keeps the time of an earlier hold. */
export const holdCall = ({ tx, record }: CallHandle): ToolCall =>
  record.paused === undefined ? { ...record, paused: tx.now } : record

/** Ends the hold: the call is to be authorized again. */
export function resumeCall(call: CallHandle): CallHandle {
  const { paused: _, ...record } = call.record
  const { approval } = record
  const forgotten = reviewForgotten(call.as(record))
  if (forgotten) return call.as(forgotten)
  if (record.state.at !== 'ready') return call.as(record)
  return call.as({ ...record, state: { at: 'proposed', ...(approval && { approved: approval }) } })
}
