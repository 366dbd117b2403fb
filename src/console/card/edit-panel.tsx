/** Edits the arguments of a held call. The difference is shown before it is sent; the server checks it again by schema and policies. */
import { useMemo, useState } from 'preact/hooks'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { ShownTask } from '../../spec/task.ts'
import type { Child, View } from '../parts/view.ts'
import { SecondButton } from '../parts/second-button.tsx'
import { callOperator } from '../wire/request.ts'
import { aboutNothing, useResource } from '../wire/resource.ts'
import { ArgumentForm, fieldsOf, textsOfFields, type FormOutcome } from './argument-form.tsx'
import { ArgumentChanges } from './card-values.tsx'
import { listChanges } from './decision.ts'

export function EditPanel({
  task,
  isSending,
  hint,
  onCancel,
  onSend,
  children,
}: {
  readonly task: ShownTask
  readonly isSending: boolean
  /** What else is missing. */
  readonly hint: string | undefined
  readonly onCancel: () => void
  readonly onSend: (edited: JsonObject) => void
  readonly children: Child
}): View {
  const before = isJsonObject(task.arguments) ? task.arguments : {}
  const schema = useResource(`schema ${task.id}`, () => readInputSchema(task), aboutNothing)
  const read = schema.value
  const fields = useMemo(() => fieldsOf(read?.schema, before), [read])
  const [outcome, setOutcome] = useState<FormOutcome>({ value: before, problems: {} })
  const [isShown, setShown] = useState(false)
  const changes = outcome.value ? listChanges(before, outcome.value) : []
  const isRevalidated = task.onModify !== 'accept'
  if (read === undefined && schema.error === undefined)
    return (
      <footer class="decide">
        <p class="dim">Reading the schema…</p>
      </footer>
    )
  return (
    <form
      class="decide edit"
      onSubmit={(event: Event) => {
        event.preventDefault()
        if (!isShown) setShown(true)
        else if (outcome.value) onSend(outcome.value)
      }}
    >
      <div class={isShown ? 'gone' : ''}>
        <ArgumentForm fields={fields} initial={textsOfFields(fields, before)} onChange={setOutcome} />
      </div>
      {isShown && <ArgumentChanges changes={changes} />}
      {isShown && (
        <p class="dim">
          {isRevalidated ? 'Checked again by schema and policies. ' : ''}
          {(task.approvalsReceived ?? 0) > 0 ? 'The votes so far do not count any more.' : ''}
        </p>
      )}
      {isShown && children} {isShown && hint !== undefined && <p class="why-not">{hint}</p>}
      <div class="buttons">
        {isShown ? (
          <SecondButton kind="primary" isDisabled={isSending || hint !== undefined}>
            Approve with these
          </SecondButton>
        ) : (
          <button class="button primary" disabled={changes.length === 0}>
            See the difference
          </button>
        )}
        <button type="button" class="button" onClick={isShown ? () => setShown(false) : onCancel}>
          Back
        </button>
      </div>
    </form>
  )
}

/** The tool's schema in the version that asks; absent where the version is gone. */
async function readInputSchema({ agent, tool }: ShownTask): Promise<{ readonly schema?: JsonValue }> {
  const [name, version] = agent.split('@')
  const snapshot = await callOperator('GET /snapshot', { query: { agent: name, version } }).catch(() => undefined)
  const schema = snapshot?.tools.find(({ id }) => id === tool?.ref)?.inputSchema
  return schema === undefined ? {} : { schema }
}
