/** Asks for the parts of an answer: an acknowledgement, edited arguments, an outcome, a value. */
import { fail, isFailure } from '../../../base/failure.ts'
import { safeJson, safeText } from '../../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { questionFieldsIn, isAnsweredWithFields, isRequired, type TaskQuestion } from '../../../spec/server-question.ts'
import { isIrreversibleCall, repeatsEarlierCall, type ShownTask } from '../../../spec/task.ts'
import { presentKeyedTask } from '../../../view/task/task-actions.ts'
import { fitApproval } from '../../../terminal/approval.ts'
import { wrapText } from '../../../terminal/text.ts'
import { unlessLeft } from '../../shell/io.ts'
import { parseJsonInput } from '../input.ts'
import { outputUnderReview } from '../../../view/output-review.ts'
import { askAcknowledgement } from './acknowledge.ts'
import { fieldValueOf, jsonOrText, valueOf } from './answer-value.ts'
import { awaitReading, readOfferedKey } from './await-reading.ts'
import { again, type OpenDecision, type PromptAnswer } from './open-decision.ts'

/** Asks for an output, for what shows comprehension, or, where one press is not enough, for a second key. */
export async function askApproval(decision: OpenDecision, task: ShownTask): Promise<PromptAnswer> {
  const { surface, signal } = decision
  const output = outputUnderReview(task)
  if (output !== undefined) {
    const edited = await unlessLeft(surface.edit(output, signal))
    return edited === undefined ? 'again' : { approved: true, textValue: edited.trim() }
  }
  if (task.comprehensionRequired !== true) {
    const warnings = [
      ...(repeatsEarlierCall(task) ? ['this was done before'] : []),
      ...(isIrreversibleCall(task) ? ['this cannot be undone'] : []),
    ]
    const isConfirmed =
      warnings.length === 0 || (await confirmByKey(decision, task, `${warnings.join(', and ')}: approve it?`))
    return isConfirmed ? { approved: true } : 'again'
  }
  if (await askAcknowledgement(task.arguments, surface, signal)) return { approved: true, acknowledged: true }
  return again(decision, 'That is not what the call says; nothing was approved.')
}

export async function askEdit(decision: OpenDecision, task: ShownTask): Promise<PromptAnswer> {
  const { surface, signal } = decision
  const before = JSON.stringify(task.arguments ?? {}, null, 2)
  try {
    const saved = await unlessLeft(surface.edit(`${before}\n`, signal))
    if (saved === undefined) return 'again'
    const edited = parseJsonInput(saved, 'What was saved')
    if (!isJsonObject(edited)) throw fail('usage', { what: 'Arguments are an object.' })
    if (JSON.stringify(edited, null, 2) === before) return again(decision, 'Nothing was changed.')
    if (!(await confirmEdit(decision, task, edited))) return 'again'
    if (task.comprehensionRequired !== true) return { approved: true, arguments: edited }
    if (await askAcknowledgement(edited, surface, signal))
      return { approved: true, arguments: edited, acknowledged: true }
    return 'again'
  } catch (error) {
    if (!isFailure(error)) throw error
    return again(decision, error.message)
  }
}

const confirmEdit = (decision: OpenDecision, task: ShownTask, edited: JsonObject): Promise<boolean> =>
  confirmByKey(decision, task, 'approve with these arguments?', changesOf(task.arguments ?? {}, edited))

/**
 * Asks for `y` in place of the keys of the card: another key than the first, so that no key that is held, pressed twice or
 * pasted gives both.
 * @param changes shown above the question
 */
async function confirmByKey(
  decision: OpenDecision,
  task: ShownTask,
  question: string,
  changes: readonly string[] = [],
): Promise<boolean> {
  const { session, surface } = decision
  const card = presentKeyedTask(task, session.call.io.clock.now())
  const { canvas } = surface
  const footer = canvas.theme.strong(`${question}  [y]es  [n]o`)
  const wrapped = changes.flatMap((line) => wrapText(line, canvas.width - 2))
  decision.panel = undefined
  for (;;) {
    const show = (isEarly: boolean): void => {
      const below = [...wrapped, ...(decision.panel?.lines ?? [])]
      surface.show(fitApproval(surface.canvas, card, surface.rows, { below, footer, isEarly }).lines)
    }
    await awaitReading(decision, `${question}\n${wrapped.join('\n')}`, ['y'], [], () => show(true))
    show(false)
    const key = await readOfferedKey(decision, ['y', 'n'], ['y'])
    if (key !== undefined) return key === 'y'
  }
}

/** The old and new value of each edited argument. */
function changesOf(before: JsonValue, edited: JsonObject): string[] {
  const old = isJsonObject(before) ? before : {}
  const names = [...new Set([...Object.keys(old), ...Object.keys(edited)])]
  const line = (mark: string, name: string, value: JsonValue | undefined): string[] =>
    value === undefined ? [] : [`  ${mark} ${safeText(name)}  ${safeJson(value)}`]
  return names
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(edited[name]))
    .flatMap((name) => [...line('-', name, old[name]), ...line('+', name, edited[name])])
}

/** OpenDecision on a call with unknown outcome. If it happened, the person enters the result for the model. */
export async function askOutcome(decision: OpenDecision, task: ShownTask, optionId: string): Promise<PromptAnswer> {
  const { surface, signal } = decision
  if (optionId === 'retry' && isIrreversibleCall(task)) {
    const isConfirmed = await confirmByKey(decision, task, 'this cannot be undone: send it again?')
    return isConfirmed ? { selectedOptionId: optionId } : 'again'
  }
  if (optionId !== 'happened') return { selectedOptionId: optionId }
  const otherwise = task.context?.['probe'] === undefined ? 'none' : 'what a probe found'
  const question = `Its result, as JSON or text (empty: ${otherwise}; Escape: back):`
  const typed = (await unlessLeft(surface.text(question, signal)))?.trim()
  if (typed === undefined) return 'again'
  return { selectedOptionId: optionId, ...(typed !== '' && { metadata: { 'svc/result': jsonOrText(typed) } }) }
}

/** Asks for a text, a number or one of many options. An empty line leaves the task open. */
export async function askValue(decision: OpenDecision, { kind, options, question }: ShownTask): Promise<PromptAnswer> {
  if (question && isAnsweredWithFields(question)) return askFields(decision, question)
  const { surface, signal } = decision
  const typed = (await unlessLeft(surface.text('Answer (empty: later):', signal)))?.trim() ?? ''
  if (typed === '') return 'later'
  try {
    return valueOf(kind, options, typed)
  } catch (error) {
    if (!isFailure(error)) throw error
    return again(decision, error.message)
  }
}

/** Asks for the fields of a form, one after the other. */
async function askFields(decision: OpenDecision, { schema }: TaskQuestion): Promise<PromptAnswer> {
  const { surface, signal } = decision
  const content: Record<string, JsonValue> = {}
  try {
    for (const field of questionFieldsIn(schema)) {
      const isNeeded = isRequired(schema, field.name)
      const question = `${safeText(field.name)}${isNeeded ? '' : ' (empty: left out)'}, Escape: back:`
      const typed = (await unlessLeft(surface.text(question, signal)))?.trim()
      if (typed === undefined) return 'again'
      if (typed !== '') content[field.name] = fieldValueOf(field, typed)
    }
    return { textValue: JSON.stringify(content) }
  } catch (error) {
    if (!isFailure(error)) throw error
    return again(decision, error.message)
  }
}
