/** Evaluations that were kept: how often runs were as they should be, beside the version before, and what policies decide otherwise. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import type { KeptEvaluationView } from '../../operations/evals.ts'
import type { EvaluationCase, EvaluationSide } from '../../spec/evaluation.ts'
import { describeCost } from '../../spec/price.ts'
import { describeRate } from '../../view/evaluation-text.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Choice } from '../parts/choice.tsx'
import type { IconName } from '../parts/icon.tsx'
import { Age } from '../parts/moments.tsx'
import { EmptyState, showUnread } from '../parts/states.tsx'
import type { Child, View } from '../parts/view.ts'
import { DecisionBadge } from '../policy/explanation-view.tsx'
import { address, goTo, withQuery } from '../wire/navigation.ts'
import { aboutWorkspace, useOperator } from '../wire/resource.ts'

export function EvalsScreen(): View {
  const agent = address.value.query.get('agent') ?? ''
  const agents = useOperator('GET /agents', {}, aboutWorkspace)
  const evals = useOperator('GET /evals', { query: agent === '' ? {} : { agent } }, aboutWorkspace)
  const names = agents.value?.items.map(({ name }) => name) ?? []
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Evals</h1>
        <a class="button small" href="/policies">
          What if
        </a>
      </header>
      <p class="dim lead">
        What <code>svc eval DATASET --keep</code> counted. What was played is a sample, and has an interval; what
        policies decide otherwise is exact.
      </p>
      <div class="filters">
        <Choice
          label="Agent"
          value={agent}
          onChoose={(name: string) => goTo(withQuery({ agent: name === '' ? undefined : name }))}
          options={[['', 'every agent'], ...[...new Set(names)].map((name) => [name, name] as const)]}
        />
      </div>
      {evals.value ? <EvaluationList items={evals.value.items} total={evals.value.total} /> : showUnread(evals)}
    </section>
  )
}

const EvaluationList = ({
  items,
  total,
}: {
  readonly items: readonly KeptEvaluationView[]
  readonly total: number
}): View =>
  items.length === 0 ? (
    <EmptyState icon="policies" title="No evaluation was kept yet." />
  ) : (
    <>
      {items.map((each) => (
        <Evaluation key={each.evaluationId} {...each} />
      ))}
      {total > items.length && (
        <p class="dim">
          {total - items.length} earlier ones: <code>svc eval list</code>
        </p>
      )}
    </>
  )

function Evaluation({ at, by, agent, report }: KeptEvaluationView): View {
  const { dataset, repeat, now, before, exact, isApart, judge, cases, moreCases } = report
  return (
    <article aria-label={`${agent}, ${dataset}`}>
      <h2 class="section">
        {safeText(agent)} <span class="dim">{safeText(dataset)}</span>
      </h2>
      <p class="dim">
        <Age at={at} /> by {safeText(by.replace(/^operator:/, ''))}
        {repeat !== undefined && `, each case ${repeat} times`}
        {judge && `, judged by ${safeText(`${judge.provider}/${judge.name}`)}`}
      </p>
      {before && <Side side={before} />}
      <Side side={now} />
      {before && (
        <p class="dim">
          {isApart === true ? 'The intervals are apart.' : 'The intervals overlap, so the difference may be chance.'}
        </p>
      )}
      {exact && (
        <p>
          Exact: of {exact.decisions.toLocaleString('en')} decisions before, policies of now make{' '}
          <b>{exact.flips.toLocaleString('en')}</b> otherwise.
        </p>
      )}
      {cases.length > 0 && <Cases cases={cases} more={moreCases} repeat={repeat} />}
    </article>
  )
}

interface CaseList {
  readonly cases: readonly EvaluationCase[]
  readonly more: number
  readonly repeat: number | undefined
}

function Cases({ cases, more, repeat }: CaseList): View {
  const [isOpen, setOpen] = useState(false)
  const count = cases.length + more
  return (
    <>
      <button type="button" class="button small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {count} {count === 1 ? 'case needs' : 'cases need'} a look
      </button>
      {isOpen && (
        <ul class="eval-cases">
          {cases.map((each, row) => (
            <Case key={row} {...each} repeat={repeat} />
          ))}
        </ul>
      )}
      {isOpen && more > 0 && <p class="dim">and {more} more: play the dataset again to see them</p>}
    </>
  )
}

/** Width of the plot; shares are parts of it. */
const WIDTH = 160

function Side({ side }: { readonly side: EvaluationSide }): View {
  const { name, tokens, cost, rate, undecided } = side
  return (
    <p class="eval-side">
      <b>{safeText(name)}</b>
      {rate && (
        <svg width={WIDTH} height="14" aria-hidden="true">
          <path stroke="var(--line-strong)" stroke-width="2" d={`M0 7h${WIDTH}`} />
          <path stroke="var(--accent)" stroke-width="4" d={`M${rate.low * WIDTH} 7H${rate.high * WIDTH}`} />
          <circle fill="var(--accent)" cx={4 + rate.share * (WIDTH - 8)} cy="7" r="4" />
        </svg>
      )}
      <span>{describeRate(side)}</span>
      {undecided > 0 && <span class="dim">{undecided} undecided</span>}
      <span class="dim">
        {tokens.toLocaleString('en')} tokens{describeSpent(describeCost(cost))}
      </span>
    </p>
  )
}

const describeSpent = (cost: string | undefined): string => (cost === undefined ? '' : `, ${safeText(cost)}`)

const OUTCOMES: Readonly<Record<EvaluationCase['outcome'], readonly [Tone, IconName]>> = {
  passed: ['ok', 'check'],
  failed: ['bad', 'cross'],
  undecided: ['waiting', 'dot'],
}

function Case({
  name,
  outcome,
  before,
  passed,
  checks,
  flips,
  repeat,
}: EvaluationCase & Pick<CaseList, 'repeat'>): View {
  return (
    <li>
      {before && before !== outcome && (
        <>
          <OutcomeBadge outcome={before} /> →{' '}
        </>
      )}
      <OutcomeBadge outcome={outcome} /> {safeText(name)}
      {passed !== undefined && repeat !== undefined && (
        <span class="dim">
          {' '}
          {passed} of {repeat} runs passed
        </span>
      )}
      {checks.length > 0 && <span class="sub dim">{safeText(checks.join(', '))}</span>}
      {flips.map(({ tool, was, now, by }, at): Child => (
        <span class="sub dim" key={at}>
          <DecisionBadge decision={was} /> → <DecisionBadge decision={now} /> {safeText(`${tool} (${by})`)}
        </span>
      ))}
    </li>
  )
}

const OutcomeBadge = ({ outcome }: Pick<EvaluationCase, 'outcome'>): View => {
  const [tone, icon] = OUTCOMES[outcome]
  return <Badge tone={tone} icon={icon} text={outcome} />
}
