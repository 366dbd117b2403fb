/** The call that undoes a recorded call. Source: docs/design/steering.md#undo */
import { isJsonObject, textOf, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { readUndo, undoArguments } from '../../../policy/undo-mapping.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { AgentSnapshot, BoundTool } from '../../../spec/snapshot.ts'
import type { RunStep } from '../../../spec/step.ts'
import type { CallRow } from '../../../store/session-update.ts'
import { toolNamed } from '../../session/bindings.ts'
import type { RunHandle } from '../../transaction/transaction.ts'

/** A call that was made, with what is recorded of its run. */
export interface CallToUndo {
  readonly row: CallRow
  readonly state: Run['state']
  readonly snapshot: AgentSnapshot
  /** Ids of the run that made it. */
  readonly steps: readonly RunStep[]
}

/** The call that undoes another one. */
export interface ResolvedUndo {
  /** Wire name and logical id of the tool that undoes. */
  readonly name: string
  readonly tool: string
  readonly arguments: JsonObject
  /** Logical id of the tool that was called. */
  readonly undoes: string
}

/** The text that replaces secrets in records. */
const MASK = '***'

/** @returns `why` in a sentence where the call cannot be undone */
export function resolveRecorded(call: CallToUndo): ResolvedUndo | { readonly why: string } {
  const { row, snapshot } = call
  const tool = calledTool(call)
  if (row.state === 'unknown') return { why: 'Nobody knows whether it happened: its review comes first.' }
  if (row.state === 'failed') return { why: 'It answered with an error; whether it did anything is not known.' }
  const read = tool && readUndo(tool.labels)
  if (!tool || !read) return { why: `${row.ref} does not say what undoes it (svc/undone-by).` }
  if ('none' in read) return { why: `Nothing undoes ${row.ref} (svc/undone-by: none).` }
  if ('problem' in read) return { why: `What undoes ${row.ref} cannot be read: ${read.problem}` }
  const undoing = snapshot.tools.find(({ id }) => id === read.mapping.tool)
  if (!undoing || undoing.builtin)
    return {
      why: `${row.ref} is undone by ${read.mapping.tool}, which ${snapshot.id}@${snapshot.version} does not bind.`,
    }
  const filled = undoArguments(read.mapping, { args: row.arguments, result: resultOf(call) })
  if ('problem' in filled) return { why: `The arguments of ${undoing.id} cannot be filled in: ${filled.problem}.` }
  if (JSON.stringify(filled.arguments).includes(MASK))
    return { why: `The arguments of ${undoing.id} held a secret, which is not recorded.` }
  return { name: undoing.wire, tool: undoing.id, arguments: filled.arguments, undoes: row.ref }
}

/** `resolveRecorded` for a call of a run in a transaction. */
export function resolveUndo(run: RunHandle, callId: string): ResolvedUndo | { readonly why: string } {
  const row = run.callRow(callId)
  if (!row) return { why: 'There is no record of it.' }
  return resolveRecorded({ row, state: run.state, snapshot: run.snapshot, steps: run.steps() })
}

/** The tool that a recorded call called, by the name that its step has where several bindings name it. */
export function calledTool({ row, snapshot, steps }: CallToUndo): BoundTool | undefined {
  const sent = dispatchOf(steps, row.callId)
  const named = sent && toolNamed(snapshot, textOf(sent.content['name']))
  return named?.id === row.ref ? named : snapshot.tools.find(({ id }) => id === row.ref)
}

/** The step of the last dispatch of a call. */
export const dispatchOf = (steps: readonly RunStep[], callId: string): RunStep | undefined =>
  steps.findLast(({ type, content }) => type === 'ToolCall' && content['tool_call_id'] === callId)

/** The result of the call, also one reported after its run had ended. */
function resultOf({ row, steps, state }: CallToUndo): JsonValue {
  const late = lateOf(state, row.callId)
  if (late) return late.result
  const step = steps.findLast(
    ({ type, content }) =>
      type === 'ToolResult' && content['tool_call_id'] === row.callId && content['probe_of'] === undefined,
  )
  return step ? toolResultOf(step.content) : null
}

function lateOf(state: Run['state'], callId: string) {
  const from = state.at === 'done' ? state.from : undefined
  return from?.at === 'calling' ? from.calls.find(({ id }) => id === callId)?.late : undefined
}

/** The result of a call as its tool gave it, also where it does not match the output schema. */
export function toolResultOf({ result = null }: JsonObject): JsonValue {
  const wrapped = isJsonObject(result) && result['error'] === 'invalid_result' ? result['result'] : undefined
  return wrapped === undefined ? result : wrapped
}
