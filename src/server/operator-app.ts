/**
 * The operator application: the routes of `/v1` with an operator as principal, and the operator's own routes, one line per
 * route, in the order of `spec/operator.ts`.
 */
import { toNodeHandler } from 'h3/node'
import { fail } from '../base/failure.ts'
import { listApiRoutes } from './app.ts'
import type { IdentifyCaller } from './auth/auth.ts'
import type { NodeHandler } from './http/listen.ts'
import { readJson, type BodyLimits } from './http/body.ts'
import type { HttpReply } from './http/reply.ts'
import { parseOperatorBody, parseOperatorQuery } from './http/validate.ts'
import { serveRoutes, type ApiRoute, type HttpMethod } from './http/route.ts'
import type { ServerServices } from './runtime/services.ts'
import type { OperatorAction, OperatorRequest, OwnOperatorRoute } from './operator/act.ts'
import { listAgents, listDocuments, listVersions, getSnapshot } from './operator/agents.ts'
import { listCosts } from './operator/costs.ts'
import { listDecisions } from './operator/decisions.ts'
import { listEffects, releaseEffect } from './operator/effects.ts'
import { getFile, listFiles } from './operator/files.ts'
import { backupRoute } from './operator/backup.ts'
import { streamLogs } from './operator/logs.ts'
import { identifyOperator } from './operator/identify.ts'
import { createKey, createOperatorKey, listKeys, revokeKey } from './operator/keys.ts'
import { deployVersion, publishClosure } from './operator/publish.ts'
import { listRestored, releaseRestored } from './operator/restored.ts'
import { cancelRun, listRuns, sendMessage, startRun } from './operator/runs.ts'
import { getSession, listSessions } from './operator/sessions.ts'
import { revokeStanding } from './operator/standing.ts'
import { getStatus } from './operator/status.ts'
import { getTask, listSimilarTasks, listTasks, probeTask } from './operator/tasks.ts'
import { createTrigger, deleteTrigger, listTriggers, updateTrigger } from './operator/triggers.ts'
import { yankVersion } from './operator/yank.ts'

const ROUTES: { readonly [R in OwnOperatorRoute]: OperatorAction<R> } = {
  'POST /publish': publishClosure,
  'POST /deploy': deployVersion,
  'GET /agents': listAgents,
  'GET /versions': listVersions,
  'GET /snapshot': getSnapshot,
  'GET /documents': listDocuments,
  'POST /yank': yankVersion,
  'POST /triggers': createTrigger,
  'PATCH /triggers/:id': updateTrigger,
  'DELETE /triggers/:id': deleteTrigger,
  'GET /triggers': listTriggers,
  'POST /keys': createKey,
  'POST /operator-keys': createOperatorKey,
  'GET /keys': listKeys,
  'POST /keys/:id/revoke': revokeKey,
  'POST /runs': startRun,
  'GET /runs': listRuns,
  'POST /runs/:id/cancel': cancelRun,
  'POST /runs/:id/messages': sendMessage,
  'GET /sessions': listSessions,
  'GET /sessions/:id': getSession,
  'GET /files': listFiles,
  'GET /files/content': getFile,
  'GET /tasks': listTasks,
  'GET /tasks/:id': getTask,
  'GET /tasks/:id/similar': listSimilarTasks,
  'POST /tasks/:id/probe': probeTask,
  'GET /decisions': listDecisions,
  'GET /costs': listCosts,
  'POST /policies/revoke': revokeStanding,
  'GET /effects': listEffects,
  'POST /effects/release': releaseEffect,
  'GET /logs': streamLogs,
  'POST /backup': backupRoute,
  'GET /restored': listRestored,
  'POST /restored/release': releaseRestored,
  'GET /status': getStatus,
}

/** Routes that answer with a stream instead of a JSON document. */
const STREAMED: ReadonlySet<string> = new Set<OwnOperatorRoute>(['GET /files/content', 'GET /logs', 'POST /backup'])

/** A whole compiled bundle travels in one body (bundles, section 2: 32 MiB of sources), schemas nested in it. */
const BODY: BodyLimits = { maxBytes: 64 * 1024 * 1024, maxLevels: 256, maxValues: Infinity }

export interface OperatorApp {
  /** The application without a socket. */
  fetch(request: Request): Promise<Response>
  /** The same for a listener. */
  readonly handleNode: NodeHandler
}

export function createOperatorApp(services: ServerServices): OperatorApp {
  const { ids, clock, log, redactor, serverState: about } = services
  const guard = () => {
    if (about.closing) throw fail('shutting_down')
  }
  const own = Object.entries(ROUTES).map(([line, act]) =>
    // Each action is paired with its own route here, so the answer's type does not matter any more.
    toRoute(services, line, act as unknown as (request: OperatorRequest) => Promise<unknown>),
  )
  const routes = [...listApiRoutes(services, identifyForApi), ...own]
  const app = serveRoutes({ ids, clock, log, redactor, guard, logsReads: false }, routes)
  return { fetch: async (request) => app.fetch(request), handleNode: toNodeHandler(app) as NodeHandler }
}

const identifyForApi: IdentifyCaller = async (services, { request }) => {
  const { operator } = await identifyOperator(services, request)
  return { principal: operator, trigger: null, expiresAt: null }
}

function toRoute(
  services: ServerServices,
  line: string,
  act: (request: OperatorRequest) => Promise<unknown>,
): ApiRoute {
  const [method, path] = line.split(' ') as [HttpMethod, string]
  return {
    method,
    path,
    async handle(call) {
      const identity = await identifyOperator(services, call.request)
      const answer = await act({
        services,
        ...identity,
        body: method === 'GET' ? undefined : parseOperatorBody(line, await readJson(call, BODY)),
        query: parseOperatorQuery(line, call.url.searchParams),
        id: (call.params['id'] ?? '').toLowerCase(),
        call,
      })
      return STREAMED.has(line) ? (answer as HttpReply) : { status: 200, json: answer }
    },
  }
}
