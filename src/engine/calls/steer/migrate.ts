/**
 * The open calls of a run that moves to another version: what nobody has sent is decided again by its policies, and who was asked
 * before is asked anew. Source: decisions, section 18.
 */
import type { RunState, ToolCall } from '../../../spec/run.ts'
import { CallHandle } from '../../session/transaction/call-handle.ts'
import type { RunHandle, StateAt } from '../../session/transaction/transaction.ts'
import { proceedWithCalls } from '../calls.ts'

export const migrateCalls = (run: RunHandle, here: StateAt<'calling'>): RunState =>
  proceedWithCalls(run, {
    ...here,
    calls: here.calls.map((record) => proposeAgain(new CallHandle(run, here.turn, record))),
  })

function proposeAgain(call: CallHandle): ToolCall {
  const { tx, run, record } = call
  const { state, approval } = record
  // A question of the engine's own tools is no decision of a policy.
  if (record.kind === 'builtin') return record
  if (state.at === 'awaiting') {
    const task = tx.pendingTasks().find(({ id }) => id === state.task)
    // The question of a sub-agent that was escalated is answered where it was asked.
    if (task?.kind !== 'approval' && task?.kind !== 'escalation') return record
    tx.closeTask({ ...task, answer: { outcome: 'cancelled' } }, 'cancelled')
    return call.moveTo({ at: 'proposed' })
  }
  if (state.at !== 'ready' && state.at !== 'retrying') return record
  if (state.at === 'retrying') run.setTimer('retry', record.id, null)
  return call.moveTo({ at: 'proposed', ...(approval && { approved: approval }) })
}
