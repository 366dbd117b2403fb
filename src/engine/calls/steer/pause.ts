/** Calls that an operator's pause holds. Whatever was decided about them before is decided again when they go on. */
import type { ToolCall } from '../../../spec/run.ts'
import { pauseOfCall } from '../../limits/pause.ts'
import type { CallHandle } from '../../session/transaction/call-handle.ts'
import { reviewForgotten } from '../recover.ts'

/** True while an operator's pause holds what the call would send, or the run that it would start. */
export const isCallPaused = ({ run, record }: CallHandle): boolean =>
  (record.kind === 'tool' || record.kind === 'agent') && pauseOfCall(run, record.ref) !== undefined

/** The call, held from now on unless it was before. */
export const holdCall = ({ tx, record }: CallHandle): ToolCall =>
  record.paused === undefined ? { ...record, paused: tx.now } : record

/** The call as it goes on: to be authorized again. */
export function resumeCall(call: CallHandle): CallHandle {
  const { paused: _, ...record } = call.record
  const { approval } = record
  const forgotten = reviewForgotten(call.as(record))
  if (forgotten) return call.as(forgotten)
  if (record.state.at !== 'ready') return call.as(record)
  return call.as({ ...record, state: { at: 'proposed', ...(approval && { approved: approval }) } })
}
