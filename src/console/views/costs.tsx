/** Tokens and money by agent, version, model and day; how runs ended, and how long they waited for people. */
import { safeText } from '../../base/text/escape-text.ts'
import { shortDuration } from '../../base/text/short-text.ts'
import type { CostSums, CostView, RunOutcomes } from '../../operations/insight.ts'
import { describeCost } from '../../spec/price.ts'
import { downloadText, writeCsv, type CsvCell } from '../parts/download.ts'
import { Facts, type Fact } from '../parts/facts.tsx'
import type { View } from '../parts/view.ts'
import { Age } from '../parts/moments.tsx'
import { Table } from '../parts/table.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { EmptyState, showUnread } from '../parts/states.tsx'
import { address } from '../wire/navigation.ts'
import { aboutAnySession, useOperator } from '../wire/resource.ts'
import { serverTime } from '../wire/moment.ts'

const GROUPS = [
  ['agent,model', 'By agent and model'],
  ['agent,version', 'By version'],
  ['model', 'By model'],
  ['day', 'By day'],
  ['outcomes', 'Outcomes'],
] as const

const DAYS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const
const DAY_MS = 86_400_000

export function CostsScreen(): View {
  const { query } = address.value
  const [by, days] = [query.get('by') ?? 'agent,model', query.get('days') ?? '30']
  // Of whole days.
  const since = new Date((Math.floor(serverTime() / DAY_MS) - (Number(days) || 30)) * DAY_MS).toISOString()
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Costs</h1>
      </header>
      <div class="filters">
        <Tabs label="Grouped by" name="by" tabs={GROUPS} />
        <Tabs label="Time" name="days" tabs={DAYS} first="30" />
      </div>
      {by === 'outcomes' ? <Outcomes since={since} /> : <Sums by={by} since={since} />}
    </section>
  )
}

function Sums({ by, since }: { readonly by: string; readonly since: string }): View {
  const costs = useOperator('GET /costs', { query: { by, since } }, aboutAnySession)
  const read = costs.value
  if (!read) return showUnread(costs)
  if (read.items.length === 0) return <EmptyState icon="costs" title="No completion in this time." />
  return (
    <>
      <Facts kind="section" facts={factsOf(read.sum)} />
      <CostTable items={read.items} />
      <ExportButton name="costs.csv" heads={EXPORTED} rows={() => read.items.map(toExported)} />
    </>
  )
}

const ExportButton = ({
  name,
  heads,
  rows,
}: {
  readonly name: string
  readonly heads: readonly string[]
  readonly rows: () => readonly (readonly CsvCell[])[]
}): View => (
  <p class="buttons">
    <button type="button" class="button small" onClick={() => downloadText(name, 'text/csv', writeCsv(heads, rows()))}>
      Export CSV
    </button>
  </p>
)

const factsOf = ({ completions, inputTokens, outputTokens, cost }: CostSums): readonly Fact[] => [
  ['Completions', completions.toLocaleString('en')],
  ['Input tokens', inputTokens.toLocaleString('en')],
  ['Output tokens', outputTokens.toLocaleString('en')],
  ['Cost', safeText(describeCost(cost) ?? 'nothing billed')],
]

const COLUMNS = [
  'What',
  [<span class="unseen">Share</span>, ''],
  ['Completions', 'num kept'],
  ['Input', 'num'],
  ['Cached', 'num'],
  ['Output', 'num'],
  ['Cost', 'num kept'],
] as const

