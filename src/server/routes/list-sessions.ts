import type { SessionList } from '../../spec/api.ts'
import type { Session } from '../../spec/session.ts'
import { withCaller, type ApiPrincipal, type IdentifyCaller } from '../auth/auth.ts'
import { okReply } from '../http/reply.ts'
import type { RouteHandler } from '../http/route.ts'
import { agentInScope } from '../auth/scope.ts'
import type { ServerServices } from '../runtime/services.ts'
import { withoutContent } from '../view/redact.ts'
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
    const isHidden = await hiddenSessions(services, principal)
    const list: SessionList = {
      items: items.map((session) => {
        const item = toSessionListItem(session)
        return isHidden(session) ? withoutContent(item) : item
      }),
      total,
    }
    return okReply(list)
  })

/**
 * Which sessions a caller lists without content: those of another trigger than the key's, where either hides its timeline. A
 * trigger that is gone hides it, since nothing says any more that it did not. Source: decisions, section 2.
 */
async function hiddenSessions(
  { store }: ServerServices,
  principal: ApiPrincipal,
): Promise<(session: Pick<Session, 'triggerId'>) => boolean> {
  if (principal.type === 'operator') return () => false
  const { triggerId: own, exposeTimeline, workspaceId, agentId } = principal
  const triggers = await store.triggers(workspaceId, agentId)
  const exposing = new Set<string>(triggers.filter((each) => each.exposeTimeline).map(({ id }) => id))
  return ({ triggerId }) => triggerId !== own && !(exposeTimeline && (triggerId === null || exposing.has(triggerId)))
}
