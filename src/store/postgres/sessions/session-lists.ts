/** Lists of sessions, newest start first. Each kind of filter follows an index, and totals are kept counts where they can be. */
import { POSTGRES } from '../../dialect.ts'
import { listedColumns } from '../../nouns/sessions.ts'
import type { SessionFilter, SessionPage } from '../../queries.ts'
import { joinClauses } from '../../rows/filter.ts'
import { toListed, type ListedRow } from '../../rows/session-rows.ts'
import type { Store } from '../../store.ts'
import { countOf } from '../agents.ts'
import type { PostgresPool } from '../database/pool.ts'

const SELECT_LISTED = `select ${listedColumns(POSTGRES)}`

export async function listSessions(
  db: PostgresPool,
  filter: SessionFilter,
  page: SessionPage,
): ReturnType<Store['sessions']> {
  const { workspaceId, agentId, status, tag, triggers, versionId, from, to } = filter
  const isTagged = tag !== undefined && agentId !== undefined
  const tables = isTagged ? 'session_tag g join session s on s.id = g.session_id' : 'session s'
  const { where, values } = joinClauses([
    ['s.workspace_id = :workspaceId', workspaceId],
    ['s.agent_id = :agentId', agentId],
    ['g.agent_id = :taggedAgentId', isTagged ? agentId : undefined],
    ['g.tag = :tag', isTagged ? tag : undefined],
    ['s.version_id = :versionId', versionId],
    ["coalesce(s.trigger_id, '') = any (:triggers)", triggers?.map((id) => id ?? '')],
    [`${isTagged ? 'g' : 's'}.started_at >= :from`, from],
    [`${isTagged ? 'g' : 's'}.started_at < :to`, to],
  ])
  const order = isTagged ? ['g.started_at', 'g.session_n'] : ['s.started_at', 's.n']
  const range = `${where} ${page.after ? `and (${order.join(', ')}) < (:afterAt, :afterN)` : ''}`
  const inOrder = `order by ${order[0]} desc, ${order[1]} desc`
  const rows = await db.rows<ListedRow>(
    status === undefined
      ? `${SELECT_LISTED} from ${tables} where ${range} ${inOrder} limit :take offset :skip`
      : // One status at a time: each is a range of the index, read from its end.
        `${SELECT_LISTED}
         from unnest(:status::text[]) as wanted (status)
           cross join lateral (
             select s.* from ${tables} where ${range} and s.status = wanted.status ${inOrder} limit :most
           ) s
         order by s.started_at desc, s.n desc
         limit :take offset :skip`,
    {
      ...values,
      ...(page.after && { afterAt: page.after.startedAt, afterN: page.after.n }),
      ...(status && { status: [...new Set(status)], most: page.skip + page.take + 1 }),
      whole: page.wholeBytes ?? Number.MAX_SAFE_INTEGER,
      // One more, to see whether there is a next page.
      take: page.take + 1,
      skip: page.skip,
    },
  )
  const items = rows.slice(0, page.take)
  const last = rows.length > page.take ? items.at(-1) : undefined
  const isCounted = [tag, triggers, versionId, from, to].every((each) => each === undefined)
  const total = isCounted
    ? await countOf(db, filter, status ? 'statuses' : 'sessions', status)
    : ((
        await db.row<{ total: number }>(
          `select count(*) as total from ${tables} where ${where} ${status ? 'and s.status = any (:status)' : ''}`,
          { ...values, status },
        )
      )?.total ?? 0)
  return { items: items.map(toListed), total, next: last ? { startedAt: last.started_at, n: last.n } : null }
}
