/**
 * The internal listener: routes for load balancers and the other processes of a cluster, at an address that clients cannot
 * reach.
 * Source: docs/design/several-processes.md#life-of-a-process
 */
import { toNodeHandler } from 'h3/node'
import type { NodeHandler } from './http/listen.ts'
import { okReply, type HttpReply } from './http/reply.ts'
import { serveRoutes, type ApiRoute } from './http/route.ts'
import type { LoadMetrics } from './runtime/load-metrics.ts'
import type { ServerPresence } from './runtime/presence.ts'
import type { ServerServices } from './runtime/services.ts'

const PROMETHEUS = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }

/** @param peers routes for the other processes; none where no secret is shared */
export function createInternalApp(
  services: ServerServices,
  presence: ServerPresence,
  metrics: LoadMetrics,
  peers: readonly ApiRoute[] = [],
): NodeHandler {
  const { ids, clock, log, redactor } = services
  const app = serveRoutes({ ids, clock, log, redactor, guard: () => {}, logsReads: false }, [
    { method: 'GET', path: '/v1/healthz', handle: () => okReply({ status: 'ready' }) },
    { method: 'GET', path: '/v1/readyz', handle: () => readiness(presence) },
    { method: 'GET', path: '/metrics', handle: () => ({ status: 200, text: metrics.text(), headers: PROMETHEUS }) },
    ...peers,
  ])
  return toNodeHandler(app) as NodeHandler
}

/** 200 while requests should be sent here, else 503 with the reason. Never asks the database. */
function readiness(presence: ServerPresence): HttpReply {
  const reason = presence.unready()
  return reason === undefined
    ? okReply({ status: 'serving' })
    : { status: 503, json: { status: reason }, headers: { 'retry-after': '1' } }
}
