/** Input from outside to a run at work: signals, and reports of work that was done elsewhere. */
import { fail } from '../../base/failure.ts'
import { runInScope } from '../auth/scope.ts'
import { withCaller, type IdentifyCaller } from '../auth/auth.ts'
import { apiBodyLimits, readJson } from '../http/body.ts'
import { acceptedReply } from '../http/reply.ts'
import { type RouteHandler, readPathParam } from '../http/route.ts'
import { parseReport, parseSignal } from '../http/validate.ts'
import type { ServerServices } from '../runtime/services.ts'

/**
 * POST /v1/runs/{runId}/signals/{name} (extension): what `svc.wait_event` of the run, or of a run below it, waits for. A signal
 * that nobody waits for is answered 202 with `error` and changes nothing.
 */
export const sendSignal = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async (call, { principal }) => {
    const run = await runInScope(services, principal, readPathParam(call, 'runId'))
    const { data } = parseSignal(await readJson(call, apiBodyLimits(services.config)))
    return acceptedReply(await services.engine.signal(run.id, decodeName(readPathParam(call, 'name')), data))
  })

/** The name as its sender wrote it. No run can wait for a name with such characters, but the refusal shows it. */
function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** POST /v1/completions/{token} (extension): ends the call to which the token was given. The token is the only authority. */
export const completeCall =
  (services: ServerServices): RouteHandler =>
  async (call) => {
    const token = readPathParam(call, 'token')
    const report = parseReport(await readJson(call, apiBodyLimits(services.config)))
    if (services.serverState.closing) throw fail('shutting_down')
    return acceptedReply(await services.engine.complete(token, report))
  }
