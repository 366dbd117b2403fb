/** Starts a run: a form from the input contract of the deployed version, in a new session or as the next run of an ended one. */
import { useMemo, useState } from 'preact/hooks'
import { safeText } from '../../../base/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { shortId } from '../../../base/short-text.ts'
import type { Conversation } from '../../../spec/api.ts'
import { isTerminal } from '../../../spec/run.ts'
import {
  ArgumentForm,
  fieldsOf,
  readForm,
  textsOfFields,
  type FormField,
  type FormOutcome,
} from '../../card/argument-form.ts'
import { html, type View } from '../../parts/html.ts'
import { Icon } from '../../parts/icon.ts'
import { LongText, referenceIn, StoredValue } from '../../parts/long-text.ts'
import { EmptyState, ErrorNote, showUnread } from '../../parts/states.ts'
import { address, goTo } from '../../wire/navigation.ts'
import { callOperator, findRefusal, type RequestError } from '../../wire/request.ts'
import { aboutAnySession, aboutNothing, aboutWorkspace, useOperator, useResource } from '../../wire/resource.ts'
import { hrefOfAgent } from './agents.ts'

export function TryScreen({ id: name = '' }: { readonly id?: string }): View {
  const agents = useOperator('GET /agents', {}, aboutWorkspace)
  const { query } = address.value
  const after = query.get('after')
  const earlier = after ?? query.get('like')
  const given = useResource(
    `start ${query}`,
    async () =>
      earlier === null
        ? null
        : callOperator('GET /v1/runs/:id/conversation', {
            id: earlier,
            query: { take: '1', values: after === null ? undefined : 'ref' },
          }),
    after === null ? aboutNothing : aboutAnySession,
  )
  const agent = agents.value.value?.items.find((each) => each.name === name)
  if (!agents.value.value) return showUnread(agents)
  if (!agent?.deployed)
    return html`<${EmptyState} icon="agents" title="No version of this agent is deployed." isScreen />`
  const [read, error] = [given.value.value, given.error.value]
  const continued = after === null ? undefined : read?.session
  const obstacle = continued && obstacleOf(continued)
  // Without the session of `after` nothing is offered: it would start another one.
  const isReady = after === null ? read !== undefined || error !== undefined : continued && obstacle === undefined
  return html`
    <section class="screen narrow">
      <a class="back-link" href=${after === null ? hrefOfAgent(name) : `/runs/${encodeURIComponent(after)}`}
        ><${Icon} name="left" />${after === null ? safeText(name) : `Run ${safeText(shortId(after))}`}</a
      >
      <header class="screen-head">
        <h1>
          ${after === null ? 'Try' : 'Go on with'} ${safeText(name)}<span class="dim"
            >@${safeText(agent.deployed.versionLabel)}</span
          >
        </h1>
      </header>
      ${continued && html`<${LastOutput} value=${continued.output} />`}
      <p class="note waiting">
        <${Icon} name="warning" /><span
          >${obstacle ?? `This is a real run of the deployed version${continued ? ', which knows what was said before' : ''}: its calls happen, as far as its policies let them.`}</span
        >
      </p>
      <${ErrorNote} error=${error} />
      ${isReady && html`<${StartForm} key=${`${agent.deployed.agentVersionId} ${query}`} agentId=${agent.agentId} contract=${agent.inputContract} given=${after === null ? inputOf(earlier, read) : {}} sessionId=${continued?.id} />`}
    </section>
  `
}

/** Why no run can be added to the session, as the server would refuse it. */
function obstacleOf({ status, erasedAt }: Conversation['session']): string | undefined {
  if (erasedAt !== undefined) return 'The content of this session was erased, so it cannot go on.'
  if (!isTerminal(status)) return `A run of the session has not ended; its status is ${safeText(status)}.`
  return undefined
}

/** What the next message answers. */
function LastOutput({ value }: { readonly value: JsonValue }): View | null {
  if (value === null) return null
  const reference = referenceIn(value)
  return html`
    <div class="said">
      <div class="message Output">
        <p class="message-head"><b>Output</b></p>
        <div class="message-text">
          ${reference ? html`<${StoredValue} reference=${reference} />` : html`<${LongText} text=${typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />`}
        </div>
      </div>
    </div>
  `
}

/** What a run was started with; what is no object, or was erased, begins an empty form. */
function inputOf(id: string | null, read: Conversation | null | undefined): JsonObject {
  const input = read?.runs.find((run) => run.id === id)?.input ?? read?.session.input
  return isJsonObject(input) ? input : {}
}

/** Where no contract names the values: the whole input, or the message that goes on. */
const INPUT: FormField = { name: 'input', kind: 'json', isRequired: false }
const MESSAGE: FormField = { name: 'message', kind: 'lines', isRequired: true }

function StartForm({
  agentId,
  contract,
  given,
  sessionId,
}: {
  readonly agentId: string
  readonly contract: JsonValue | undefined
  readonly given: JsonObject
  /** Of the session that goes on. */
  readonly sessionId: string | undefined
}): View {
  const hasFields = isJsonObject(contract) && isJsonObject(contract['properties'])
  const fields = useMemo(
    () => (hasFields ? fieldsOf(contract, given) : [sessionId === undefined ? INPUT : MESSAGE]),
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
    const refusal = await findRefusal(async () => {
      const body = { input, ...(sessionId !== undefined && { sessionId }) }
      const { runId } = await callOperator('POST /v1/agents/:id/runs', { id: agentId, body })
      goTo(`/runs/${runId}${sessionId === undefined ? '' : '?tab=conversation'}`)
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
