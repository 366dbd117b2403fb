/** Signs a browser in and out. Source: docs/design/console.md#signing-in */
import { hashKey, hashOfCommandCredential } from '../../base/api-key.ts'
import type { Instant } from '../../base/clock.ts'
import { cutText } from '../../base/text/cut-text.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { fail } from '../../base/failure.ts'
import { isJsonObject } from '../../base/json/json.ts'
import type { NewAct } from '../../spec/people/act.ts'
import { proofOfSession, type ConsoleSession, type ProvidedIdentity } from '../../spec/people/key.ts'
import { OPERATOR_KEY_HEADER } from '../../operations/headers.ts'
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
  { method: 'POST', path: '/sign-out/command', handle: (call) => signOutCommand(services, call) },
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
    // On its button.
    provider: services.signIn?.settings.name ?? null,
  })

/** With `{code}` of an address that `svc console` printed, or `{key}`, the operator credential of a person. */
async function signIn(services: ServerServices, rules: ListenerRules, call: HttpRequestContext): Promise<HttpReply> {
  const body = await readJson(call, BODY)
  const identity = await identityIn(services, rules, call, body).catch(async (error: unknown) => {
    await recordRefusal(services, 'console.signed_in', call, error, createActMaker(services, call, {}, 'api'))
    throw error
  })
  const { cookie, pageKey } = await openConsoleSession(services, rules, call, identity)
  return {
    status: 200,
    json: { operator: identity.operator, pageKey },
    headers: { 'set-cookie': writeSessionCookie(call, isSecure(rules, call), cookie) },
  }
}

/** What a session is opened for, and how it ends. */
export interface SessionOpening extends SignInIdentity {
  readonly provider?: ProvidedIdentity
  readonly signIn?: string
  readonly expiresAt?: Instant
}

/** Signing in always creates a new session, so a session planted in this browser ends. */
export async function openConsoleSession(
  services: ServerServices,
  rules: ListenerRules,
  call: HttpRequestContext,
  opening: SessionOpening,
): Promise<{ readonly cookie: string; readonly pageKey: string }> {
  const { cookie, pageKey } = createSessionHalves()
  await keepSession(services, call, { ...opening, purpose: 'console', hash: hashKey(cookie) })
  const before = await readSession(services, rules, call)
  if (before) await endSession(services, call, before)
  return { cookie, pageKey }
}

/** @throws Failure `sign_in_refused` where its sign-in made a session before */
export async function keepSession(
  services: ServerServices,
  call: HttpRequestContext,
  {
    operator,
    keyId,
    purpose,
    hash,
    provider,
    signIn,
    expiresAt,
  }: SessionOpening & Pick<ConsoleSession, 'purpose' | 'hash'>,
): Promise<void> {
  const { store, ids, clock, workspace, log } = services
  const now = clock.now()
  const session: ConsoleSession = {
    id: ids.next<'console'>(),
    workspaceId: workspace.id,
    hash,
    operator,
    keyId,
    purpose,
    provider: provider ?? null,
    signIn: signIn ?? null,
    browser: cutText(safeText(call.request.headers.get('user-agent') ?? 'unknown'), MAX_BROWSER).text,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: expiresAt ?? null,
    endedAt: null,
  }
  await store.recording(actOf(services, call, session, 'console.signed_in')).createConsoleSession(session)
  log.write('info', `signed in to the ${purpose === 'console' ? 'console' : 'command line'}`, {
    operator,
    session: session.id,
  })
}

/** By the person of the session, which the request may not belong to. */
const actOf = (
  services: ServerServices,
  call: HttpRequestContext,
  session: ConsoleSession,
  kind: 'console.signed_in' | 'console.signed_out',
): NewAct => ({
  ...createActMaker(services, call, {}, 'api')(kind, describeConsoleSession(session)),
  by: `operator:${session.operator}`,
  proof: proofOfSession(session),
  keyId: session.keyId,
  channel: session.purpose === 'console' ? 'console' : 'api',
})

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

/** Also at the provider, where it has a page for that: the browser goes there. */
async function signOut(services: ServerServices, rules: ListenerRules, call: HttpRequestContext): Promise<HttpReply> {
  const session = await readSession(services, rules, call)
  if (session) await endSession(services, call, session)
  const headers = { 'set-cookie': writeSessionCookie(call, isSecure(rules, call), undefined) }
  const { signIn, serverState } = services
  const isProvided = session?.provider?.issuer !== undefined && session.provider.issuer === signIn?.settings.issuer
  const address = isProvided ? await signIn?.signOutAddress(`${serverState.consoleUrl}/`) : undefined
  return { status: 200, json: { signedOut: true, ...(address !== undefined && { address }) }, headers }
}

async function endSession(services: ServerServices, call: HttpRequestContext, session: ConsoleSession): Promise<void> {
  const act = actOf(services, call, session, 'console.signed_out')
  await services.store.recording(act).endConsoleSession(session.id, services.clock.now())
  services.readers.stop(consoleReader(session.id))
}

/** `svc logout` ends its own session. */
async function signOutCommand(services: ServerServices, call: HttpRequestContext): Promise<HttpReply> {
  const hash = hashOfCommandCredential(call.request.headers.get(OPERATOR_KEY_HEADER) ?? '')
  const session = hash === undefined ? undefined : await services.store.consoleSessionByHash(hash)
  if (session?.workspaceId === services.workspace.id && session.endedAt === null)
    await endSession(services, call, session)
  return okReply({ signedOut: session !== undefined })
}
