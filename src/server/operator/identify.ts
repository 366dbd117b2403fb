/**
 * Who speaks over the operator channel: the person whose credential came along, else the channel's own identity, which has no
 * roles. A credential that is not valid is refused, never passed over. Source: command line, 2.5; security, S17.
 */
import { hashKey, isWellFormedKey } from '../../base/api-key.ts'
import { fail } from '../../base/failure.ts'
import { OPERATOR_KEY_HEADER } from '../../spec/operator.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorRequest } from './act.ts'

/** How exact the last use of a credential is: a list that is watched must not write at every look. */
const USE_MS = 10_000

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
  // Where nothing can be written, what is only read must still be answered.
  if (key.lastUsedAt === null || Math.abs(now - key.lastUsedAt) >= USE_MS)
    await store.touchOperatorKey(key.id, now).catch(() => undefined)
  return { operator: { type: 'operator', id: key.email, workspaceId, roles: key.roles }, proved: true }
}
