/** Sessions: the list of an agent, and one by its id, which is read, named and erased. Source: docs/design/http.md#sessions-and-lists */
import { withCaller, type IdentifyCaller } from '../auth/auth.ts'
import { type RouteHandler, readPathParam } from '../http/route.ts'
import { agentInScope, shownTriggers, sessionInScope } from '../auth/scope.ts'
import type { ServerServices } from '../runtime/services.ts'
import { withoutContent } from '../view/redact.ts'
import { toSessionListItem } from '../view/shape.ts'
import {
  LISTED_WHOLE_BYTES,
  sessionListReply,
  sessionsCursor,
  sessionsOf,
  boundedSession,
} from '../view/session-list.ts'
import { parseSessionsQuery, parseSessionPatch, parseValuesQuery } from '../http/validate.ts'
import { fail } from '../../base/failure.ts'
import type { Session } from '../../spec/run/session.ts'
import { describeErasure, describeLabels } from '../acts/act-subjects.ts'
import { apiBodyLimits, readJson } from '../http/body.ts'
import { okReply, type HttpReply } from '../http/reply.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** GET /v1/sessions/{sessionId} (extension): as the list of sessions shows it. */
export const getSession = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async ({ url, params }, { principal }) => {
    const session = await sessionInScope(services, principal, readPathParam({ params }, 'sessionId'))
    return sessionReply(session, parseValuesQuery(url.searchParams))
  })

/** PATCH /v1/sessions/{sessionId} (extension): sets title, metadata or tags, also while its runs work. */
export const patchSession = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async (call, { principal, act }) => {
    const { id } = await sessionInScope(services, principal, readPathParam(call, 'sessionId'))
    const { title, ...labels } = parseSessionPatch(await readJson(call, apiBodyLimits(services.config)))
    const given = { ...labels, ...(title !== undefined && { title: title === '' ? null : title }) }
    const { store } = services
    const writes = act ? store.recording(act('session.labelled', describeLabels(id, given))) : store
    await writes.labelSession(id, services.redactor.json(given))
    return sessionReply(expectDefined(await services.store.session(id), 'the session was read before'))
  })

/** DELETE /v1/sessions/{sessionId} (extension): erases its content; a key only where its trigger allows it. */
export const deleteSession = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async ({ params }, { principal, trigger, act }) => {
    const { id } = await sessionInScope(services, principal, readPathParam({ params }, 'sessionId'))
    if (trigger && !trigger.allowDelete) throw fail('delete_not_allowed')
    await services.engine.erase(id, act?.('session.erased', describeErasure(id)))
    return sessionReply(expectDefined(await services.store.session(id), 'the session was read before'))
  })

const sessionReply = (session: Session, refsOnly = false): HttpReply =>
  okReply(boundedSession(toSessionListItem(session), refsOnly))

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
