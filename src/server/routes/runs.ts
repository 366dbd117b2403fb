import { seesTimeline, withCaller, type IdentifyCaller } from '../auth/auth.ts'
import { apiBody, readJson } from '../http/body.ts'
import { conversationReply } from '../view/conversation.ts'
import { redactConversation, slimContent } from '../view/redact.ts'
import { acceptedReply, okReply } from '../http/reply.ts'
import type { RouteHandler } from '../http/route.ts'
import { runInScope } from '../auth/scope.ts'
import type { ServerServices } from '../runtime/services.ts'
import { waitAsPreferred } from './prefer-wait.ts'
import { toRunStatus } from '../view/shape.ts'
import { parseCancel, parseStepContent } from '../http/validate.ts'

/** GET /v1/runs/{runId}: status and result, never redacted. */
export const getRun = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async (call, { principal }) => {
    const found = await runInScope(services, principal, call.params['runId']!)
    const headers = await waitAsPreferred(services, call, principal, found)
    const run = (await services.store.run(found.id)) ?? found
    return { ...okReply(toRunStatus(run, await services.store.restoredAt(run.sessionId), principal)), headers }
  })

/** GET /v1/runs/{runId}/conversation: session, runs and timeline; redacted while the trigger hides its timeline. */
export const getConversation = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async ({ url, params }, { principal }) => {
    const { sessionId } = await runInScope(services, principal, params['runId']!)
    const stepContent = parseStepContent(url.searchParams)
    return conversationReply(await services.engine.conversation(sessionId), (whole) => {
      const visible = seesTimeline(principal) ? whole : redactConversation(whole)
      return stepContent === 'slim' ? slimContent(visible) : visible
    })
  })

/** POST /v1/runs/{runId}/cancel (extension): reaches all descendants; a terminal run keeps its status. */
export const cancelRun = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async (call, { principal }) => {
    const run = await runInScope(services, principal, call.params['runId']!)
    const { reason } = parseCancel(await readJson(call, apiBody(services.config)))
    return acceptedReply(await services.engine.cancel(run.id, principal, reason))
  })
