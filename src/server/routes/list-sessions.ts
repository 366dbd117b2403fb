import type { SessionList } from '../../spec/api.ts'
import { withCaller, type IdentifyCaller } from '../auth/auth.ts'
import { okReply } from '../http/reply.ts'
import type { RouteHandler } from '../http/route.ts'
import { agentInScope } from '../auth/scope.ts'
import type { ServerServices } from '../runtime/services.ts'
import { toSessionListItem } from '../view/shape.ts'
import { parsePage } from '../http/validate.ts'

/** GET /v1/agents/{agentId}/sessions: newest first, those of all triggers of the agent. `?status=` is an extension. */
export const listSessions = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async ({ url, params }, { principal }) => {
    const agent = await agentInScope(services, principal, params['agentId']!)
    const page = parsePage(url.searchParams)
    const versionId = url.searchParams.get('versionId')?.toLowerCase()
    const status = url.searchParams.get('status')?.split(',')
    const { items, total } = await services.store.sessions(
      {
        workspaceId: principal.workspaceId,
        agentId: agent.id,
        ...(versionId !== undefined && { versionId }),
        ...(status && { status }),
      },
      page,
    )
    const list: SessionList = { items: items.map(toSessionListItem), total }
    return okReply(list)
  })
