import { withCaller, type IdentifyCaller } from '../auth/auth.ts'
import { type RouteHandler, readPathParam } from '../http/route.ts'
import { agentInScope, shownTriggers } from '../auth/scope.ts'
import type { ServerServices } from '../runtime/services.ts'
import { withoutContent } from '../view/redact.ts'
import { toSessionListItem } from '../view/shape.ts'
import { LISTED_WHOLE_BYTES, sessionListReply, sessionsCursor, sessionsOf } from '../view/session-list.ts'
import { parseSessionsQuery } from '../http/validate.ts'

/**
 * GET /v1/agents/{agentId}/sessions: newest first, those of all triggers of the agent. Filters beside `versionId`, cursors and
 * references are extensions.
 */
export const listSessions = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async ({ url, params }, { principal }) => {
    const agentId = await agentInScope(services, principal, readPathParam({ params }, 'agentId'))
    const { page, filter, versionLabel, refsOnly } = parseSessionsQuery(url.searchParams, sessionsOf(agentId))
    const versionId = versionLabel && (await services.store.versionIdByLabel(agentId, versionLabel))
    if (versionLabel !== undefined && versionId === undefined)
      return sessionListReply(services.store, [], { total: 0, nextCursor: null, refsOnly })
    const visible = await shownTriggers(services, principal)
    const { items, total, next } = await services.store.sessions(
      {
        workspaceId: principal.workspaceId,
        agentId,
        ...filter,
        ...(versionId && { versionId }),
        // A tag that is not shown is not found either.
        ...(filter.tag !== undefined && visible !== 'all' && { triggers: [...visible] }),
      },
      { ...page, wholeBytes: LISTED_WHOLE_BYTES },
    )
    const shown = items.map((session) => {
      const item = toSessionListItem(session)
      const isHidden = visible !== 'all' && !visible.has(session.triggerId)
      return { session, item: isHidden ? withoutContent(item) : item, isHidden }
    })
    const nextCursor = next && sessionsCursor(agentId, next)
    return sessionListReply(services.store, shown, { total, nextCursor, refsOnly })
  })
