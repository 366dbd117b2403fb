/** Chooses the steps that a fork takes over, and applies the edits to them. */
import { fail } from '../base/failure.ts'
import { textOf, type JsonObject } from '../base/json/json.ts'
import { PAUSE_TURN } from '../providers/provider.ts'
import { type RunStep, type StepType, isWholeCompletion, EDITED_MEMBERS } from '../spec/step.ts'
import type { ForkRequest, ForkSource, StepEdit } from './interface/engine.ts'
import { callsOf } from './prompt/call-results.ts'
import { withEarlierTexts } from './prompt/earlier.ts'
import type { RunHandle } from './transaction/transaction.ts'
import { tellUndone, type UndoneNote } from './session/undone.ts'

/**
 * The conversation with the model. Decisions and tasks stay with the original run: no approval of it counts for the fork.
 */
const TAKEN: ReadonlySet<StepType> = new Set([
  'UserMessage',
  'Reasoning',
  'ToolCall',
  'ToolResult',
  'SubAgentCall',
  'SubAgentResult',
  'OutputValidation',
])

function takenSteps({ run, steps }: ForkSource, at: number): readonly RunStep[] {
  if (!steps.some(({ ordinal }) => ordinal === at)) throw fail('step_not_found', { runId: run.id, step: at })
  const taken = steps.filter(
    ({ type, ordinal, content }) => ordinal <= at && TAKEN.has(type) && content['probe_of'] === undefined,
  )
  if (taken.length === 0) throw fail('step_not_forkable', { step: at, why: 'the run had not begun' })
  const children = (type: StepType) =>
    new Set(taken.flatMap((step) => (step.type === type ? textOf(step.content['child_run_id']) : [])))
  const ended = children('SubAgentResult')
  const answered = new Set(
    taken.flatMap(({ type, content }) => (type === 'ToolResult' ? textOf(content['tool_call_id']) : [])),
  )
  const asks = taken.some(
    ({ type, content }) =>
      type === 'SubAgentCall' &&
      answered.has(textOf(content['tool_call_id'])) &&
      !ended.has(textOf(content['child_run_id'])),
  )
  if (asks) throw fail('step_not_forkable', { step: at, why: 'a sub-agent waits for an answer there' })
  if (isAnswered(taken)) throw fail('step_not_forkable', { step: at, why: 'the run had given its answer' })
  return taken
}

/** True if the steps end with a final answer, after which no completion follows. */
function isAnswered(taken: readonly RunStep[]): boolean {
  const last = taken.findLast(
    (step) =>
      isWholeCompletion(step) ||
      step.type === 'UserMessage' ||
      (step.type === 'OutputValidation' && step.content['valid'] !== true),
  )
  if (!last || !isWholeCompletion(last) || last.content['finish_reason'] === PAUSE_TURN) return false
  return callsOf(last).length === 0
}

/** @throws Failure `step_not_found`, `step_not_forkable`, `step_not_editable` */
export function editedSteps(source: ForkSource, { at, edits }: Pick<ForkRequest, 'at' | 'edits'>): readonly RunStep[] {
  const taken = takenSteps(source, at)
  for (const { ordinal: step } of edits) {
    if (taken.some(({ ordinal }) => ordinal === step)) continue
    const named = source.steps.find(({ ordinal }) => ordinal === step && ordinal <= at)
    if (!named) throw fail('step_not_found', { runId: source.run.id, step })
    throw fail('step_not_editable', { step, type: named.type })
  }
  return taken.map((step) => withEdit(step, edits))
}

function withEdit(step: RunStep, edits: readonly StepEdit[]): RunStep {
  const edit = edits.find(({ ordinal }) => ordinal === step.ordinal)
  if (!edit) return step
  const member = EDITED_MEMBERS[step.type]
  if (member === undefined || (member === 'text' && typeof edit.value !== 'string'))
    throw fail('step_not_editable', { step: step.ordinal, type: step.type })
  const { hidden: _, ...shown } = step
  return { ...shown, content: { ...step.content, [member]: edit.value, edited: true } }
}

export function copyStep(run: RunHandle, { type, content, error, hidden }: RunStep, source: ForkSource): void {
  run.addStep(type, shownContent(type, content, source), {
    ...(error !== null && { error }),
    ...(hidden && { hidden }),
  })
}

function shownContent(type: StepType, content: JsonObject, source: ForkSource): JsonObject {
  const { usage: _, cost: __, ...kept } = content
  if (type === 'Reasoning') return kept
  if (type === 'UserMessage') return withEarlierTexts(content, source.before)
  const undone = tellUndone(undoneWithin(type, content, source))
  return undone === undefined ? content : { ...content, undone }
}

/** The notes about undone calls that concern a step with the result of a call or a sub-agent. */
function undoneWithin(type: StepType, content: JsonObject, { run, undone }: ForkSource): readonly UndoneNote[] {
  if (type === 'ToolResult')
    return undone.filter(({ call }) => call.runId === run.id && call.callId === content['tool_call_id'])
  if (type === 'SubAgentResult') return undone.filter(({ path }) => path.some((id) => id === content['child_run_id']))
  return []
}
