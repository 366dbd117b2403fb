/**
 * Identifies the caller on the operator channel: the person of the credential, or without one the channel's local identity,
 * which has no roles. An invalid credential is refused, never ignored. Source: command line, 2.5; security, S17.
 */
import { hashKey, isWellFormedKey } from '../../base/api-key.ts'
import { fail } from '../../base/failure.ts'
import { OPERATOR_KEY_HEADER } from '../../spec/operator.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorRequest } from './act.ts'

/** Precision of the last use of a credential, so that a command that polls does not write on every request. */
const LAST_USE_PRECISION_MS = 10_000

/** @throws Failure `invalid_operator_key` */
export async function identifyOperator(
  { store, clock, workspace, operator }: ServerServices,
  { headers }: Request,
): Promise<Pick<OperatorRequest, 'operator' | 'proved'>> {
  const secret = headers.get(OPERATOR_KEY_HEADER)
  const workspaceId = workspace.id
  if (secret === null) return { operator: { type: 'operator', id: operator, workspaceId, roles: [] }, proved: false }
  const key = isWellFormedKey(secret) ? await store.operatorKeyByHash(hashKey(secret)) : undefined
  const now = clock.now()
  if (key?.workspaceId !== workspaceId || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now))
    throw fail('invalid_operator_key')
  // A failed write must not fail requests that only read.
  if (key.lastUsedAt === null || Math.abs(now - key.lastUsedAt) >= LAST_USE_PRECISION_MS)
    await store.touchOperatorKey(key.id, now).catch(() => undefined)
  return { operator: { type: 'operator', id: key.email, workspaceId, roles: key.roles }, proved: true }
}