function CostTable({ items }: { readonly items: readonly CostView[] }): View {
  const most = Math.max(1, ...items.map(tokensOf))
  return (
    <Table label="Costs" heads={COLUMNS}>
      {items.map((item) => {
        const name = [
          item.day,
          item.agent,
          item.version === '' ? 'before versions were kept' : item.version,
          item.model && `${item.provider ?? ''}/${item.model}`,
        ]
          .filter(Boolean)
          .join('  ')
        return (
          <tr key={name}>
            <td>{safeText(name)}</td>
            <td class="share">
              <i style={{ width: `${(tokensOf(item) / most) * 100}%` }}></i>
            </td>
            <td class="num kept" data-head="Completions">
              {item.completions.toLocaleString('en')}
            </td>
            <td class="num">{item.inputTokens.toLocaleString('en')}</td>
            <td class="num">{item.cachedInputTokens.toLocaleString('en')}</td>
            <td class="num">{item.outputTokens.toLocaleString('en')}</td>
            <td class="num kept" data-head="Cost">
              {safeText(describeCost(item.cost) ?? '–')}
            </td>
          </tr>
        )
      })}
    </Table>
  )
}

const EXPORTED = [
  'day',
  'agent',
  'version',
  'provider',
  'model',
  'completions',
  'input tokens',
  'cached input tokens',
  'output tokens',
  'cost',
] as const

const toExported = (item: CostView): readonly CsvCell[] => [
  item.day,
  item.agent,
  item.version,
  item.provider,
  item.model,
  item.completions,
  item.inputTokens,
  item.cachedInputTokens,
  item.outputTokens,
  describeCost(item.cost),
]

const tokensOf = ({ inputTokens, outputTokens }: CostView): number => inputTokens + outputTokens

const OUTCOME_HEADS = [
  'Agent',
  ['Runs', 'num kept'],
  ['Open', 'num'],
  ['Completed', 'num kept'],
  ['Cancelled', 'num'],
  ['Waited', 'num'],
  ['Median wait', 'num'],
  ['Longest wait', 'num'],
  'Failed',
] as const

/** Waits are for people; failures are counted by their code. */
function Outcomes({ since }: { readonly since: string }): View {
  const outcomes = useOperator('GET /outcomes', { query: { since } }, aboutAnySession)
  const read = outcomes.value
  if (!read) return showUnread(outcomes)
  if (read.items.length === 0) return <EmptyState icon="runs" title="No run began in this time." />
  return (
    <>
      {read.countedSince !== undefined && (
        <p class="note">
          <span>
            The newest {read.counted.toLocaleString('en')} runs are counted, since
            <Age at={read.countedSince} />.
          </span>
        </p>
      )}
      <Table label="Outcomes" heads={OUTCOME_HEADS}>
        {read.items.map(({ agent, version, runs, open, completed, cancelled, waited, failures }) => (
          <tr key={`${agent} ${version}`}>
            <td>
              {safeText(agent)}
              <span class="sub">{safeText(version)}</span>
            </td>
            {[runs, open, completed, cancelled, waited.runs].map((count, at) => (
              <td key={at} class="num kept" data-head={OUTCOME_HEADS[at + 1]![0]}>
                {count.toLocaleString('en')}
              </td>
            ))}
            {[waited.medianMs, waited.longestMs].map((ms, at) => (
              <td key={at} class="num kept" data-head={OUTCOME_HEADS[at + 6]![0]}>
                {waited.runs === 0 ? '–' : shortDuration(ms)}
              </td>
            ))}
            <td class="failures" data-head="Failed">
              {failures.length === 0 ? (
                <span class="dim">none</span>
              ) : (
                failures.map(({ code, runs: count }) => (
                  <span key={code} class="sub">
                    {count.toLocaleString('en')} {safeText(code)}
                  </span>
                ))
              )}
            </td>
          </tr>
        ))}
      </Table>
      <p class="dim">Waited: runs that waited for a person, and how long in all.</p>
      <ExportButton
        name="outcomes.csv"
        heads={['agent', 'version', ...OUTCOME_NUMBERS, 'failures']}
        rows={() => read.items.map(toExportedOutcome)}
      />
    </>
  )
}

const OUTCOME_NUMBERS = ['runs', 'open', 'completed', 'cancelled'] as const

const toExportedOutcome = (item: RunOutcomes): readonly CsvCell[] => [
  item.agent,
  item.version,
  ...OUTCOME_NUMBERS.map((name) => item[name]),
  item.failures.map(({ code, runs }) => `${runs} ${code}`).join(' '),
]
