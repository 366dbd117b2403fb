/**
 * Identifies the caller of the operator application. On the local channel that is the person of a credential, or without one
 * the channel's local identity, which has no roles; another listener has its own `IdentifyOperator`. An invalid credential is
 * refused, never ignored. Source: docs/design/approvals.md#who-may-decide
 */
import { hashKey, isWellFormedKey } from '../../../base/api-key.ts'
import type { Instant } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import { foldIdentity } from '../../../base/identity.ts'
import type { WorkspaceId } from '../../../base/ids.ts'
import type { OperatorKey } from '../../../spec/key.ts'
import { OPERATOR_KEY_HEADER } from '../../../operations/headers.ts'
import type { OperatorPrincipal, OperatorProof } from '../../auth/auth.ts'
import type { HttpRequestContext } from '../../http/route.ts'
import type { ServerServices } from '../../runtime/services.ts'

export interface OperatorIdentity extends OperatorProof {
  readonly operator: OperatorPrincipal
  /** Expiry of the credential; null = never. */
  readonly endsAt: Instant | null
}

/** How a listener identifies operators. */
export type IdentifyOperator = (services: ServerServices, call: HttpRequestContext) => Promise<OperatorIdentity>

/** Precision of the last use of a credential, so that a command that polls does not write on every request. */
const LAST_USE_PRECISION_MS = 10_000

/** @throws Failure `invalid_operator_key` */
export const identifyOnChannel: IdentifyOperator = async (services, { request }) => {
  const secret = request.headers.get(OPERATOR_KEY_HEADER)
  if (secret !== null) return identifyByCredential(services, secret)
  const { operator: id, workspace } = services
  return { operator: localOperator(id, workspace.id), endsAt: null }
}

/** @throws Failure `invalid_operator_key` */
export async function identifyByCredential(
  { store, clock, workspace: { id: workspaceId } }: ServerServices,
  secret: string,
): Promise<OperatorIdentity> {
  const key = isWellFormedKey(secret) ? await store.operatorKeyByHash(hashKey(secret)) : undefined
  const now = clock.now()
  if (key?.workspaceId !== workspaceId || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now))
    throw fail('invalid_operator_key')
  // A failed write must not fail requests that only read.
  if (key.lastUsedAt === null || Math.abs(now - key.lastUsedAt) >= LAST_USE_PRECISION_MS)
    await store.touchOperatorKey(key.id, now).catch(() => undefined)
  return { operator: operatorOfKey(key), endsAt: key.expiresAt, keyId: key.id }
}

/** Whoever reaches the local channel, under the name of the machine's user: nothing proves it, and it has no roles. */
export const localOperator = (id: string, workspaceId: WorkspaceId): OperatorPrincipal => ({
  type: 'operator',
  id,
  proof: 'local',
  workspaceId,
  roles: [],
})

/** The person of a valid credential. */
export const operatorOfKey = ({ email, workspaceId, roles }: OperatorKey): OperatorPrincipal => ({
  type: 'operator',
  // Credentials of earlier versions were stored as they were typed, in lower case.
  id: foldIdentity(email),
  proof: 'credential',
  workspaceId,
  roles,
})
