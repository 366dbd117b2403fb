/** Runs: one, those of a session with their trees, and lists of them. */
import { isTerminal, type Run } from '../../spec/run/run.ts'
import type { RunFilter, PageRange } from '../queries.ts'
import { joinClauses } from '../rows/filter.ts'
import type { RunId } from '../../base/ids.ts'
import type { Dialect } from '../dialect.ts'
import { toRun, type RunRow } from '../rows/run-rows.ts'
import { endingRange } from '../rows/tail.ts'
import { readRow, readRows, type DatabaseWork, type NounWork, type StatementValues, readOneRow } from '../statement.ts'
import { prepareRunSearch } from './run-search.ts'

type RunReads = 'run' | 'runs' | 'runsOfSession' | 'newestRuns' | 'treesOf' | 'runsEndingWith'

/** What a run took. */
const RANKS = {
  sqlite: `
    coalesce(r.finished_at, :now) - r.started_at as duration,
    coalesce(json_extract(r.usage, '$.inputTokens'), 0) + coalesce(json_extract(r.usage, '$.outputTokens'), 0) as tokens,
    (select coalesce(sum(cast(value as real)), 0) from json_each(r.usage, '$.cost.amounts')) as cost`,
  postgres: `
    coalesce(r.finished_at, :now) - r.started_at as duration,
    coalesce((r.usage::jsonb ->> 'inputTokens')::bigint, 0) + coalesce((r.usage::jsonb ->> 'outputTokens')::bigint, 0) as tokens,
    (select coalesce(sum(value::numeric), 0) from jsonb_each_text(r.usage::jsonb #> '{cost,amounts}')) as cost`,
}

/** Kept counts of runs, with the column that has the agent's id. */
const KEPT_COUNT = {
  sqlite: { total: 'select coalesce(sum(runs), 0) as total from agent where true', agent: 'id' },
  postgres: {
    total: `select coalesce(sum(counted), 0)::bigint as total from agent_count where what = 'runs'`,
    agent: 'agent_id',
  },
}

/** The tables `above` and `tree`: the runs that a query finds and those above them, and the whole trees that they belong to. */
export const treesAbove = (found: string): string => `
  above (id, parent_run_id) as (
    ${found}
    union
    select r.id, r.parent_run_id from above join run r on r.id = above.parent_run_id
  ),
  tree (id) as (
    select id from above where parent_run_id is null
    union
    select r.id from tree join run r on r.parent_run_id = tree.id
  )`

