/**
 * Identifies the caller of the operator application. On the local channel that is the person of a credential, or without one
 * the channel's local identity, which has no roles; another listener has its own `IdentifyOperator`. An invalid credential is
 * refused, never ignored. Source: docs/design/approvals.md#who-may-decide
 */
import { hashKey, hashOfCommandCredential, isWellFormedKey } from '../../../base/api-key.ts'
import type { Instant } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import { foldIdentity } from '../../../base/identity.ts'
import type { OperatorRight } from '../../../spec/project/config.ts'
import type { ConsoleSession, OperatorKey, ProvidedIdentity } from '../../../spec/people/key.ts'
import { OPERATOR_KEY_HEADER } from '../../../operations/headers.ts'
import type { OperatorPrincipal, OperatorProof } from '../../auth/auth.ts'
import type { HttpRequestContext } from '../../http/route.ts'
import { localOperator } from '../../runtime/local-operator.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { rightsOfGroups } from '../../sign-in/person.ts'

export interface OperatorIdentity extends OperatorProof {
  readonly operator: OperatorPrincipal
  /** Expiry of the credential; null = never. */
  readonly endsAt: Instant | null
  /** What the groups of a provider let this person do; absent where nothing limits it. */
  readonly may?: OperatorRight
  /** What a provider said of them. */
  readonly provider?: ProvidedIdentity
}

/** How a listener identifies operators. */
export type IdentifyOperator = (services: ServerServices, call: HttpRequestContext) => Promise<OperatorIdentity>

/** Precision of the last use of a credential, so that a command that polls does not write on every request. */
const LAST_USE_PRECISION_MS = 10_000

/** Unused for this long, a session is over. */
export const IDLE_MS = 12 * 3_600_000
/** Precision of the last use of a session. */
const SESSION_USE_PRECISION_MS = 60_000

/** @throws Failure `invalid_operator_key` */
export const identifyOnChannel: IdentifyOperator = async (services, { request }) => {
  const secret = request.headers.get(OPERATOR_KEY_HEADER)
  if (secret !== null) return identifyByCredential(services, secret)
  const { operator: id, workspace } = services
  return { operator: localOperator(id, workspace.id), endsAt: null }
}

/** @throws Failure `invalid_operator_key` */
export async function identifyByCredential(services: ServerServices, secret: string): Promise<OperatorIdentity> {
  const { store, clock, workspace } = services
  const workspaceId = workspace.id
  const ofCommand = hashOfCommandCredential(secret)
  if (ofCommand !== undefined) {
    const session = await store.consoleSessionByHash(ofCommand)
    const isOpen = session?.purpose === 'command' && (await isSessionOpen(services, session))
    const identity = isOpen ? identityOfProvided(services, session) : undefined
    if (!identity) throw fail('invalid_operator_key', undefined, { fix: 'Sign in again: svc login.' })
    return identity
  }
  const key = isWellFormedKey(secret) ? await store.operatorKeyByHash(hashKey(secret)) : undefined
  const now = clock.now()
  if (key?.workspaceId !== workspaceId || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now))
    throw fail('invalid_operator_key')
  // A failed write must not fail requests that only read.
  if (key.lastUsedAt === null || Math.abs(now - key.lastUsedAt) >= LAST_USE_PRECISION_MS)
    await store.touchOperatorKey(key.id, now).catch(() => undefined)
  return { operator: operatorOfKey(key), endsAt: key.expiresAt, keyId: key.id }
}

/** The person whom a provider named; undefined where the configuration has another one now, or lets none of their groups in. */
export function identityOfProvided(
  { signIn }: ServerServices,
  { id, workspaceId, purpose, operator, provider, expiresAt }: ConsoleSession,
): OperatorIdentity | undefined {
  const settings = signIn?.settings
  if (!provider || settings?.issuer !== provider.issuer) return undefined
  const rights = rightsOfGroups(settings, provider.groups)
  if (!rights) return undefined
  const { may, roles } = rights
  return {
    operator: { type: 'operator', id: operator, proof: 'credential', workspaceId, roles },
    endsAt: expiresAt,
    may,
    provider,
    ...(purpose === 'console' ? { consoleSession: id } : { commandSession: id }),
  }
}

/** Whether a session has not ended; notes that it is used. */
export async function isSessionOpen(
  { store, clock, workspace, signIn }: ServerServices,
  { id, workspaceId, provider, endedAt, expiresAt, lastUsedAt }: ConsoleSession,
): Promise<boolean> {
  const now = clock.now()
  const idleMs = (provider && signIn?.settings.endsUnusedAfterMs) ?? IDLE_MS
  if (workspaceId !== workspace.id || endedAt !== null || lastUsedAt + idleMs <= now) return false
  if (expiresAt !== null && expiresAt <= now) return false
  // A failed write must not fail requests that only read.
  if (Math.abs(now - lastUsedAt) >= SESSION_USE_PRECISION_MS)
    await store.touchConsoleSession(id, now).catch(() => undefined)
  return true
}

/** The person of a valid credential. */
export const operatorOfKey = ({ email, workspaceId, roles }: OperatorKey): OperatorPrincipal => ({
  type: 'operator',
  // Credentials of earlier versions were stored as they were typed, in lower case.
  id: foldIdentity(email),
  proof: 'credential',
  workspaceId,
  roles,
})
