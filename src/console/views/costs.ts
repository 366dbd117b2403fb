/** Tokens and money, by agent, model and day. */
import { safeText } from '../../base/escape-text.ts'
import type { CostView } from '../../spec/operator/operations.ts'
import { describeCost } from '../../spec/price.ts'
import { downloadText, writeCsv, type CsvCell } from '../parts/download.ts'
import { html, type View } from '../parts/html.ts'
import { EmptyState, ErrorNote, Loading } from '../parts/states.ts'
import { address, withQuery } from '../wire/navigation.ts'
import { callOperator } from '../wire/request.ts'
import { aboutAnySession, useResource } from '../wire/resource.ts'

const GROUPS = [
  ['agent,model', 'By agent and model'],
  ['model', 'By model'],
  ['day', 'By day'],
] as const

const DAYS = ['7', '30', '90'] as const
const DAY_MS = 86_400_000

export function CostsScreen(): View {
  const { query } = address.value
  const [by, days] = [query.get('by') ?? 'agent,model', query.get('days') ?? '30']
  const costs = useResource(
    `costs ${by} ${days}`,
    () =>
      callOperator('GET /costs', {
        query: { by, since: new Date(Date.now() - (Number(days) || 30) * DAY_MS).toISOString() },
      }),
    aboutAnySession,
  )
  const read = costs.value.value
  return html`
    <section class="screen">
      <header class="screen-head"><h1>Costs</h1></header>
      <div class="filters">
        <nav class="tabs" aria-label="Grouped by">
          ${GROUPS.map(([name, label]) => html`<a key=${name} href=${withQuery({ by: name })} aria-current=${by === name ? 'page' : undefined}>${label}</a>`)}
        </nav>
        <nav class="tabs" aria-label="Time">
          ${DAYS.map((each) => html`<a key=${each} href=${withQuery({ days: each })} aria-current=${days === each ? 'page' : undefined}>${each} days</a>`)}
        </nav>
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
          ? html`<${Loading} />`
          : read.items.length === 0
            ? html`<${EmptyState} icon="costs" title="No completion in this time." />`
            : html`
                <dl class="facts section">
                  <div>
                    <dt>Completions</dt>
                    <dd>${read.sum.completions.toLocaleString('en')}</dd>
                  </div>
                  <div>
                    <dt>Input tokens</dt>
                    <dd>${read.sum.inputTokens.toLocaleString('en')}</dd>
                  </div>
                  <div>
                    <dt>Output tokens</dt>
                    <dd>${read.sum.outputTokens.toLocaleString('en')}</dd>
                  </div>
                  <div>
                    <dt>Cost</dt>
                    <dd>${safeText(describeCost(read.sum.cost) ?? 'nothing billed')}</dd>
                  </div>
                </dl>
                <${CostTable} items=${read.items} />
              `
      }
    </section>
  `
}

function CostTable({ items }: { readonly items: readonly CostView[] }): View {
  const most = Math.max(1, ...items.map(tokensOf))
  return html`
    <div class="table-wrap" role="region" aria-label="Costs" tabindex="0">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col"><span class="unseen">Share</span></th>
            <th scope="col" class="num kept">Completions</th>
            <th scope="col" class="num">Input</th>
            <th scope="col" class="num">Cached</th>
            <th scope="col" class="num">Output</th>
            <th scope="col" class="num kept">Cost</th>
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
    </div>
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