export function prepareRuns(dialect: Dialect): NounWork<RunReads, never> {
  const { key, column, find, isOneOf, joinInOrder, unindexed, owner, agentRow, ending } = dialect
  const { workspace, agent, join } = owner('r')
  const session = `r.${column('session')}`
  const inSession = `${session} = ${find('session', 'sessionId')}`
  const from = `from run r ${joinInOrder} session s on s.${key} = ${session} ${join}`
  const select = `
    select r.id, s.id as session_id, ${workspace} as workspace_id, ${agent} as agent_id, r.agent_name, r.version_id,
      r.version_label, r.llm_model, r.parent_run_id, r.parent_call_id, r.depth,
      case when r.id = s.root_run_id then s.input else r.input end as input, r.starter, r.origin, r.state, r.status, r.usage,
      r.last_sequence, r.output, r.error, r.error_code, r.started_at, r.finished_at
    ${from}`
  const newestFirst = 'order by r.started_at desc, r.n desc'
  const one = `${select} where r.id = :id`
  const some = `${select} where ${isOneOf('r.id', 'ids', 'uuid')}`
  const ofSession = `${select} where ${inSession} order by r.n`
  const newest = `${select}
    where ${inSession} and r.n < coalesce((select n from run where id = :before), 9223372036854775807)
    order by r.n desc
    limit :limit`
  const trees = `with recursive ${treesAbove(`select id, parent_run_id from run where ${isOneOf('id', 'asked', 'uuid')}`)}
    ${select}
    where r.id in (select id from tree) and ${unindexed(session)} = ${find('session', 'sessionId')}
    order by r.n`
  const endingWith = `${select}
    where r.tail >= :from and r.tail < :to and ${ending('r.id')} = :ending and ${workspace} = :workspaceId
    ${newestFirst}
    limit :limit`
  const search = prepareRunSearch(dialect)
  const kept = KEPT_COUNT[dialect.name]

  function* list(
    where: string,
    values: StatementValues,
    filter: RunFilter,
    { skip, take }: PageRange,
  ): ReturnType<NounWork<'runs', never>['reads']['runs']> {
    const rows = yield* readRows<RunRow>(`${select} where ${where} ${newestFirst} limit :take offset :skip`, {
      ...values,
      take,
      skip,
    })
    const { workspaceId, agentId } = filter
    const total = isFilteredRuns(filter)
      ? readTotal(
          `select count(*) as total from (select 1 ${from} where ${where} ${isRunSearch(filter) ? `limit ${MOST_COUNTED}` : ''}) c`,
          values,
        )
      : readTotal(
          `${kept.total} and workspace_id = :workspaceId ${agentId === undefined ? '' : `and ${kept.agent} = :agentId`}`,
          { workspaceId, agentId },
        )
    return { items: rows.map(toRun), total: yield* total }
  }

  function* listRanked(
    where: string,
    values: StatementValues,
    filter: RunFilter,
    { skip, take }: PageRange,
  ): ReturnType<NounWork<'runs', never>['reads']['runs']> {
    const range = keptOfRanked(filter)
    const ranked = `from (
        select r.id, r.n, r.started_at as began, ${RANKS[dialect.name]} ${from} where ${where} ${newestFirst} limit ${MOST_RANKED}
      ) k
      where ${range.where}`
    const compared = { ...values, ...range.values, now: filter.now ?? 0 }
    const total = yield* readTotal(`select count(*) as total ${ranked}`, compared)
    const listed = yield* readRows<{ id: RunId }>(
      `select id ${ranked} order by ${orderOfRanked(filter)} limit :take offset :skip`,
      { ...compared, take, skip },
    )
    const rows = yield* readRows<RunRow>(some, { ids: listed.map(({ id }) => id) })
    const byId = new Map(rows.map((row) => [row.id, row]))
    return { items: listed.flatMap(({ id }) => byId.get(id) ?? []).map(toRun), total }
  }

  return {
    reads: {
      *run(id) {
        const row = yield* readRow<RunRow>(one, { id })
        return row && toRun(row)
      },
      *runs(filter, page) {
        const found = search(filter)
        if (!found) return { items: [], total: 0 }
        const { agentId, workspaceId } = filter
        const { where, values } = joinClauses([
          [`${workspace} = :workspaceId`, workspaceId],
          [`r.${column('agent')} = ${agentRow}`, agentId],
          // Redundant beside the statuses, but leads to the index of open runs.
          ['r.finished_at is null', matchesOnlyOpen(filter) || undefined],
          [isOneOf('r.status', 'status'), filter.status],
          [`r.status like 'WaitingFor%'`, filter.waiting === true || undefined],
          [`r.status not like 'WaitingFor%'`, filter.waiting === false || undefined],
          ['r.started_at >= :since', filter.since],
          ['r.started_at < :until', filter.until],
          [inSession, filter.sessionId],
          ['r.parent_run_id is null', filter.roots === true || undefined],
          ...found.clauses,
        ])
        const all = { ...values, ...found.values, workspaceId }
        return yield* isRanked(filter) ? listRanked(where, all, filter, page) : list(where, all, filter, page)
      },
      *runsOfSession(sessionId) {
        return (yield* readRows<RunRow>(ofSession, { sessionId })).map(toRun)
      },
      *newestRuns(sessionId, before, limit) {
        return (yield* readRows<RunRow>(newest, { sessionId, before, limit })).map(toRun).reverse()
      },
      *treesOf(sessionId, asked) {
        return (yield* readRows<RunRow>(trees, { sessionId, asked })).map(toRun)
      },
      *runsEndingWith(workspaceId, text, limit): DatabaseWork<readonly Run[]> {
        return (yield* readRows<RunRow>(endingWith, { workspaceId, limit, ...endingRange(text) })).map(toRun)
      },
    },
    writes: {},
    transactions: {},
  }
}

function* readTotal(sql: string, values: StatementValues): DatabaseWork<number> {
  return (yield* readOneRow<{ total: number }>(sql, values)).total
}

/** Runs that are compared, the newest that the other filters let through: what a run took has no index. */
const MOST_RANKED = 10_000

const isRanked = ({ sort, minDurationMs, minTokens, minCost }: RunFilter): boolean =>
  (sort !== undefined && sort !== 'started') || [minDurationMs, minTokens, minCost].some((each) => each !== undefined)

/** Which of the compared runs are listed, of a table with the columns `began`, `duration`, `tokens`, `cost` and `n`. */
const keptOfRanked = ({ minDurationMs, minTokens, minCost }: RunFilter) =>
  joinClauses([
    ['duration >= :minDurationMs', minDurationMs],
    ['tokens >= :minTokens', minTokens],
    ['cost >= :minCost', minCost],
  ])

/** The largest first; of equal ones the newest. */
const orderOfRanked = ({ sort = 'started' }: RunFilter): string =>
  `${sort === 'started' ? '' : `${sort} desc, `}began desc, n desc`

/** Runs of a search that are counted. */
const MOST_COUNTED = 10_000

const matchesOnlyOpen = ({ status, waiting }: RunFilter): boolean =>
  waiting === true || (status !== undefined && !status.some(isTerminal))

/** False where the kept count of runs is the total. */
const isFilteredRuns = (filter: RunFilter): boolean =>
  isRunSearch(filter) ||
  [filter.status, filter.waiting, filter.since, filter.until, filter.sessionId, filter.origin].some(
    (each) => each !== undefined,
  )

const isRunSearch = (filter: RunFilter): boolean => {
  const { roots, text, tool, effect, versionLabel, trigger, person, approver, metadata } = filter
  return (
    roots === true ||
    [text, tool, effect, versionLabel, trigger, person, approver, metadata].some((each) => each !== undefined)
  )
}
