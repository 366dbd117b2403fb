/** Why the calls of a run were held or let through: each decision with the lines that made it, and other arguments to try. */
import { useMemo, useState } from 'preact/hooks'
import { safeJson, safeText } from '../../base/escape-text.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { DecideView, RecordedDecision } from '../../spec/operator/decide.ts'
import { ArgumentForm, fieldsOf, textsOfFields, type FormOutcome } from '../card/argument-form.ts'
import { html, type View } from '../parts/html.ts'
import { Icon } from '../parts/icon.ts'
import { TimeOfDay } from '../parts/moments.ts'
import { EmptyState, ErrorNote, Loading } from '../parts/states.ts'
import { ComparisonView } from '../policy/comparison-view.ts'
import { DecisionBadge } from '../policy/explanation-view.ts'
import { address, withQuery } from '../wire/navigation.ts'
import { callOperator, RequestError } from '../wire/request.ts'
import { useResource } from '../wire/resource.ts'

export function WhyTab({ id, last }: { readonly id: string; readonly last: number }): View {
  const decisions = useResource(
    `decisions ${id} ${last}`,
    () => callOperator('GET /decisions', { query: { run: id } }),
    () => false,
  )
  const items = decisions.value.value?.items
  if (!items)
    return decisions.error.value
      ? html`<${ErrorNote} error=${decisions.error.value} />`
      : html`<${Loading} rows=${3} />`
  if (items.length === 0) return html`<${EmptyState} icon="policies" title="No call was decided yet." />`
  const chosen = choose(items, address.value.query)
  return html`
    <div class="why-tab">
      <ol class="decisions" aria-label="Decisions">
        ${items.map(
          (each) => html`
            <li key=${each.decisionId}>
              <a
                href=${withQuery({ decision: each.decisionId, tool: undefined, args: undefined })}
                aria-current=${each === chosen ? 'true' : undefined}
              >
                <span class="decision-head"
                  ><b>${safeText(each.ref)}</b><${DecisionBadge} decision=${each.decision}
                /></span>
                <code class="decision-args">${safeJson(each.arguments)}</code>
                <span class="dim"><${TimeOfDay} at=${each.recordedAt} /> ${safeText(each.state)}</span>
              </a>
            </li>
          `,
        )}
      </ol>
      <${WhyDecision} key=${chosen.decisionId} recorded=${chosen} />
    </div>
  `
}

/** The decision that is named, that of the call a card shows, or the last one that did not allow. */
function choose(items: readonly RecordedDecision[], query: URLSearchParams): RecordedDecision {
  const [id, tool, args] = [query.get('decision'), query.get('tool'), query.get('args')]
  return (
    items.find(({ decisionId }) => decisionId === id) ??
    items.findLast(({ ref, argsDigest }) => ref === tool && argsDigest === args) ??
    items.findLast(({ ref }) => ref === tool) ??
    items.findLast(({ decision }) => decision !== 'allow') ??
    items.at(-1)!
  )
}

function WhyDecision({ recorded }: { readonly recorded: RecordedDecision }): View {
  const { runId, decisionId, agent, versionLabel, decision } = recorded
  const [tried, setTried] = useState<DecideView | undefined>(undefined)
  const [isEditing, setEditing] = useState(false)
  const first = useResource(
    `decide ${decisionId}`,
    () => callOperator('POST /decide', { body: { run: runId, decision: decisionId } }),
    () => false,
  )
  const read = tried ?? first.value.value
  if (!read)
    return first.error.value ? html`<${ErrorNote} error=${first.error.value} />` : html`<${Loading} rows=${5} />`
  const file = read.documents.find(({ policy }) => policy === `${read.before.by.policy}@${read.before.by.version}`)
  const whatIf = new URLSearchParams({ agent, version: versionLabel, ...(file && { file: file.path }) })
  return html`
    <article class="why-decision" aria-label="Why">
      ${
        read.before.decision !== decision &&
        html`<p class="note waiting">
          <${Icon} name="warning" /><span
            >Recorded as ${safeText(decision.replaceAll('_', ' '))}: ${safeText(recorded.explanation)}</span
          >
        </p>`
      }
      <div class="buttons">
        ${!isEditing && isJsonObject(recorded.arguments) && html`<button type="button" class="button small" onClick=${() => setEditing(true)}><${Icon} name="pencil" />Other arguments</button>`}
        <a class="button small" href=${`/policies?${whatIf}`}><${Icon} name="policies" />What if</a>
      </div>
      ${isEditing && html`<${OtherArguments} recorded=${recorded} onDecided=${setTried} onDone=${() => (setEditing(false), setTried(undefined))} />`}
      <${ComparisonView} decided=${read} name="With these arguments" />
    </article>
  `
}

function OtherArguments({
  recorded,
  onDecided,
  onDone,
}: {
  readonly recorded: RecordedDecision
  readonly onDecided: (decided: DecideView) => void
  readonly onDone: () => void
}): View {
  const before = recorded.arguments as JsonObject
  const fields = useMemo(() => fieldsOf(undefined, before), [recorded])
  const [outcome, setOutcome] = useState<FormOutcome>({ value: before, problems: {} })
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const decide = async (event: Event): Promise<void> => {
    event.preventDefault()
    const { runId: run, decisionId: decision } = recorded
    try {
      const body = { run, decision, ...(outcome.value && { arguments: outcome.value }) }
      onDecided(await callOperator('POST /decide', { body }))
      setProblem(undefined)
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      setProblem(error)
    }
  }
  return html`
    <form class="cancel-form wide" onSubmit=${(event: Event) => void decide(event)}>
      <p class="dim">Decided by the policies of then; nothing is sent.</p>
      <${ArgumentForm} fields=${fields} initial=${textsOfFields(fields, before)} onChange=${setOutcome} />
      <${ErrorNote} error=${problem} />
      <div class="buttons">
        <button class="button primary" disabled=${!outcome.value}>Decide again</button>
        <button type="button" class="button" onClick=${onDone}>Done</button>
      </div>
    </form>
  `
}
