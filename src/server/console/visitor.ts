/**
 * Identifies the caller on the operator listener: the person of a credential, or of a session of the console. There is no
 * local identity here: a request without either is refused. Source: docs/design/console.md#signing-in
 */
import { hashKey } from '../../base/api-key.ts'
import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import { proofOfSession, type ConsoleSession, type OperatorKey } from '../../spec/people/key.ts'
import { OPERATOR_KEY_HEADER } from '../../operations/headers.ts'
import type { HttpRequestContext } from '../http/route.ts'
import {
  identifyByCredential,
  identityOfProvided,
  isSessionOpen,
  operatorOfKey,
  type IdentifyOperator,
  type OperatorIdentity,
} from '../operator/people/identify.ts'
import { localOperator } from '../runtime/local-operator.ts'
import type { ServerServices } from '../runtime/services.ts'
import { isLocal, isSecure, type ListenerRules } from './address.ts'
import { hasPageKey, readSessionCookie } from './session-cookie.ts'

/** @throws Failure `not_signed_in`, `invalid_operator_key` */
export const identifyVisitor =
  (rules: ListenerRules): IdentifyOperator =>
  async (services, call) => {
    const secret = call.request.headers.get(OPERATOR_KEY_HEADER)
    if (secret !== null) return identifyByCredential(services, secret)
    const session = await readSession(services, rules, call)
    // Another web server of this host name was sent the cookie too: alone it only reads.
    if (session === undefined || !(isReadByBrowser(call) || hasPageKey(call, isSecure(rules, call))))
      throw fail('not_signed_in')
    return identityOf(services, session)
  }

/** What the browser requests without the page's headers: event streams, files that are saved, and the reference. */
const READ_BY_BROWSER = /^\/(?:live|reference|files\/content|v1\/runs\/[^/]+\/stream)$/

const isReadByBrowser = ({ request }: HttpRequestContext): boolean =>
  request.method === 'GET' && READ_BY_BROWSER.test(new URL(request.url).pathname)

/** The session of the request's cookie, while it is valid. */
export async function readSession(
  services: ServerServices,
  rules: ListenerRules,
  call: HttpRequestContext,
): Promise<ConsoleSession | undefined> {
  const value = readSessionCookie(call, isSecure(rules, call))
  const session = value === undefined ? undefined : await services.store.consoleSessionByHash(hashKey(value))
  if (session?.purpose !== 'console') return undefined
  // A session of the local identity is valid on this machine only.
  if (proofOfSession(session) === 'local' && !isLocal(rules, call)) return undefined
  return (await isSessionOpen(services, session)) ? session : undefined
}

/** @throws Failure `not_signed_in` where the credential that signed in, or its provider, lets this person in no more */
async function identityOf(services: ServerServices, session: ConsoleSession): Promise<OperatorIdentity> {
  const { id: consoleSession, keyId, operator: id, provider } = session
  const { id: workspaceId } = services.workspace
  if (provider !== null) {
    const identity = identityOfProvided(services, session)
    if (!identity) throw fail('not_signed_in')
    return identity
  }
  if (keyId === null) return { operator: localOperator(id, workspaceId), endsAt: null, consoleSession }
  const key = await validKey(services, keyId)
  if (key === undefined) throw fail('not_signed_in')
  return { operator: operatorOfKey(key), endsAt: key.expiresAt, keyId, consoleSession }
}

async function validKey(
  { store, workspace, clock }: ServerServices,
  id: OperatorKey['id'],
): Promise<OperatorKey | undefined> {
  const key = (await store.operatorKeys(workspace.id)).find((each) => each.id === id)
  return key && isValid(key, clock.now()) ? key : undefined
}

const isValid = ({ revokedAt, expiresAt }: OperatorKey, now: Instant): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now)
