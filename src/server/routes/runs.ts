import { describeRun } from '../acts/act-subjects.ts'
import { seesTimeline, withCaller, type IdentifyCaller } from '../auth/auth.ts'
import { apiBodyLimits, readJson } from '../http/body.ts'
import { conversationCursors, conversationReply } from '../view/conversation.ts'
import { conversationFor } from '../view/answerable-by.ts'
import { COMPLETION_ROWS, redactConversation, slimContent } from '../view/redact.ts'
import { acceptedReply, okReply } from '../http/reply.ts'
import { type RouteHandler, readPathParam } from '../http/route.ts'
import { runInScope } from '../auth/scope.ts'
import type { ServerServices } from '../runtime/services.ts'
import { readHold } from '../view/hold.ts'
import { readPending } from '../view/pending.ts'
import { waitAsPreferred } from './prefer-wait.ts'
import { readErasure, toRunStatus } from '../view/shape.ts'
import { parseCancel, parseConversationQuery } from '../http/validate.ts'

/** GET /v1/runs/{runId}: status and result, never redacted; `pending` as the timeline would show it. */
export const getRun = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async (call, caller) => {
    const { principal } = caller
    const found = await runInScope(services, principal, readPathParam(call, 'runId'))
    const { headers, run = found } = await waitAsPreferred(services, call, caller, found)
    const hold = await readHold(services, run)
    const pending = await readPending(services.store, run, !seesTimeline(principal))
    const erasedAt = await readErasure(services.store, run)
    return { ...okReply(toRunStatus(run, hold, pending, principal, erasedAt)), headers }
  })

/**
 * GET /v1/runs/{runId}/conversation: session, runs and timeline; redacted while the trigger hides its timeline. Pages and
 * references are extensions.
 */
export const getConversation = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async ({ url, params }, { principal }) => {
    const { sessionId } = await runInScope(services, principal, readPathParam({ params }, 'runId'))
    const { stepContent, after, ...options } = parseConversationQuery(url.searchParams, conversationCursors(sessionId))
    const isHidden = !seesTimeline(principal)
    const { take } = options
    const part = { after, ...(isHidden && { only: COMPLETION_ROWS }), ...(take !== undefined && { take }) }
    const conversation = await services.engine.conversation(sessionId, part)
    return conversationReply(conversation, {
      ...options,
      view(whole) {
        const visible = isHidden ? redactConversation(whole, conversation.isRootRun) : conversationFor(principal, whole)
        return stepContent === 'slim' ? slimContent(visible) : visible
      },
    })
  })

/** POST /v1/runs/{runId}/cancel (extension): reaches all descendants; a terminal run keeps its status. */
export const cancelRun = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async (call, { principal, act }) => {
    const run = await runInScope(services, principal, readPathParam(call, 'runId'))
    const { reason } = parseCancel(await readJson(call, apiBodyLimits(services.config)))
    const cancelled = act?.('run.cancelled', { subject: describeRun(run), reason, run })
    return acceptedReply(await services.engine.cancel(run.id, principal, reason, cancelled))
  })
