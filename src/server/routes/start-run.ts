import { digestOfJson } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import { readTraceContext } from '../../base/trace-context.ts'
import type { RunId, SessionId, TriggerId, VersionId } from '../../base/ids.ts'
import type { PendingAnswer, StartRunResponse } from '../../spec/api.ts'
import type { Run } from '../../spec/run/run.ts'
import { waitAsPreferred, whileStoreAnswers } from './prefer-wait.ts'
import { seesTimeline, withCaller, type ApiPrincipal, type IdentifyCaller } from '../auth/auth.ts'
import { checkNamedVersion } from '../auth/named-version.ts'
import { apiBodyLimits, readJson } from '../http/body.ts'
import { startLimits, withRateHeaders } from '../runtime/rates.ts'
import { acceptedReply } from '../http/reply.ts'
import { type RouteHandler, readPathParam } from '../http/route.ts'
import { agentInScope, sessionInScope } from '../auth/scope.ts'
import type { ServerServices } from '../runtime/services.ts'
import { readPending } from '../view/pending.ts'
import { parseIdempotencyKey, parseStart } from '../http/validate.ts'

/**
 * POST /v1/agents/{agentId}/runs: 202 once session, run and first work item are durable.
 * @param newSession id of the session that begins
 */
export const startRun = (services: ServerServices, identify: IdentifyCaller, newSession?: SessionId): RouteHandler =>
  withCaller(services, identify, async (call, caller) => {
    const { principal, trigger, isTriggerHeld, act } = caller
    if (isTriggerHeld) throw fail('trigger_held')
    const agentId = await agentInScope(services, principal, readPathParam(call, 'agentId'))
    const key = parseIdempotencyKey(call.request.headers)
    const trace = readTraceContext(call.request.headers)
    const body = await readJson(call, apiBodyLimits(services.config))
    const { input = {}, metadata, tags, sessionId, versionId } = parseStart(body, principal.type === 'operator')
    const continued = sessionId === undefined ? undefined : await sessionInScope(services, principal, sessionId)
    if (continued && continued.agentId !== agentId) throw fail('not_found', { what: 'session of this agent' })
    const named = versionId === undefined ? undefined : (versionId.toLowerCase() as VersionId)
    if (named) await checkNamedVersion(services, principal, agentId, named)
    let started: StartRunResponse
    try {
      started = await services.engine.start({
        workspaceId: principal.workspaceId,
        agentId,
        principal,
        triggerType: trigger ? 'api' : 'operator',
        triggerId: trigger?.id ?? null,
        triggerName: trigger?.name ?? null,
        input,
        ...(metadata && { metadata }),
        ...(tags && { tags }),
        ...(newSession && { sessionId: newSession }),
        ...(continued && { continued: { sessionId: continued.id } }),
        ...(named && { versionId: named }),
        limits: startLimits(services.config, trigger ?? undefined),
        ...(trace && { trace }),
        ...(act && {
          act: act('run.started', { subject: `run of ${(await services.store.agent(agentId))?.name ?? agentId}` }),
        }),
        ...(key !== undefined && { idempotency: { key, bodyDigest: digestOfJson(body ?? {}) } }),
      })
    } catch (error) {
      throw trigger ? withRateHeaders(error, trigger) : error
    }
    const run = { id: started.runId as RunId, sessionId: started.sessionId as SessionId }
    if (versionId !== undefined && !continued) logNamedVersion(services, run.id, versionId, principal)
    const { triggerId } = started
    // A continued session belongs to the trigger that began it.
    if (!continued) services.scopes.add(run.sessionId, { agentId, triggerId: triggerId as TriggerId | null })
    const waited = await waitAsPreferred(services, call, caller, run)
    const { run: now } = waited
    const pending = now && (await whileStoreAnswers(() => readPending(services.store, now, !seesTimeline(principal))))
    const shown = now && pending && toStartedNow(now, pending)
    return { ...acceptedReply({ ...started, ...shown }), headers: shown ? waited.headers : {} }
  })

/** Only an operator may start a session with another version than the deployed one, and the log records it. */
export const logNamedVersion = ({ log }: ServerServices, runId: RunId, version: string, by: ApiPrincipal): void =>
  log.write('info', 'an operator started a run of a named version', { runId, version, by: by.id })

/** The members of a response that describe the run, after any wait. */
const toStartedNow = ({ status, output, error, usage }: Run, pending: readonly PendingAnswer[]) => ({
  status,
  output,
  totalTokensUsed: usage.inputTokens + usage.outputTokens,
  pending,
  ...(error !== null && { error }),
})
