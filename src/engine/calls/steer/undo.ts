/**
 * Undoing a call: a run of its own, below the run that made the call, with one call and no model. It uses the version, the
 * policies and the sources of the run that made the call. Otherwise its call is like any other: with decisions, approvals,
 * keys, holds and recovery. When it completes, the next call of the same request is undone. Source: docs/design/steering.md#undo
 */
import {
  NOTHING_USED,
  undoneAsJson,
  undoneCallOf,
  type CallReference,
  type ErrorCode,
  type Run,
  type UndoneCall,
} from '../../../spec/run/run.ts'
import { traceOfCall } from '../../../spec/run/run-trace.ts'
import type { RunStarter } from '../../../spec/run/starter.ts'
import { completedState, failedState } from '../../limits/ending.ts'
import { proposeCall, type CallHandle } from '../../transaction/call-handle.ts'
import type { RunHandle, StateAt } from '../../transaction/transaction.ts'
import { toolResultOf, resolveUndo, type ResolvedUndo } from './undo-arguments.ts'
import { undoStateOf } from '../../session/undone.ts'
import { errorTextOf } from '../settle.ts'

/** The operator who asked for an undo, and why. */
export interface UndoRequester {
  readonly starter: RunStarter
  readonly by: string
  readonly reason: string | null
}

/** The id of the only call of a run that undoes another call. */
const UNDO_CALL = 'undo'

/**
 * Adds the run that undoes a call, with its call proposed: nothing is decided yet.
 * @param request `first` is absent for the first call of a request
 */
export function addUndoRun(
  made: RunHandle,
  call: CallReference,
  { name, tool, arguments: given, undoes }: ResolvedUndo,
  request: UndoRequester & Pick<UndoneCall, 'calls'> & { readonly first?: UndoneCall['first'] },
): CallHandle {
  const { tx, record } = made
  const { starter, by, reason, calls, first } = request
  const id = tx.context.ids.next<'run'>() as Run['id']
  const origin: UndoneCall = {
    kind: 'undo',
    runId: call.runId,
    callId: call.callId,
    tool: undoes,
    by,
    reason,
    first: first ?? id,
    ...(calls && { calls }),
  }
  const run = tx.addRun({
    ...record,
    id,
    parentRunId: record.id,
    parentCallId: null,
    depth: record.depth + 1,
    // A value in the input of the undoing run has the sources that it has in the run above.
    input: given,
    state: { at: 'calling', turn: 1, calls: [] },
    status: 'Running',
    usage: { ...NOTHING_USED, tainted: record.usage.tainted, trace: traceOfCall(record, call.callId) },
    lastSequence: 0,
    output: null,
    error: null,
    errorCode: null,
    startedAt: tx.now,
    finishedAt: null,
    starter,
    origin,
  })
  run.addEvent('run', 'engine.run.started', { status: 'Running', output: null, error: null })
  run.addStep('UndoRequested', { undoes: undoneAsJson(origin), name, ref: tool, arguments: given })
  const proposal = { id: UNDO_CALL, index: 0, name, kind: 'tool', ref: tool, arguments: given } as const
  const proposed = proposeCall(run, 1, proposal)
  run.setState({ at: 'calling', turn: 1, calls: [proposed.record] })
  return proposed
}

/** Ends the run when its call is settled. */
export function concludeUndo(run: RunHandle): StateAt<'done'> {
  const undone = undoneCallOf(run.record)!
  const { calls } = run.state as StateAt<'calling'>
  const [call] = calls
  const outcome = call?.state.at === 'settled' ? call.state.outcome : 'failed'
  const result = run.lastStep(({ type, content }) => type === 'ToolResult' && content['tool_call_id'] === UNDO_CALL)
  const isGiven = result?.content['repeated'] === true && result.content['is_error'] !== true
  if (outcome === 'executed' || isGiven) return completedState(result ? toolResultOf(result.content) : null)
  const why = errorTextOf(result?.content['result'] ?? 'it was not made')
  return failedState(CODES[outcome] ?? 'tool_failed', `${call?.name ?? 'The call'} did not undo ${undone.tool}: ${why}`)
}

const CODES: Readonly<Record<string, ErrorCode>> = { denied: 'rejected', rejected: 'rejected' }

/** Undoes the next call of the request, once this one is undone. */
export function undoNext(run: RunHandle): undefined {
  const { tx } = run
  const { first, runId, callId, by, reason } = undoneCallOf(run.record)!
  const asked = undoneCallOf(tx.run(first).record)?.calls ?? []
  const at = asked.findIndex((call) => call.runId === runId && call.callId === callId)
  for (const call of asked.slice(at + 1)) {
    if (undoStateOf(call, tx.runs(), tx.callRows()).at !== 'open') continue
    const made = tx.run(call.runId)
    const resolved = resolveUndo(made, call.callId)
    // The call could be undone when the operator asked, and records do not change.
    if ('why' in resolved) continue
    const starter = run.record.starter!
    addUndoRun(made, call, resolved, { starter, by, reason, first }).run.queueEvent({ type: 'admitted' })
    return
  }
}
