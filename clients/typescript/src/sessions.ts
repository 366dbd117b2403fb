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
  for (let page = query; ;) {
    const { items, nextCursor } = await client.listSessions(agentId, page, options)
    yield* items
    if (nextCursor == null) return
    const { skip: _, ...others } = query
    page = { ...others, cursor: nextCursor }
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
