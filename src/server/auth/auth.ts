/**
 * Who asks. The order of the checks is the one of decisions, section 3: key known, trigger active, address allowed; then the
 * route looks for its resource, then for its scope, then at the body.
 */
import { hashKey, isWellFormedKey } from '../../base/api-key.ts'
import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { Principal, Trigger } from '../../spec/key.ts'
import { clientAddress, isInRanges } from '../http/ip.ts'
import type { HttpReply } from '../http/reply.ts'
import type { HttpRequestContext, RouteHandler } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'

export type KeyPrincipal = Extract<Principal, { type: 'api_key' }>

export interface AuthenticatedCaller {
  readonly principal: KeyPrincipal
  readonly trigger: Trigger
  /** When the key ends; null = never. */
  readonly expiresAt: Instant | null
}

/** A route that needs a key. Source: HTTP API, "Authentication", 1. */
export const withKey =
  (
    services: ServerServices,
    handle: (call: HttpRequestContext, caller: AuthenticatedCaller) => HttpReply | Promise<HttpReply>,
  ): RouteHandler =>
  async (call) =>
    handle(call, await authenticate(services, call))

async function authenticate(
  { store, clock, config, attempts }: ServerServices,
  call: HttpRequestContext,
): Promise<AuthenticatedCaller> {
  const secret = call.request.headers.get('x-api-key')
  if (secret === null || secret === '') throw fail('missing_api_key')
  // Checksum before any query: a mistyped or guessed key costs the store nothing.
  if (!isWellFormedKey(secret)) throw fail('invalid_api_key')
  const address = clientAddress(call.peer, call.request.headers.get('x-forwarded-for'), config.network?.proxies ?? [])
  const hash = hashKey(secret)
  attempts.check(address, hash)
  const key = await store.keyByHash(hash)
  const now = clock.now()
  if (!key || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) {
    attempts.failed(address)
    throw fail('invalid_api_key')
  }
  attempts.accepted(hash)
  const trigger = await store.trigger(key.triggerId)
  if (!trigger?.active) throw fail('trigger_inactive')
  if (trigger.allowIps.length > 0 && !isInRanges(address, trigger.allowIps)) throw fail('ip_not_allowed')
  store.touchKey(key.id, now)
  return {
    trigger,
    expiresAt: key.expiresAt,
    principal: {
      type: 'api_key',
      id: key.id,
      workspaceId: key.workspaceId,
      agentId: key.agentId,
      triggerId: key.triggerId,
      triggerName: trigger.name,
      allowUploads: key.allowUploads,
      person: key.person,
      exposeTimeline: trigger.exposeTimeline,
    },
  }
}
