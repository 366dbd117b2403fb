import { digestOfJson } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import type { AgentId, RunId, SessionId, TriggerId, VersionId } from '../../base/ids.ts'
import type { StartRunResponse } from '../../spec/api.ts'
import { waitAsPreferred, type GrantedWait } from './prefer-wait.ts'
import { withCaller, type IdentifyCaller } from '../auth/auth.ts'
import { apiBodyLimits, readJson } from '../http/body.ts'
import { startLimits, withRateHeaders } from '../runtime/rates.ts'
import { acceptedReply } from '../http/reply.ts'
import type { RouteHandler } from '../http/route.ts'
import { agentInScope, sessionInScope } from '../auth/scope.ts'
import type { ServerServices } from '../runtime/services.ts'
import { parseIdempotencyKey, parseStart } from '../http/validate.ts'

/** POST /v1/agents/{agentId}/runs: 202 once session, run and first work item are durable. */
export const startRun = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async (call, { principal, trigger }) => {
    if (trigger && (await services.store.restoredAt(trigger.id)) !== undefined) throw fail('trigger_held')
    const agent = await agentInScope(services, principal, call.params['agentId']!)
    const key = parseIdempotencyKey(call.request.headers)
    const body = await readJson(call, apiBodyLimits(services.config))
    const { input = {}, metadata, tags, sessionId, versionId } = parseStart(body)
    const continued = sessionId === undefined ? undefined : await sessionInScope(services, principal, sessionId)
    if (continued && continued.agentId !== agent.id) throw fail('not_found', { what: 'session of this agent' })
    let started: StartRunResponse
    try {
      started = await services.engine.start({
        workspaceId: principal.workspaceId,
        agentId: agent.id,
        principal,
        triggerType: trigger ? 'api' : 'operator',
        triggerId: trigger?.id ?? null,
        triggerName: trigger?.name ?? null,
        input,
        ...(metadata && { metadata }),
        ...(tags && { tags }),
        ...(continued && {
          continued: {
            sessionId: continued.id,
            ...(versionId !== undefined && { versionId: versionId.toLowerCase() as VersionId }),
          },
        }),
        limits: startLimits(services.config, trigger ?? undefined),
        ...(key !== undefined && { idempotency: { key, bodyDigest: digestOfJson(body ?? {}) } }),
      })
    } catch (error) {
      throw trigger ? withRateHeaders(error, trigger) : error
    }
    const run = { id: started.runId as RunId, sessionId: started.sessionId as SessionId }
    const { agentId, triggerId } = started
    // A session that goes on belongs to the trigger that began it.
    if (!continued)
      services.scopes.add(run.sessionId, { agentId: agentId as AgentId, triggerId: triggerId as TriggerId | null })
    const waited = await waitAsPreferred(services, call, principal, run)
    return { ...acceptedReply(withStatusNow(started, waited)), headers: waited.headers }
  })

/** The response with the run as it is after a wait; unchanged without one. */
function withStatusNow(started: StartRunResponse, { run }: GrantedWait): StartRunResponse {
  if (!run) return started
  const { status, output, error, usage } = run
  const totalTokensUsed = usage.inputTokens + usage.outputTokens
  return { ...started, status, output, totalTokensUsed, ...(error !== null && { error }) }
}
