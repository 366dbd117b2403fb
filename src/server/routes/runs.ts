import { withKey } from '../auth.ts'
import { apiBody, readJson } from '../body.ts'
import { conversationReply } from '../conversation.ts'
import { redactConversation, slim } from '../redact.ts'
import { accepted, ok } from '../reply.ts'
import type { Handler } from '../route.ts'
import { runInScope } from '../scope.ts'
import type { Services } from '../services.ts'
import { toRunStatus } from '../shape.ts'
import { parseCancel, parseStepContent } from '../validate.ts'

/** GET /v1/runs/{runId}: status and result, never redacted. */
export const getRun = (services: Services): Handler =>
  withKey(services, async ({ params }, { principal }) => {
    const run = await runInScope(services, principal, params['runId']!)
    return ok(toRunStatus(run, await services.store.restoredAt(run.sessionId)))
  })

/** GET /v1/runs/{runId}/conversation: session, runs and timeline; redacted while the trigger hides its timeline. */
export const getConversation = (services: Services): Handler =>
  withKey(services, async ({ url, params }, { principal }) => {
    const { sessionId } = await runInScope(services, principal, params['runId']!)
    const stepContent = parseStepContent(url.searchParams)
    return conversationReply(await services.engine.conversation(sessionId), (whole) => {
      const visible = principal.exposeTimeline ? whole : redactConversation(whole)
      return stepContent === 'slim' ? slim(visible) : visible
    })
  })

/** POST /v1/runs/{runId}/cancel (extension): reaches all descendants; a terminal run keeps its status. */
export const cancelRun = (services: Services): Handler =>
  withKey(services, async (call, { principal }) => {
    const run = await runInScope(services, principal, call.params['runId']!)
    const { reason } = parseCancel(await readJson(call, apiBody(services.config)))
    return accepted(await services.engine.cancel(run.id, principal, reason))
  })
