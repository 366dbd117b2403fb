/** Sessions of all agents. Source: command line, `svc sessions`. */
import { isUuid, type SessionId } from '../../base/ids.ts'
import type { Session } from '../../spec/session.ts'
import { toSessionListItem } from '../view/shape.ts'
import { parsePage } from '../http/validate.ts'
import type { OperatorAction } from './act.ts'
import { toEnding } from './ending.ts'
import { notFoundFailure, findAgent } from './find.ts'
import { toRunView } from './runs.ts'

export const listSessions: OperatorAction<'GET /sessions'> = async ({ services, query }) => {
  const { store, workspace } = services
  const ending = query.get('ending')
  if (ending !== null) {
    const items = await store.sessionsEndingWith(workspace.id, toEnding(ending), 20)
    return { items: items.map(toNamedItem), total: items.length }
  }
  const agent = query.get('agent')
  const versionId = query.get('versionId')?.toLowerCase()
  const status = query.get('status')?.split(',')
  const { items, total } = await store.sessions(
    {
      workspaceId: workspace.id,
      ...(agent !== null && { agentId: (await findAgent(services, agent)).id }),
      ...(versionId !== undefined && { versionId }),
      ...(status && { status }),
    },
    parsePage(query),
  )
  // With the agent given, exactly what the API answers.
  return { items: items.map(agent === null ? toNamedItem : toSessionListItem), total }
}

export const getSession: OperatorAction<'GET /sessions/:id'> = async ({ services, id }) => {
  const { store, workspace } = services
  const session = isUuid(id) ? await store.session(id as SessionId) : undefined
  if (session?.workspaceId !== workspace.id) throw notFoundFailure('session')
  const runs = await store.runsOfSession(session.id)
  return { ...toNamedItem(session), runs: await Promise.all(runs.map((run) => toRunView(services, run))) }
}

const toNamedItem = (session: Session) => ({ ...toSessionListItem(session), agent: session.agentName })
