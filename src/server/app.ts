/** The whole HTTP interface, one line per route, in the order of the API document; extensions last. */
import type { H3 } from 'h3'
import { fail } from '../base/failure.ts'
import { identifyByKey, type IdentifyCaller } from './auth/auth.ts'
import { createHostCheck, type HostRules } from './http/hosts.ts'
import { serveRoutes, type ApiRoute } from './http/route.ts'
import { agUiRoutes } from './doors/ag-ui/ag-ui-routes.ts'
import { openAiRoutes } from './doors/openai/openai-routes.ts'
import { mcpRoutes } from './mcp/serve-mcp.ts'
import { cancelRun, getConversation, getRun } from './routes/runs.ts'
import { finalizeFile, presignFile } from './routes/files.ts'
import { getHealth, getOpenApi } from './routes/meta.ts'
import { readValue } from './routes/read-value.ts'
import { sendMessage } from './routes/messages.ts'
import { notifyRoutes } from './routes/notify.ts'
import { startRun } from './routes/start-run.ts'
import { deleteSession, getSession, listSessions, patchSession } from './routes/sessions.ts'
import { completeCall, sendSignal } from './routes/steer.ts'
import { streamRun } from './routes/stream.ts'
import { getTask, listTasks } from './routes/tasks.ts'
import type { ServerServices } from './runtime/services.ts'

const HEALTH = '/v1/healthz'

/** @param rules requirements of the listener for `Host` and `Origin`; in process there are none */
export function createApp(
  services: ServerServices,
  rules: HostRules = { loopback: false, hosts: [], origins: [] },
): H3 {
  const { ids, clock, log, redactor, serverState: about, config } = services
  const { doors } = config
  const checkHost = createHostCheck(rules)
  const guard: Parameters<typeof serveRoutes>[0]['guard'] = (call) => {
    checkHost(call)
    if (about.closing && call.url.pathname !== HEALTH)
      throw fail('shutting_down', undefined, { headers: { connection: 'close' } })
  }
  const routes = [
    ...listApiRoutes(services, identifyByKey),
    ...mcpRoutes(services, identifyByKey),
    ...notifyRoutes(services),
    ...(doors?.openai ? openAiRoutes(services, identifyByKey) : []),
    ...(doors?.ag_ui ? agUiRoutes(services, identifyByKey) : []),
  ]
  return serveRoutes({ ids, clock, log, redactor, guard, logsReads: true }, routes)
}

/** @param identify finds the caller: the same routes serve keys and operators */
export function listApiRoutes(services: ServerServices, identify: IdentifyCaller): readonly ApiRoute[] {
  return [
    { method: 'POST', path: '/v1/agents/:agentId/runs', handle: startRun(services, identify) },
    { method: 'GET', path: '/v1/agents/:agentId/sessions', handle: listSessions(services, identify) },
    { method: 'GET', path: '/v1/runs/:runId', handle: getRun(services, identify) },
    { method: 'GET', path: '/v1/runs/:runId/conversation', handle: getConversation(services, identify) },
    { method: 'GET', path: '/v1/runs/:runId/stream', handle: streamRun(services, identify) },
    { method: 'POST', path: '/v1/runs/:runId/input', handle: sendMessage(services, identify) },
    { method: 'POST', path: '/v1/runs/:runId/messages', handle: sendMessage(services, identify) },
    { method: 'POST', path: '/v1/file-library/presign', handle: presignFile(services, identify) },
    { method: 'POST', path: '/v1/file-library/finalize', handle: finalizeFile(services, identify) },
    { method: 'POST', path: '/v1/runs/:runId/cancel', handle: cancelRun(services, identify) },
    { method: 'POST', path: '/v1/runs/:runId/signals/:name', handle: sendSignal(services, identify) },
    { method: 'POST', path: '/v1/completions/:token', handle: completeCall(services) },
    { method: 'GET', path: '/v1/sessions/:sessionId', handle: getSession(services, identify) },
    { method: 'PATCH', path: '/v1/sessions/:sessionId', handle: patchSession(services, identify) },
    { method: 'DELETE', path: '/v1/sessions/:sessionId', handle: deleteSession(services, identify) },
    { method: 'GET', path: '/v1/runs/:runId/values/:digest', handle: readValue(services, identify) },
    { method: 'GET', path: '/v1/tasks', handle: listTasks(services, identify) },
    { method: 'GET', path: '/v1/tasks/:taskId', handle: getTask(services, identify) },
    { method: 'GET', path: '/v1/openapi.json', handle: getOpenApi() },
    { method: 'GET', path: HEALTH, handle: getHealth() },
  ]
}
