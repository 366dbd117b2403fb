/** Lists of sessions, newest start first. Each kind of filter follows an index, and totals are kept counts where they can be. */
import type { SessionFilter, SessionPage, SessionPosition } from '../../queries.ts'
import type { ListedRow } from '../../rows/session-rows.ts'
import type { AgentCounts, AgentTable } from '../agents.ts'
import { statementCache } from '../database/statement-cache.ts'
import { joinClauses } from '../../rows/filter.ts'
import type { Database } from 'better-sqlite3'
import { SQLITE } from '../../dialect.ts'
import { listedColumns, sessionColumns } from '../../nouns/sessions.ts'

const SELECT_LISTED = `select ${listedColumns(SQLITE)}`
const FROM_SESSION = sessionColumns(SQLITE).from
const SESSION_OWNER = SQLITE.owner('s').join

export interface ListedPage {
  readonly items: readonly ListedRow[]
  readonly total: number
  readonly next: SessionPosition | null
}

const triggersOf = ({ triggers }: SessionFilter): string | undefined =>
  triggers && JSON.stringify(triggers.map((id) => id ?? ''))

export type ListSessions = (filter: SessionFilter, agent: AgentCounts | undefined, page: SessionPage) => ListedPage

export function openSessionLists(db: Database, agents: AgentTable): ListSessions {
  const prepared = statementCache(db)
  const counted = db
    .prepare<[number, string], number>('select sessions from session_count where agent_n = ? and status = ?')
    .pluck()

  const toPage = (rows: readonly ListedRow[], take: number, total: number): ListedPage => {
    const items = rows.slice(0, take)
    const last = rows.length > take ? items.at(-1) : undefined
    return { items, total, next: last ? { startedAt: last.started_at, n: last.n } : null }
  }
  const wholeOf = (page: SessionPage): number => page.wholeBytes ?? Number.MAX_SAFE_INTEGER

  /** Sessions of all statuses, by the index of starts or of tags. */
  function listByStart(filter: SessionFilter, agent: AgentCounts | undefined, page: SessionPage): ListedPage {
    const isTagged = filter.tag !== undefined && agent !== undefined
    const filters = joinClauses([
      agent ? ['s.agent_n = :agentN', agent.n] : ['a.workspace_id = :workspaceId', filter.workspaceId],
      ['g.agent_n = :taggedAgentN', isTagged ? agent.n : undefined],
      ['g.tag = :tag', isTagged ? filter.tag : undefined],
      ['s.version_id = :versionId', filter.versionId],
      ["coalesce(s.trigger_id, '') in (select value from json_each(:triggers))", triggersOf(filter)],
      ['s.status in (select value from json_each(:status))', filter.status && JSON.stringify(filter.status)],
      [`${isTagged ? 'g' : 's'}.started_at >= :from`, filter.from],
      [`${isTagged ? 'g' : 's'}.started_at < :to`, filter.to],
    ])
    const tables = isTagged
      ? `from session_tag g cross join session s on s.n = g.session_n ${SESSION_OWNER}`
      : FROM_SESSION
    const order = isTagged ? ['g.started_at', 'g.session_n'] : ['s.started_at', 's.n']
    const position = page.after && `and (${order.join(', ')}) < (:afterAt, :afterN)`
    const rows = prepared<ListedRow>(
      `${SELECT_LISTED} ${tables}
       where ${filters.where} ${position ?? ''}
       order by ${order[0]} desc, ${order[1]} desc
       limit :take offset :skip`,
    ).all({
      ...filters.values,
      ...(page.after && { afterAt: page.after.startedAt, afterN: page.after.n }),
      whole: wholeOf(page),
      // One more, to see whether there is a next page.
      take: page.take + 1,
      skip: page.skip,
    })
    const { workspaceId: _workspaceId, agentId: _agentId, ...narrowed } = filter
    const total = Object.values(narrowed).every((each) => each === undefined)
      ? (agent ?? agents.totals(filter.workspaceId)).sessions
      : (prepared<{ total: number }>(`select count(*) as total ${tables} where ${filters.where}`).get(filters.values)
          ?.total ?? 0)
    return toPage(rows, page.take, total)
  }

  /** One agent and status at a time: each is a range of the index, read from its end. */
  function listByStatus(
    filter: SessionFilter,
    { n: agentN }: AgentCounts,
    statuses: readonly string[],
    page: SessionPage,
  ): ListedPage {
    const { versionId, from, to } = filter
    const isCounted = versionId === undefined && from === undefined && to === undefined
    const found: { readonly n: number; readonly started_at: number }[] = []
    let total = 0
    for (const status of new Set(statuses)) {
      const { where, values } = joinClauses([
        ['agent_n = :agentN', agentN],
        ['status = :status', status],
        ['version_id = :versionId', versionId],
        ['started_at >= :from', from],
        ['started_at < :to', to],
      ])
      const position = page.after ? 'and (started_at, n) < (:afterAt, :afterN)' : ''
      found.push(
        ...prepared<{ n: number; started_at: number }>(
          `select n, started_at from session indexed by session_of_status
           where ${where} ${position}
           order by started_at desc, n desc
           limit :most`,
        ).all({
          ...values,
          ...(page.after && { afterAt: page.after.startedAt, afterN: page.after.n }),
          most: page.skip + page.take + 1,
        }),
      )
      total += isCounted
        ? (counted.get(agentN, status) ?? 0)
        : (prepared<{ total: number }>(
            `select count(*) as total from session indexed by session_of_status where ${where}`,
          ).get(values)?.total ?? 0)
    }
    const numbers = found
      .sort((a, b) => b.started_at - a.started_at || b.n - a.n)
      .slice(page.skip, page.skip + page.take + 1)
      .map(({ n }) => n)
    const rows = prepared<ListedRow>(
      `${SELECT_LISTED} ${FROM_SESSION}
       where s.n in (select value from json_each(:numbers))
       order by s.started_at desc, s.n desc`,
    ).all({ numbers: JSON.stringify(numbers), whole: wholeOf(page) })
    return toPage(rows, page.take, total)
  }

  return (filter, agent, page) =>
    agent && filter.status && filter.tag === undefined && filter.triggers === undefined
      ? listByStatus(filter, agent, filter.status, page)
      : listByStart(filter, agent, page)
}
