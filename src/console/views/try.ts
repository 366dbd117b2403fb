/** Starts a run: a form from the input contract of the deployed version. */
import { useMemo, useState } from 'preact/hooks'
import { safeText } from '../../base/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { ArgumentForm, fieldsOf, readForm, textsOfFields, type FormOutcome } from '../card/argument-form.ts'
import { html, type View } from '../parts/html.ts'
import { Icon } from '../parts/icon.ts'
import { EmptyState, ErrorNote, showUnread } from '../parts/states.ts'
import { address, goTo } from '../wire/navigation.ts'
import { callOperator, findRefusal, type RequestError } from '../wire/request.ts'
import { aboutNothing, aboutWorkspace, useOperator, useResource } from '../wire/resource.ts'
import { hrefOfAgent } from './agents.ts'

export function TryScreen({ id: name = '' }: { readonly id?: string }): View {
  const agents = useOperator('GET /agents', {}, aboutWorkspace)
  const like = address.value.query.get('like') ?? ''
  const given = useResource(`input of ${like}`, async () => (like === '' ? {} : await readInput(like)), aboutNothing)
  const agent = agents.value.value?.items.find((each) => each.name === name)
  if (!agents.value.value) return showUnread(agents)
  if (!agent?.deployed)
    return html`<${EmptyState} icon="agents" title="No version of this agent is deployed." isScreen />`
  return html`
    <section class="screen narrow">
      <a class="back-link" href=${hrefOfAgent(name)}><${Icon} name="left" />${safeText(name)}</a>
      <header class="screen-head">
        <h1>Try ${safeText(name)}<span class="dim">@${safeText(agent.deployed.versionLabel)}</span></h1>
      </header>
      <p class="note waiting">
        <${Icon} name="warning" /><span
          >This is a real run of the deployed version: its calls happen, as far as its policies let them.</span
        >
      </p>
      <${ErrorNote} error=${given.error.value} />
      ${(given.value.value ?? given.error.value) && html`<${StartForm} key=${`${agent.deployed.agentVersionId} ${like}`} name=${name} contract=${agent.inputContract} given=${given.value.value ?? {}} />`}
    </section>
  `
}

/** What a run was started with; what is no object, or was erased, begins an empty form. */
async function readInput(id: string): Promise<JsonObject> {
  const { runs, session } = await callOperator('GET /v1/runs/:id/conversation', { id, query: { take: '1' } })
  const input = runs.find((run) => run.id === id)?.input ?? session.input
  return isJsonObject(input) ? input : {}
}

function StartForm({
  name,
  contract,
  given,
}: {
  readonly name: string
  readonly contract: JsonValue | undefined
  readonly given: JsonObject
}): View {
  const hasFields = isJsonObject(contract) && isJsonObject(contract['properties'])
  const fields = useMemo(
    () => (hasFields ? fieldsOf(contract, given) : ([{ name: 'input', kind: 'json', isRequired: false }] as const)),
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
    const value = hasFields ? outcome.value : outcome.value['input']
    const input: JsonObject = isJsonObject(value) ? value : {}
    const refusal = await findRefusal(async () => {
      const { runId } = await callOperator('POST /runs', { body: { agent: name, input } })
      goTo(`/runs/${runId}`)
    })
    setProblem(refusal)
    setSending(false)
  }
  return html`
    <form class="start-form" onSubmit=${(event: Event) => void start(event)}>
      <${ArgumentForm} fields=${fields} initial=${initial} onChange=${setOutcome} />
      <${ErrorNote} error=${problem} />
      <div class="buttons">
        <button class="button primary" disabled=${isSending || !outcome.value}><${Icon} name="try" />Start</button>
      </div>
    </form>
  `
}
