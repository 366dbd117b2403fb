/** The chains of sessions as they are stored. Source: docs/design/audit.md#sessions */
import type { SessionId } from '../../base/ids.ts'
import { findAgent } from './find/find.ts'
import type { OperatorAction } from './people/act.ts'
import { parseSince } from './runs.ts'
import { findSession } from './sessions.ts'

const DEFAULT_TAKE = 100

export const listChainedSessions: OperatorAction<'GET /audit/sessions'> = async ({ services, query }) => {
  const { store, workspace } = services
  const { agent, by, since, until, after, take = DEFAULT_TAKE } = query
  const [startedAt, session] = after?.split(' ') ?? []
  const filter = {
    workspaceId: workspace.id,
    ...(agent !== undefined && { agentId: (await findAgent(services, agent)).id }),
    ...(by !== undefined && { by: by.includes(':') ? by : `operator:${by}` }),
    ...(since !== undefined && { from: parseSince(since) }),
    ...(until !== undefined && { to: parseSince(until) }),
    ...(session !== undefined && { after: { startedAt: Number(startedAt), session: session as SessionId } }),
  }
  const items = await store.chainedSessions(filter, take)
  return { items, total: items.length }
}

export const listSessionLinks: OperatorAction<'GET /audit/sessions/:id'> = async (request) => {
  const { after = 0, take = DEFAULT_TAKE } = request.query
  const { id } = await findSession(request)
  const items = await request.services.store.linksOf(id, after, take)
  return { items, total: items.length }
}
