/** Tokens and money, by agent, model and day. */
import { safeText } from '../../base/escape-text.ts'
import type { CostSums, CostView } from '../../spec/operator/operations.ts'
import { describeCost } from '../../spec/price.ts'
import { downloadText, writeCsv, type CsvCell } from '../parts/download.ts'
import { Facts, type Fact } from '../parts/facts.ts'
import { html, type View } from '../parts/html.ts'
import { Table } from '../parts/table.ts'
import { Tabs } from '../parts/tabs.ts'
import { EmptyState, ErrorNote, Loading } from '../parts/states.ts'
import { address } from '../wire/navigation.ts'
import { aboutAnySession, useOperator } from '../wire/resource.ts'

const GROUPS = [
  ['agent,model', 'By agent and model'],
  ['model', 'By model'],
  ['day', 'By day'],
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
  const since = (Math.floor(Date.now() / DAY_MS) - (Number(days) || 30)) * DAY_MS
  const costs = useOperator('GET /costs', { query: { by, since: new Date(since).toISOString() } }, aboutAnySession)
  const read = costs.value.value
  return html`
    <section class="screen">
      <header class="screen-head"><h1>Costs</h1></header>
      <div class="filters">
        <${Tabs} label="Grouped by" name="by" tabs=${GROUPS} />
        <${Tabs} label="Time" name="days" tabs=${DAYS} first="30" />
        <button
          type="button"
          class="button small"
          disabled=${!read?.items.length}
          onClick=${() => downloadText('costs.csv', 'text/csv', writeCsv(EXPORTED, read!.items.map(toExported)))}
        >
          Export CSV
        </button>
      </div>
      <${ErrorNote} error=${costs.error.value} />
      ${
        read === undefined
          ? !costs.error.value && html`<${Loading} />`
          : read.items.length === 0
            ? html`<${EmptyState} icon="costs" title="No completion in this time." />`
            : html`
                <${Facts} kind="section" facts=${factsOf(read.sum)} />
                <${CostTable} items=${read.items} />
              `
      }
    </section>
  `
}

const factsOf = ({ completions, inputTokens, outputTokens, cost }: CostSums): readonly Fact[] => [
  ['Completions', completions.toLocaleString('en')],
  ['Input tokens', inputTokens.toLocaleString('en')],
  ['Output tokens', outputTokens.toLocaleString('en')],
  ['Cost', safeText(describeCost(cost) ?? 'nothing billed')],
]

const COLUMNS = [
  'What',
  [html`<span class="unseen">Share</span>`, ''],
  ['Completions', 'num kept'],
  ['Input', 'num'],
  ['Cached', 'num'],
  ['Output', 'num'],
  ['Cost', 'num kept'],
] as const

function CostTable({ items }: { readonly items: readonly CostView[] }): View {
  const most = Math.max(1, ...items.map(tokensOf))
  return html`
    <${Table} label="Costs" heads=${COLUMNS}>
          ${items.map((item) => {
            const name = [item.day, item.agent, item.model && `${item.provider ?? ''}/${item.model}`]
              .filter(Boolean)
              .join('  ')
            return html`
              <tr key=${name}>
                <td>${safeText(name)}</td>
                <td class="share"><i style=${{ width: `${(tokensOf(item) / most) * 100}%` }}></i></td>
                <td class="num">${item.completions.toLocaleString('en')}</td>
                <td class="num">${item.inputTokens.toLocaleString('en')}</td>
                <td class="num">${item.cachedInputTokens.toLocaleString('en')}</td>
                <td class="num">${item.outputTokens.toLocaleString('en')}</td>
                <td class="num kept">${safeText(describeCost(item.cost) ?? '–')}</td>
              </tr>
            `
          })}
</${Table}>
  `
}

const EXPORTED = [
  'day',
  'agent',
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
  item.provider,
  item.model,
  item.completions,
  item.inputTokens,
  item.cachedInputTokens,
  item.outputTokens,
  describeCost(item.cost),
]

const tokensOf = ({ inputTokens, outputTokens }: CostView): number => inputTokens + outputTokens
