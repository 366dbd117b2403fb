/** Sessions of all agents. Source: docs/design/command-line.md#operating */
import { isUuid, type SessionId, toEnding } from '../../base/ids.ts'
import type { Session } from '../../spec/run/session.ts'
import type { SessionList } from '../../spec/api.ts'
import { LISTED_WHOLE_BYTES, sessionListReply, sessionsCursor } from '../view/session-list.ts'
import { toSessionListItem } from '../view/shape.ts'
import type { SessionView } from '../../operations/sessions.ts'
import { labelProblems } from '../http/labels.ts'
import { describeErasure, describeLabels } from '../acts/act-subjects.ts'
import { throwFindings } from '../http/refuse.ts'
import { pageOf } from '../http/validate.ts'
import type { OperatorAction, OperatorRequest } from './people/act.ts'
import { notFoundFailure, findAgent } from './find/find.ts'
import { toRunView } from './runs.ts'

export const listSessions: OperatorAction<'GET /sessions'> = async ({ services, query }) => {
  const { store, workspace } = services
  const { ending, agent } = query
  if (ending !== undefined) {
    const items = await store.sessionsEndingWith(workspace.id, toEnding(ending), 20)
    return { items: items.map(toNamedItem), total: items.length }
  }
  const versionId = query.versionId?.toLowerCase()
  const status = query.status?.split(',')
  const agentId = agent === undefined ? undefined : (await findAgent(services, agent)).id
  const { items, total, next } = await store.sessions(
    {
      workspaceId: workspace.id,
      ...(agentId !== undefined && { agentId }),
      ...(versionId !== undefined && { versionId }),
      ...(status && { status }),
    },
    { ...pageOf(query), wholeBytes: LISTED_WHOLE_BYTES },
  )
  // With an agent, the same answer as the API's, whose cursors are of that agent.
  const shown = items.map((session) => ({
    session,
    item: agent === undefined ? toNamedItem(session) : toPricedItem(session),
    isHidden: false,
  }))
  const nextCursor = agentId && next ? sessionsCursor(agentId, next) : null
  const { text, json } = await sessionListReply(store, shown, { total, nextCursor, refsOnly: false })
  const list = (text === undefined ? json : JSON.parse(text)) as SessionList
  return agentId === undefined ? { items: list.items, total: list.total } : list
}

/** Runs of a session that are shown, the newest. */
const MOST_RUNS = 200

export const getSession = async (request: Pick<OperatorRequest, 'services' | 'id'>): Promise<SessionView> => {
  const { services } = request
  const session = await findSession(request)
  const runs = await services.store.newestRuns(session.id, null, MOST_RUNS)
  const runsLeftOut = session.runCount - runs.length
  return {
    ...toNamedItem(session),
    legalHold: session.legalHold === true,
    runs: await Promise.all(runs.map((run) => toRunView(services, run))),
    ...(runsLeftOut > 0 && { runsLeftOut }),
  }
}

/** Sets labels, and whether a legal hold keeps the session. */
export const patchSession: OperatorAction<'PATCH /sessions/:id'> = async (request) => {
  const { services, body, act } = request
  const { id } = await findSession(request)
  const { title } = body
  throwFindings(labelProblems(body), 'The body is not valid')
  const given = { ...body, ...(title !== undefined && { title: title === '' ? null : title }) }
  await services.store
    .recording(act('session.labelled', describeLabels(id, given)))
    .labelSession(id, services.redactor.json(given))
  return getSession(request)
}

/** Erases the content of a session; ignores the trigger's `allowDelete`. */
export const deleteSession: OperatorAction<'DELETE /sessions/:id'> = async (request) => {
  const { id } = await findSession(request)
  await request.services.engine.erase(id, request.act('session.erased', describeErasure(id)))
  // Open screens must drop the erased content, too.
  request.services.changes.tell(id)
  return getSession(request)
}

export async function findSession({
  services: { store, workspace },
  id,
}: Pick<OperatorRequest, 'services' | 'id'>): Promise<Session> {
  const session = isUuid(id) ? await store.session(id.toLowerCase() as SessionId) : undefined
  if (session?.workspaceId !== workspace.id) throw notFoundFailure('session')
  return session
}

const toPricedItem = (session: Session) => ({
  ...toSessionListItem(session),
  ...(session.cost && { cost: session.cost }),
})
const toNamedItem = (session: Session) => ({ ...toPricedItem(session), agent: session.agentName })
