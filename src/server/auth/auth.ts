/**
 * Who calls a route of `/v1`. Checks run in this order: key known, trigger active, address allowed;
 * then the route checks that its resource exists, that it is in scope, and last the body.
 */
import { hashKey, isWellFormedKey } from '../../base/api-key.ts'
import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { ConsoleSessionId, KeyId } from '../../base/ids.ts'
import type { MakeAct } from '../../spec/people/act.ts'
import { proofOfPrincipal, type DecisionOrigin } from '../../spec/people/decision-proof.ts'
import type { Principal, Trigger } from '../../spec/people/key.ts'
import { clientAddress, isInRanges } from '../http/ip.ts'
import type { HttpReply } from '../http/reply.ts'
import type { HttpRequestContext, RouteHandler } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'

export type KeyPrincipal = Extract<Principal, { type: 'api_key' }>

export type OperatorPrincipal = Extract<Principal, { type: 'operator' }>
export type ApiPrincipal = KeyPrincipal | OperatorPrincipal

/** How an operator authenticated; neither member is set on the local channel, which has no authentication. */
export interface OperatorProof {
  /** The credential. */
  readonly keyId?: KeyId
  /** The session of the console that the request belongs to. */
  readonly consoleSession?: ConsoleSessionId
  /** The session of `svc login` that the request belongs to. */
  readonly commandSession?: ConsoleSessionId
}

/** How an answer comes that this caller sends. */
export function originOf(principal: ApiPrincipal, { consoleSession }: OperatorProof): DecisionOrigin {
  const own = principal.type === 'api_key' ? 'api' : 'operator'
  return { channel: consoleSession === undefined ? own : 'console', proof: proofOfPrincipal(principal) }
}

export interface AuthenticatedCaller extends OperatorProof {
  readonly principal: ApiPrincipal
  /** Trigger of the key; null for an operator, who needs none. */
  readonly trigger: Trigger | null
  /** True while a restored backup holds the trigger. */
  readonly isTriggerHeld: boolean
  /** Expiry of the key; null = never. */
  readonly expiresAt: Instant | null
  /** Makes the records of what an operator does; absent for a key, whose runs say what it did. */
  readonly act?: MakeAct
}

/** How a listener identifies its callers: the API by key, the operator channel by credential or local identity. */
export type IdentifyCaller = (services: ServerServices, call: HttpRequestContext) => Promise<AuthenticatedCaller>

/** A route that needs a caller. Source: docs/design/http.md#scope */
export const withCaller =
  (
    services: ServerServices,
    identify: IdentifyCaller,
    handle: (call: HttpRequestContext, caller: AuthenticatedCaller) => HttpReply | Promise<HttpReply>,
  ): RouteHandler =>
  async (call) =>
    handle(call, await identify(services, call))

/** The redaction switch: an operator always sees the timeline, a key when its trigger exposes it. */
export const seesTimeline = (principal: ApiPrincipal): boolean =>
  principal.type === 'operator' || principal.exposeTimeline

/** @throws Failure `missing_api_key`, `invalid_api_key`, `rate_limited`, `trigger_inactive`, `ip_not_allowed` */
export const identifyByKey: IdentifyCaller = async ({ store, clock, config, attempts }, call) => {
  const secret = call.request.headers.get('x-api-key')
  if (secret === null || secret === '') throw fail('missing_api_key')
  // Checksum before any query: a mistyped or guessed key costs the store nothing.
  if (!isWellFormedKey(secret)) throw fail('invalid_api_key')
  const address = clientAddress(call.peer, call.request.headers.get('x-forwarded-for'), config.network?.proxies ?? [])
  const found = await store.keyByHash(hashKey(secret))
  const now = clock.now()
  const key = found?.key
  if (!key || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) throw attempts.refuse(address)
  const { trigger, triggerHeldAt } = found
  if (!trigger?.active) throw fail('trigger_inactive')
  if (trigger.allowIps.length > 0 && !isInRanges(address, trigger.allowIps)) throw fail('ip_not_allowed')
  store.touchKey(key.id, now)
  return {
    trigger,
    isTriggerHeld: triggerHeldAt !== undefined,
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
      allowApprovals: trigger.allowApprovals,
      allowOlderVersions: trigger.allowOlderVersions,
    },
  }
}
