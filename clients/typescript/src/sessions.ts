import type { SessionsQuery, SvcClient } from './client.ts'
import type { SessionListItem } from './generated/api.ts'
import type { RequestOptions } from './transport.ts'

/** Every session of the agent, newest first, a page at a time; those that begin meanwhile do not show one twice. */
export async function* iterateSessions(
  client: SvcClient,
  agentId: string,
  query: SessionsQuery = {},
  options: RequestOptions = {},
): AsyncGenerator<SessionListItem, void, undefined> {
  const seen = new Set<string>()
  let skip = query.skip ?? 0
  for (let page: SessionsQuery = { ...query, skip }; ;) {
    const { items, total, nextCursor } = await client.listSessions(agentId, page, options)
    for (const session of items) {
      if (seen.has(session.id)) continue
      seen.add(session.id)
      yield session
    }
    skip += items.length
    const { skip: _, ...others } = query
    if (typeof nextCursor === 'string') page = { ...others, cursor: nextCursor }
    else if (nextCursor === null || items.length === 0 || skip >= total) return
    else page = { ...query, skip }
  }
}
