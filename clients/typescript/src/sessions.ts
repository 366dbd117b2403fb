import type { SessionsQuery, SvcClient } from './client.ts'
import { connectionOf, toSegment } from './connection.ts'
import type { SessionListItem, SessionPatch } from './generated/api.ts'
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

/** A session as the list shows it: GET /v1/sessions/{sessionId}. */
export const getSession = (
  client: SvcClient,
  sessionId: string,
  options: RequestOptions = {},
): Promise<SessionListItem> => connectionOf(client).call('GET', pathOfSession(sessionId), options)

/** Sets title, metadata or tags: PATCH /v1/sessions/{sessionId}. What the patch leaves out stays. */
export const updateSession = (
  client: SvcClient,
  sessionId: string,
  patch: SessionPatch,
  options: RequestOptions = {},
): Promise<SessionListItem> => connectionOf(client).call('PATCH', pathOfSession(sessionId), options, { body: patch })

/**
 * Erases the content of an ended session, where its trigger allows that: DELETE /v1/sessions/{sessionId}.
 * @throws SvcError 409 `session_not_ended` while a run of it is not terminal
 */
export const deleteSession = (
  client: SvcClient,
  sessionId: string,
  options: RequestOptions = {},
): Promise<SessionListItem> => connectionOf(client).call('DELETE', pathOfSession(sessionId), options)

const pathOfSession = (sessionId: string): string => `/v1/sessions/${toSegment(sessionId)}`
