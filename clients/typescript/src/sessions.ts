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
  for (let skip = query.skip ?? 0; ;) {
    const { items, total } = await client.listSessions(agentId, { ...query, skip }, options)
    for (const session of items) {
      if (seen.has(session.id)) continue
      seen.add(session.id)
      yield session
    }
    skip += items.length
    if (items.length === 0 || skip >= total) return
  }
}
