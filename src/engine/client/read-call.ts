/** What became of a client's call, as its run and steps say. */
import { digestOfJson } from '../../base/digest.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { holdOfState } from '../../spec/run/hold.ts'
import { taskOfState, type CallOutcome, type LateOutcome, type RunState, type ToolCall } from '../../spec/run/run.ts'
import type { BoundTool } from '../../spec/snapshot.ts'
import { mediaOf } from '../../spec/tool-media.ts'
import type { TaskRecord } from '../../spec/task.ts'
import type { CallRow } from '../../store/session-update.ts'
import type { ClientCallState } from '../interface/client-call.ts'
import { callsOf } from '../prompt/call-results.ts'
import type { RunHandle } from '../transaction/transaction.ts'

/** @returns undefined where the run has no such call */
export function readClientCall(run: RunHandle, callId: string): ClientCallState | undefined {
  const row = run.callRow(callId)
  if (!row) return undefined
  const call = callsAt(run.state).find(({ id }) => id === callId)
  if (run.state.at === 'held') return asked(run, run.state.task)
  if (run.state.at !== 'done' && call && call.state.at !== 'settled') return stateOfOpen(run, call)
  const result = run.lastStep(
    ({ type, content }) =>
      type === 'ToolResult' && content['tool_call_id'] === callId && content['probe_of'] === undefined,
  )
  if (!result) return stateOfStopped(run, row, call?.late)
  const given = givenArguments(run, callId)
  const isEdited = given !== undefined && JSON.stringify(given) !== JSON.stringify(row.arguments)
  return {
    at: 'settled',
    outcome: row.state as CallOutcome,
    result: result.content['result'] ?? null,
    isError: result.content['is_error'] === true,
    media: mediaOf(result.hidden),
    ...(isEdited && { editedArguments: row.arguments }),
    ...(result.content['repeated'] === true && { repeated: true }),
  }
}

/** The arguments that the client gave; a person may have changed them since. */
export function givenArguments(run: RunHandle, callId: string): JsonValue | undefined {
  const step = run.lastStep((each) => each.type === 'Reasoning' && callsOf(each).some(({ id }) => id === callId))
  return step && callsOf(step).find(({ id }) => id === callId)?.arguments
}

/** The oldest call without an outcome that is the same; undefined where none is. */
export function findOpenCall(run: RunHandle, tool: BoundTool | undefined, given: JsonValue): string | undefined {
  if (run.state.at === 'done') return undefined
  const digest = digestOfJson(given)
  const isSame = ({ id, state }: ToolCall): boolean => {
    if (state.at === 'settled' || run.callRow(id)?.ref !== tool?.id) return false
    const before = givenArguments(run, id)
    return before !== undefined && digestOfJson(before) === digest
  }
  return callsAt(run.state).find(isSame)?.id
}

/** The calls that a run has, or had when it stopped. */
function callsAt(state: RunState): readonly ToolCall[] {
  if (state.at === 'held') return callsAt(state.then)
  if (state.at === 'done') return state.from ? callsAt(state.from) : []
  return state.at === 'calling' ? state.calls : []
}

function stateOfOpen(run: RunHandle, call: ToolCall): ClientCallState {
  if (call.state.at === 'unknown') return { at: 'unknown', taskId: call.state.task }
  const task = taskOfState(call.state)
  if (task !== undefined) return asked(run, task)
  const hold = holdOfState({ state: { at: 'calling', turn: 1, calls: [call] } })
  return hold ? { at: 'held', hold } : { at: 'working' }
}

function asked({ tx }: RunHandle, id: TaskRecord['id']): ClientCallState {
  const task = tx.pendingTasks().find((each) => each.id === id)
  if (!task) return { at: 'working' }
  const { title, expiresAt: until, question } = task
  return {
    at: 'asking',
    taskId: id,
    title,
    ...(until !== undefined && { until }),
    ...(question && { answersServer: true }),
  }
}

/** A call without a result, whose run has ended. */
function stateOfStopped(run: RunHandle, { callId, state }: CallRow, late: LateOutcome | undefined): ClientCallState {
  if (late) {
    const outcome = late.isError ? 'failed' : 'executed'
    return { at: 'settled', outcome, result: late.result, isError: late.isError, media: [] }
  }
  const review = run.tx.pendingTasks().find((task) => task.runId === run.id && task.callId === callId)
  if (review || state === 'unknown') return { at: 'unknown', ...(review && { taskId: review.id }) }
  // The words of an erased session are gone; that its call was made is not.
  if (state === 'executed' || state === 'failed') {
    const result = { error: 'erased', message: `The call was made (${state}), and its result has been erased.` }
    return { at: 'settled', outcome: state, result, isError: true, media: [] }
  }
  return { at: 'stopped', message: run.record.error ?? 'Its run ended before it was made.' }
}
