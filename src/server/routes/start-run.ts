import { digestOfJson } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import { withKey } from '../auth.ts'
import { apiBody, readJson } from '../body.ts'
import { startLimits, withRateHeaders } from '../rates.ts'
import { accepted } from '../reply.ts'
import type { Handler } from '../route.ts'
import { agentInScope } from '../scope.ts'
import type { Services } from '../services.ts'
import { parseIdempotencyKey, parseStart } from '../validate.ts'

/** POST /v1/agents/{agentId}/runs: 202 once session, run and first work item are durable. */
export const startRun = (services: Services): Handler =>
  withKey(services, async (call, { principal, trigger }) => {
    if ((await services.store.restoredAt(trigger.id)) !== undefined) throw fail('trigger_held')
    const agent = await agentInScope(services, principal, call.params['agentId']!)
    const key = parseIdempotencyKey(call.request.headers)
    const body = await readJson(call, apiBody(services.config))
    const { input = {} } = parseStart(body)
    try {
      return accepted(
        await services.engine.start({
          workspaceId: principal.workspaceId,
          agentId: agent.id,
          principal,
          triggerType: 'api',
          triggerId: trigger.id,
          triggerName: trigger.name,
          input,
          limits: startLimits(services.config, trigger),
          ...(key !== undefined && { idempotency: { key, bodyDigest: digestOfJson(body ?? {}) } }),
        }),
      )
    } catch (error) {
      throw withRateHeaders(error, trigger)
    }
  })
