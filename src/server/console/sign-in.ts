/** Signs a browser in and out. Source: docs/design/console.md#signing-in */
import { hashKey } from '../../base/api-key.ts'
import { cutText } from '../../base/cut-text.ts'
import { safeText } from '../../base/escape-text.ts'
import { fail } from '../../base/failure.ts'
import { isJsonObject } from '../../base/json/json.ts'
import type { ConsoleSession } from '../../spec/key.ts'
import { readJson, type BodyLimits } from '../http/body.ts'
import { clientAddress } from '../http/ip.ts'
import { okReply, type HttpReply } from '../http/reply.ts'
import type { ApiRoute, HttpRequestContext } from '../http/route.ts'
import { createActMaker } from '../acts/act-maker.ts'
import { recordRefusal } from '../acts/record-refusal.ts'
import { describeConsoleSession } from '../operator/console.ts'
import { identifyByCredential } from '../operator/people/identify.ts'
import type { ServerServices } from '../runtime/services.ts'
import { consoleReader } from '../runtime/watch-readers.ts'
import type { SignInIdentity } from '../runtime/sign-in-codes.ts'
import { isLocal, isSecure, type ListenerRules } from './address.ts'
import { createSessionHalves, writeSessionCookie } from './session-cookie.ts'
import { identifyVisitor, readSession } from './visitor.ts'

const BODY: BodyLimits = { maxBytes: 1024, maxLevels: 2, maxValues: 10 }

/** Length of the name that a browser gives itself. */
const MAX_BROWSER = 120

export const listSignInRoutes = (services: ServerServices, rules: ListenerRules): readonly ApiRoute[] => [
  { method: 'GET', path: '/sign-in', handle: (call) => isSignedIn(services, rules, call) },
  { method: 'POST', path: '/sign-in', handle: (call) => signIn(services, rules, call) },
  { method: 'POST', path: '/sign-out', handle: (call) => signOut(services, rules, call) },
]

/**
 * Tells the page whether it is signed in before it requests anything else: a refused request would be an error in the
 * browser's console.
 */
const isSignedIn = async (
  services: ServerServices,
  rules: ListenerRules,
  call: HttpRequestContext,
): Promise<HttpReply> =>
  okReply({
    signedIn: await identifyVisitor(rules)(services, call).then(
      () => true,
      () => false,
    ),
  })

/** With `{code}` of an address that `svc console` printed, or `{key}`, the operator credential of a person. */
async function signIn(services: ServerServices, rules: ListenerRules, call: HttpRequestContext): Promise<HttpReply> {
  const { store, ids, clock, workspace } = services
  const body = await readJson(call, BODY)
  const identity = await identityIn(services, rules, call, body).catch(async (error: unknown) => {
    await recordRefusal(services, 'console.signed_in', call, error, createActMaker(services, call, {}, 'api'))
    throw error
  })
  // Signing in always creates a new session, so a session planted in this browser ends.
  const before = await readSession(services, rules, call)
  if (before) {
    await store.endConsoleSession(before.id, clock.now())
    services.readers.stop(consoleReader(before.id))
  }
  const { cookie, pageKey } = createSessionHalves()
  const now = clock.now()
  const session: ConsoleSession = {
    id: ids.next<'console'>(),
    workspaceId: workspace.id,
    hash: hashKey(cookie),
    ...identity,
    browser: cutText(safeText(call.request.headers.get('user-agent') ?? 'unknown'), MAX_BROWSER).text,
    createdAt: now,
    lastUsedAt: now,
    endedAt: null,
  }
  const { operator, keyId } = identity
  const made = {
    ...createActMaker(services, call, {}, 'api')('console.signed_in', describeConsoleSession(session)),
    by: `operator:${operator}`,
    proof: keyId === null ? 'local' : 'credential',
    keyId,
    channel: 'console',
  } as const
  await store.recording(made).createConsoleSession(session)
  services.log.write('info', 'signed in to the console', { operator: session.operator, session: session.id })
  return {
    status: 200,
    json: { operator: session.operator, pageKey },
    headers: { 'set-cookie': writeSessionCookie(call, isSecure(rules, call), cookie) },
  }
}

async function identityIn(
  services: ServerServices,
  rules: ListenerRules,
  call: HttpRequestContext,
  body: unknown,
): Promise<SignInIdentity> {
  const { code, key } = isJsonObject(body) ? body : {}
  if (typeof key === 'string') {
    const { operator, keyId } = await identifyByCredential(services, key).catch(() => {
      const { attempts, config } = services
      const forwarded = call.request.headers.get('x-forwarded-for')
      const refused = attempts.refuse(clientAddress(call.peer, forwarded, config.network?.proxies ?? []))
      throw refused.code === 'rate_limited' ? refused : fail('invalid_operator_key')
    })
    return { operator: operator.id, keyId: keyId ?? null }
  }
  if (typeof code !== 'string')
    throw fail('validation_failed', { what: 'Signing in takes a code or an operator credential.' })
  const identity = services.signInCodes.redeem(code)
  if (!identity) throw fail('sign_in_refused', { why: 'the address was used before, or is older than a minute' })
  if (identity.keyId === null && !isLocal(rules, call))
    throw fail('sign_in_refused', { why: 'from another machine people sign in with their credential' })
  return identity
}

async function signOut(services: ServerServices, rules: ListenerRules, call: HttpRequestContext): Promise<HttpReply> {
  const session = await readSession(services, rules, call)
  if (session) {
    const proof = { consoleSession: session.id, ...(session.keyId !== null && { keyId: session.keyId }) }
    const act = createActMaker(services, call, proof, 'api')('console.signed_out', describeConsoleSession(session))
    const ended = { ...act, by: `operator:${session.operator}`, proof: session.keyId === null ? 'local' : 'credential' }
    await services.store.recording(ended).endConsoleSession(session.id, services.clock.now())
    services.readers.stop(consoleReader(session.id))
  }
  const headers = { 'set-cookie': writeSessionCookie(call, isSecure(rules, call), undefined) }
  return { status: 200, json: { signedOut: true }, headers }
}
