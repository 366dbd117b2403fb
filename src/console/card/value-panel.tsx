/** Answers of tasks that ask for a value: an option, a text, a number, the outcome of a call, a reply. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import { parseJson, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { TaskDecision } from '../../client/index.ts'
import type { ProbeView } from '../../operations/tasks.ts'
import { CANCELS_QUESTION, questionFieldsIn, isAnsweredWithFields } from '../../spec/server-question.ts'
import type { ShownTask } from '../../spec/task.ts'
import type { View } from '../parts/view.ts'
import { takeText } from '../parts/input.ts'
import { callOperator, findRefusal } from '../wire/request.ts'
import {
  ArgumentForm,
  fieldsOf,
  readForm,
  textsOfFields,
  type FormField,
  type FormOutcome,
  type FormTexts,
} from './argument-form.tsx'
import type { DecidePanelProps } from './decision.ts'

export function ValuePanel({ task, isSending, blocked, onDecide, onLater }: DecidePanelProps): View {
  const [option, setOption] = useState('')
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const { options = [], kind, question } = task
  const form = question && isAnsweredWithFields(question) ? fieldsOf(question.schema, {}) : []
  const proposed = proposedTexts(form, question?.schema)
  const [fields, setFields] = useState<FormOutcome>(() => readForm(form, proposed))
  const send = (event: Event): void => {
    event.preventDefault()
    const answer = form.length > 0 ? readFields(fields) : readAnswer(task, option, text)
    if (typeof answer === 'string') setProblem(answer)
    else onDecide(answer)
  }
  const refuse = (metadata?: JsonObject): void => onDecide({ approved: false, ...(metadata && { metadata }) })
  const takesText = form.length === 0 && (options.length === 0 || (kind === 'anomaly_review' && option === 'happened'))
  return (
    <form class="decide" onSubmit={send}>
      {options.length > 0 && (
        <fieldset class="choices">
          <legend>{kind === 'anomaly_review' ? 'What happened?' : 'Choose'}</legend>
          {options.map(({ id, label }) => (
            <label class="choice" key={id}>
              <input type="radio" name="option" value={id} checked={option === id} onChange={() => setOption(id)} />
              <span>{safeText(label)}</span>
            </label>
          ))}
        </fieldset>
      )}
      {form.length > 0 && <ArgumentForm fields={form} initial={proposed} onChange={setFields} />}
      {takesText && (
        <label class="field">
          <span>{LABELS[kind] ?? 'Answer'}</span>
          {kind === 'number' ? (
            <input inputmode="decimal" value={text} autocomplete="off" onInput={takeText(setText)} />
          ) : (
            <textarea rows={3} value={text} onInput={takeText(setText)} />
          )}
        </label>
      )}
      {task.context?.['probe'] !== undefined && <Probe task={task} />}
      {(problem ?? blocked) !== undefined && (
        <p class="why-not" role="alert">
          {problem ?? blocked}
        </p>
      )}
      <div class="buttons">
        <button
          class="button primary"
          disabled={isSending || blocked !== undefined || (options.length > 0 && option === '')}
        >
          Answer
        </button>
        {question && (
          <>
            <button type="button" class="button" disabled={isSending} onClick={() => refuse()}>
              Decline
            </button>
            <button
              type="button"
              class="button"
              disabled={isSending}
              onClick={() => refuse({ [CANCELS_QUESTION]: true })}
            >
              Close without an answer
            </button>
          </>
        )}
        <button type="button" class="button quiet" onClick={onLater}>
          Later <kbd>l</kbd>
        </button>
      </div>
    </form>
  )
}

const LABELS: Readonly<Record<string, string>> = {
  number: 'Number',
  anomaly_review: 'Its result, as JSON or text (empty: what a probe found, else none)',
  reply: 'Reply',
}

/** The decision, or why what was typed is none. */
function readAnswer({ kind, options = [], min, max }: ShownTask, option: string, text: string): TaskDecision | string {
  if (options.length > 0) {
    if (kind !== 'anomaly_review' || option !== 'happened' || text.trim() === '') return { selectedOptionId: option }
    return { selectedOptionId: option, metadata: { 'svc/result': jsonOrPlain(text) } }
  }
  if (kind !== 'number') return text.trim() === '' ? 'The answer is empty.' : { textValue: text }
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return 'That is not a number; use a point as decimal mark.'
  if ((min !== undefined && value < min) || (max !== undefined && value > max))
    return `The number goes from ${min ?? '−∞'} to ${max ?? '∞'}.`
  return { numberValue: value }
}

/** The answer that a form has, or what is missing. */
function readFields({ value, problems }: FormOutcome): TaskDecision | string {
  const [name, problem] = Object.entries(problems)[0] ?? []
  if (name !== undefined) return `${safeText(name)} ${problem}.`
  return value ? { textValue: JSON.stringify(value) } : 'The form is empty.'
}

/** What the server proposes for each field, as typed. */
const proposedTexts = (fields: readonly FormField[], schema: JsonObject | undefined): FormTexts =>
  textsOfFields(
    fields,
    Object.fromEntries(
      questionFieldsIn(schema).flatMap(({ name, schema: { default: value } }) =>
        value === undefined ? [] : [[name, value]],
      ),
    ),
  )

function jsonOrPlain(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch {
    return text.trim()
  }
}

/** Looks whether the call happened, with the read-only tool that its author named. */
function Probe({ task }: { readonly task: ShownTask }): View {
  const [found, setFound] = useState<ProbeView | string | undefined>(undefined)
  const look = async (): Promise<void> => {
    const refusal = await findRefusal(async () =>
      setFound(await callOperator('POST /tasks/:id/probe', { id: task.id, body: undefined })),
    )
    if (refusal) setFound(refusal.message)
  }
  return (
    <div class="probe">
      <button type="button" class="button" onClick={() => void look()}>
        Look with the probe
      </button>
      {found !== undefined && (
        <pre class="block">
          {safeText(typeof found === 'string' ? found : `${found.name}: ${JSON.stringify(found.result, null, 2)}`)}
        </pre>
      )}
    </div>
  )
}
