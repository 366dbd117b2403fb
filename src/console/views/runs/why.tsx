/** Why the calls of a run were held or let through: each decision with the lines that made it, and other arguments to try. */
import { useMemo, useState } from 'preact/hooks'
import { cutText } from '../../../base/text/cut-text.ts'
import { safeJson, safeText } from '../../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { DecideView, RecordedDecision } from '../../../operations/decisions.ts'
import { ArgumentForm, fieldsOf, textsOfFields, type FormOutcome } from '../../card/argument-form.tsx'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { referenceIn } from '../../parts/long-text.tsx'
import { TimeOfDay } from '../../parts/moments.tsx'
import { EmptyState, ErrorNote, showUnread } from '../../parts/states.tsx'
import { ComparisonView } from '../../policy/comparison-view.tsx'
import { DecisionBadge } from '../../policy/explanation-view.tsx'
import { address, withQuery } from '../../wire/navigation.ts'
import { callOperator, findRefusal, sendText, type RequestError } from '../../wire/request.ts'
import { aboutNothing, useOperator } from '../../wire/resource.ts'

/** Decisions in the list; a run may have thousands. */
const TAKE = 100

/** Characters of the arguments of a call in the list. */
const SHOWN_ARGUMENTS = 300

export function WhyTab({
  id,
  last,
  call,
}: {
  readonly id: string
  readonly last: number
  /** Id of the call that the chosen step is about. */
  readonly call: string | undefined
}): View {
  const { query } = address.value
  const [named] = useState(() => query.get('decision') ?? query.get('args') ?? undefined)
  const [turned, setTurned] = useState<{ readonly skip: number; readonly call: typeof call } | undefined>(undefined)
  const about = call ?? named
  // Another step is shown on its own page.
  const around = about ? { with: about } : {}
  const page = turned && turned.call === call ? { skip: String(turned.skip) } : around
  const decisions = useOperator(
    'GET /decisions',
    { query: { run: id, values: 'ref', take: String(TAKE), ...page } },
    aboutNothing,
    last,
  )
  const read = decisions.value
  if (!read) return showUnread(decisions, 3)
  const { items, total, skipped = 0 } = read
  if (items.length === 0) return <EmptyState icon="policies" title="No call was decided yet." />
  const chosen = choose(items, query, call)
  return (
    <div class="why-tab">
      <div class="decision-list">
        {total > items.length && (
          <PageOfDecisions
            first={skipped + 1}
            count={items.length}
            total={total}
            onTurn={(skip: number) => setTurned({ skip, call })}
          />
        )}
        <ol class="decisions" aria-label="Decisions">
          {items.map((each) => (
            <li key={each.decisionId}>
              <a
                href={withQuery({ decision: each.decisionId, tool: undefined, args: undefined })}
                aria-current={each === chosen ? 'true' : undefined}
              >
                <span class="decision-head">
                  <b>{safeText(each.ref)}</b>
                  <DecisionBadge decision={each.decision} />
                </span>
                <code class="decision-args">{describeArguments(each.arguments)}</code>
                <span class="dim">
                  <TimeOfDay at={each.recordedAt} /> {safeText(each.state)}
                </span>
              </a>
            </li>
          ))}
        </ol>
      </div>
      <WhyDecision key={chosen.decisionId} recorded={chosen} />
    </div>
  )
}

/** Where the page is among all decisions of the run, and the pages beside it. */
const PageOfDecisions = ({
  first,
  count,
  total,
  onTurn,
}: {
  readonly first: number
  readonly count: number
  readonly total: number
  readonly onTurn: (skip: number) => void
}): View => {
  const last = first + count - 1
  const place = [first, last, total].map((each) => each.toLocaleString('en'))
  return (
    <p class="buttons">
      <span class="dim">{`${place[0]} to ${place[1]} of ${place[2]}`}</span>
      <button
        type="button"
        class="button small"
        disabled={first === 1}
        onClick={() => onTurn(Math.max(0, first - 1 - TAKE))}
      >
        Earlier
      </button>
      <button
        type="button"
        class="button small"
        disabled={last >= total}
        onClick={() => onTurn(Math.min(total - TAKE, last))}
      >
        Later
      </button>
    </p>
  )
}

