/** Usage and cost of completions, from the kept sums. Source: docs/design/models-and-tools.md#costs */
import { fail } from '../../base/failure.ts'
import type { CostSums, CostView } from '../../operations/insight.ts'
import { joinCosts, NO_COST } from '../../spec/price.ts'
import type { CostRow } from '../../store/queries.ts'
import { queryFailure } from '../http/refuse.ts'
import type { OperatorAction } from './people/act.ts'
import { findAgent } from './find/find.ts'
import { parseSince } from './runs.ts'
import { getOrInsert } from '../../base/values/collections.ts'

const DEFAULT_SPAN_MS = 30 * 86_400_000
/** Sums read for one answer: years of some agents, or a month of hundreds. */
const MAX_ROWS = 50_000

const GROUPS = ['agent', 'version', 'model', 'day'] as const
type CostGroup = (typeof GROUPS)[number]

export const listCosts: OperatorAction<'GET /costs'> = async ({ services, query }) => {
  const { store, workspace, clock } = services
  const groups = parseGroups(query.by ?? 'agent,model')
  const until = query.until === undefined ? clock.now() : parseSince(query.until)
  const since = query.since === undefined ? until - DEFAULT_SPAN_MS : parseSince(query.since)
  const name = query.agent === undefined ? undefined : (await findAgent(services, query.agent)).name
  const rows = await store.costs(workspace.id, since, until, MAX_ROWS + 1)
  if (rows.length > MAX_ROWS)
    throw fail('validation_failed', {
      what: `The answer would add up more than ${MAX_ROWS} sums. Ask for a shorter time.`,
    })
  const chosen = name === undefined ? rows : rows.filter(({ agent }) => agent === name)
  const grouped = new Map<string, CostRow[]>()
  for (const row of chosen) {
    const key = JSON.stringify(groups.map((group) => valuesOf(row, group)))
    getOrInsert(grouped, key, () => []).push(row)
  }
  const items = [...grouped.values()].map((of): CostView => ({
    ...Object.assign({}, ...of.slice(0, 1).flatMap((row) => groups.map((group) => valuesOf(row, group)))),
    ...sumOf(of),
  }))
  return { items, total: items.length, sum: sumOf(chosen) }
}

function parseGroups(text: string): readonly CostGroup[] {
  const names = text.split(',')
  const unknown = names.find((name) => !GROUPS.some((group) => group === name))
  if (unknown !== undefined)
    throw queryFailure('/by', `must name agent, version, model or day, separated by commas, not "${unknown}"`)
  return GROUPS.filter((group) => names.includes(group))
}

const valuesOf = ({ agent, version, provider, model, day }: CostRow, group: CostGroup) =>
  ({ agent: { agent }, version: { version }, model: { provider, model }, day: { day } })[group]

function sumOf(rows: readonly CostRow[]): CostSums {
  const add = (count: (row: CostRow) => number): number => rows.reduce((sum, row) => sum + count(row), 0)
  return {
    completions: add(({ completions }) => completions),
    inputTokens: add(({ inputTokens }) => inputTokens),
    cachedInputTokens: add(({ cachedInputTokens }) => cachedInputTokens),
    cacheWriteTokens: add(({ cacheWriteTokens }) => cacheWriteTokens),
    outputTokens: add(({ outputTokens }) => outputTokens),
    reasoningTokens: add(({ reasoningTokens }) => reasoningTokens),
    cost: rows.length === 0 ? NO_COST : joinCosts(rows.map(({ cost }) => cost)),
  }
}
