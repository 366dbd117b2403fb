/** The form that starts a run, or the next run of a session. */
import { useMemo, useState } from 'preact/hooks'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { Conversation } from '../../../spec/api.ts'
import type { VersionView } from '../../../operations/versions.ts'
import {
  ArgumentForm,
  fieldsOf,
  readForm,
  textsOfFields,
  type FormField,
  type FormOutcome,
} from '../../card/argument-form.tsx'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { ErrorNote } from '../../parts/states.tsx'
import { goTo } from '../../wire/navigation.ts'
import { callOperator, findRefusal, type RequestError } from '../../wire/request.ts'

/** Where no contract names the values: the whole input, or the message that goes on. */
const INPUT: FormField = { name: 'input', kind: 'json', isRequired: false }
const MESSAGE: FormField = { name: 'message', kind: 'lines', isRequired: true }

export function StartForm({
  name,
  version,
  contract,
  given,
  session,
  model,
}: {
  readonly name: string
  readonly version: VersionView
  readonly contract: JsonValue | undefined
  readonly given: JsonObject
  /** The one that goes on. */
  readonly session: Conversation['session'] | undefined
  /** Asked in place of the agent's; empty = its own. */
  readonly model: string
}): View {
  const hasFields = isJsonObject(contract) && isJsonObject(contract['properties'])
  const fields = useMemo(
    () => (hasFields ? fieldsOf(contract, given) : [session === undefined ? INPUT : MESSAGE]),
    [contract],
  )
  const initial = useMemo(
    () => textsOfFields(fields, hasFields || Object.keys(given).length === 0 ? given : { input: given }),
    [fields],
  )
  const [outcome, setOutcome] = useState<FormOutcome>(() => readForm(fields, initial))
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const [isSending, setSending] = useState(false)
  const start = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (!outcome.value) return
    setSending(true)
    const value = fields[0] === INPUT ? outcome.value['input'] : outcome.value
    const input: JsonObject = isJsonObject(value) ? value : {}
    const { agentVersionId, versionLabel, deployed } = version
    // What is deployed by now runs, unless another version was chosen.
    const refusal = await findRefusal(async () => {
      const { runId } = await (session
        ? callOperator('POST /v1/agents/:id/runs', {
            id: session.agentId,
            body: { input, sessionId: session.id, ...(!deployed && { versionId: agentVersionId }) },
          })
        : callOperator('POST /runs', {
            body: {
              agent: name,
              input,
              ...(!deployed && { version: versionLabel }),
              ...(model.trim() !== '' && { rehearsal: { model: model.trim() } }),
            },
          }))
      goTo(`/runs/${runId}${session ? '?tab=conversation' : ''}`)
    })
    setProblem(refusal)
    setSending(false)
  }
  return (
    <form class="start-form" onSubmit={(event: Event) => void start(event)}>
      <ArgumentForm fields={fields} initial={initial} onChange={setOutcome} />
      <ErrorNote error={problem} />
      <div class="buttons">
        <button class="button primary" disabled={isSending || !outcome.value}>
          <Icon name="try" />
          Start
        </button>
      </div>
    </form>
  )
}
