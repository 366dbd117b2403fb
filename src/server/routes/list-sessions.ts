import type { SessionList } from '../../spec/api.ts'
import { withKey } from '../auth.ts'
import { ok } from '../reply.ts'
import type { Handler } from '../route.ts'
import { agentInScope } from '../scope.ts'
import type { Services } from '../services.ts'
import { toSessionListItem } from '../shape.ts'
import { parsePage } from '../validate.ts'

/** GET /v1/agents/{agentId}/sessions: newest first, those of all triggers of the agent. `?status=` is an extension. */
export const listSessions = (services: Services): Handler =>
  withKey(services, async ({ url, params }, { principal }) => {
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
    return ok(list)
  })
