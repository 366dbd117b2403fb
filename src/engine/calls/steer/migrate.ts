/**
 * The open calls of a run that moves to another version: unsent calls are decided again by its policies, and open approvals
 * are asked for again. Source: docs/design/steering.md#migrate
 */
import type { RunState, ToolCall } from '../../../spec/run/run.ts'
import { CallHandle } from '../../transaction/call-handle.ts'
import type { RunHandle, StateAt } from '../../transaction/transaction.ts'
import { proceedWithCalls } from '../calls.ts'

export const migrateCalls = (run: RunHandle, here: StateAt<'calling'>): RunState =>
  proceedWithCalls(run, {
    ...here,
    calls: here.calls.map((record) => proposeAgain(new CallHandle(run, here.turn, record))),
  })

function proposeAgain(call: CallHandle): ToolCall {
  const { tx, run, record } = call
  const { state } = record
  // Questions of the engine's own tools do not come from policies.
  if (record.kind === 'builtin') return record
  if (state.at === 'awaiting') {
    const task = tx.pendingTasks().find(({ id }) => id === state.task)
    // An escalated question of a sub-agent is answered in that sub-agent.
    if (task?.kind !== 'approval' && task?.kind !== 'escalation') return record
    tx.cancelTask(task)
    return call.to({ at: 'proposed' })
  }
  if (state.at !== 'ready' && state.at !== 'retrying') return record
  if (state.at === 'retrying') run.setTimer('retry', record.id, null)
  return call.toProposed()
}