function describeArguments(value: JsonValue): string {
  const reference = referenceIn(value)
  if (reference) return `${reference.bytes.toLocaleString('en')} bytes`
  return cutText(safeJson(value), SHOWN_ARGUMENTS).text
}

/** The decision that is named, that of the chosen step, that of the call a card shows, or the last one that did not allow. */
function choose(
  items: readonly RecordedDecision[],
  query: URLSearchParams,
  call: string | undefined,
): RecordedDecision {
  const [id, tool, args] = [query.get('decision'), query.get('tool'), query.get('args')]
  return (
    items.find(({ decisionId }) => decisionId === id) ??
    items.findLast(({ toolCallId }) => toolCallId === call) ??
    items.findLast(({ ref, argsDigest }) => ref === tool && argsDigest === args) ??
    items.findLast(({ ref }) => ref === tool) ??
    items.findLast(({ decision }) => decision !== 'allow') ??
    items.at(-1)!
  )
}

function WhyDecision({ recorded }: { readonly recorded: RecordedDecision }): View {
  const { runId, decisionId, agent, versionLabel, decision } = recorded
  const [tried, setTried] = useState<DecideView | undefined>(undefined)
  const [edited, setEdited] = useState<JsonObject | undefined>(undefined)
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const edit = async (): Promise<void> => {
    const reference = referenceIn(recorded.arguments)
    const refusal = await findRefusal(async () => {
      const value = reference ? (JSON.parse(await sendText(reference.url)) as JsonValue) : recorded.arguments
      if (isJsonObject(value)) setEdited(value)
    })
    setProblem(refusal)
  }
  const first = useOperator('POST /decide', { body: { run: runId, decision: decisionId } }, aboutNothing)
  const read = tried ?? first.value
  if (!read) return showUnread(first, 5)
  const file = read.documents.find(({ policy }) => policy === `${read.before.by.policy}@${read.before.by.version}`)
  const whatIf = new URLSearchParams({ agent, version: versionLabel, ...(file && { file: file.path }) })
  return (
    <article class="why-decision" aria-label="Why">
      {read.before.decision !== decision && (
        <p class="note waiting">
          <Icon name="warning" />
          <span>
            Recorded as {safeText(decision.replaceAll('_', ' '))}: {safeText(recorded.explanation)}
          </span>
        </p>
      )}
      <div class="buttons">
        {!edited && isJsonObject(recorded.arguments) && (
          <button type="button" class="button small" onClick={() => void edit()}>
            <Icon name="pencil" />
            Other arguments
          </button>
        )}
        <a class="button small" href={`/policies?${whatIf}`}>
          <Icon name="policies" />
          What if
        </a>
      </div>
      <ErrorNote error={problem} />
      {edited && (
        <OtherArguments
          recorded={recorded}
          before={edited}
          onDecided={setTried}
          onDone={() => (setEdited(undefined), setTried(undefined))}
        />
      )}
      <ComparisonView decided={read} name="With these arguments" />
    </article>
  )
}

function OtherArguments({
  recorded,
  before,
  onDecided,
  onDone,
}: {
  readonly recorded: RecordedDecision
  /** Its arguments, whole. */
  readonly before: JsonObject
  readonly onDecided: (decided: DecideView) => void
  readonly onDone: () => void
}): View {
  const fields = useMemo(() => fieldsOf(undefined, before), [recorded])
  const [outcome, setOutcome] = useState<FormOutcome>({ value: before, problems: {} })
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const decide = async (event: Event): Promise<void> => {
    event.preventDefault()
    const { runId: run, decisionId: decision } = recorded
    const body = { run, decision, ...(outcome.value && { arguments: outcome.value }) }
    setProblem(await findRefusal(async () => onDecided(await callOperator('POST /decide', { body }))))
  }
  return (
    <form class="cancel-form wide" onSubmit={(event: Event) => void decide(event)}>
      <p class="dim">Decided by the policies of then; nothing is sent.</p>
      <ArgumentForm fields={fields} initial={textsOfFields(fields, before)} onChange={setOutcome} />
      <ErrorNote error={problem} />
      <div class="buttons">
        <button class="button primary" disabled={!outcome.value}>
          Decide again
        </button>
        <button type="button" class="button" onClick={onDone}>
          Done
        </button>
      </div>
    </form>
  )
}
