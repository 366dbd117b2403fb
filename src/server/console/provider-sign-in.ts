/**
 * Signs people in whom an identity provider names: in this browser, or on the command line that sent the browser here.
 * Source: docs/design/security.md#sign-in-for-teams
 */
import { createHmac } from 'node:crypto'
import { codeOfChallenge, createApiKeySecret, hashCommandHalves, hashKey } from '../../base/api-key.ts'
import { fail, isFailure, type Failure } from '../../base/failure.ts'
import { isJsonObject } from '../../base/json/json.ts'
import { createActMaker } from '../acts/act-maker.ts'
import { recordRefusal } from '../acts/record-refusal.ts'
import { readJson, type BodyLimits } from '../http/body.ts'
import { okReply, type HttpReply } from '../http/reply.ts'
import type { ApiRoute, HttpRequestContext, RouteHandler } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'
import {
  BEGUN_MS,
  beginSignIn,
  isChallenge,
  readBegunSignIn,
  type BegunSignIn,
  type WaitingCommand,
} from '../sign-in/begun-sign-in.ts'
import type { IdentityProvider } from '../sign-in/identity-provider.ts'
import type { SignedInPerson } from '../sign-in/person.ts'
import { isSameValue } from '../../tools/oauth/authorization-code.ts'
import { isSecure, originOfRequest, type ListenerRules } from './address.ts'
import { DECISION_HEADERS, drawDecisionWords } from './draw-decision.ts'
import { readBegunCookie, writeBegunCookie, writeSessionCookie } from './session-cookie.ts'
import { keepSession, openConsoleSession, type SessionOpening } from './sign-in.ts'

const CALLBACK = '/sign-in/callback'

export function listProviderRoutes(services: ServerServices, rules: ListenerRules): readonly ApiRoute[] {
  const { signIn: provider } = services
  const withProvider =
    (handle: (call: HttpRequestContext, provider: IdentityProvider) => Promise<HttpReply>): RouteHandler =>
    async (call) => {
      if (!provider) throw fail('sign_in_off')
      return await handle(call, provider)
    }
  const parts = { services, rules }
  return [
    { method: 'POST', path: '/sign-in/provider', handle: withProvider((...given) => begin(parts, ...given)) },
    { method: 'GET', path: CALLBACK, handle: withProvider((...given) => finish(parts, ...given)) },
    { method: 'GET', path: '/sign-in/command', handle: withProvider((...given) => askForCommand(parts, ...given)) },
    { method: 'GET', path: '/sign-in/begin', handle: withProvider((...given) => beginCommand(parts, ...given)) },
    { method: 'POST', path: '/sign-in/device', handle: withProvider((...given) => signInDevice(parts, ...given)) },
  ]
}

interface ProviderParts {
  readonly services: ServerServices
  readonly rules: ListenerRules
}

/** As it is registered at the provider: whatever a request says of its own address has no say in it. */
const redirectUriOf = (services: ServerServices): string => `${consoleUrlOf(services)}${CALLBACK}`

function consoleUrlOf({ serverState: { consoleUrl } }: ServerServices): string {
  if (consoleUrl === null) throw fail('console_off')
  return consoleUrl
}

/** The cookie must come back with the browser. @throws Failure `sign_in_refused` at another name of this server */
function checkAddress({ services, rules }: ProviderParts, call: HttpRequestContext): void {
  const own = originOfRequest(rules, call)
  const consoleUrl = consoleUrlOf(services)
  if (own !== consoleUrl)
    throw fail('sign_in_refused', { why: `people sign in at ${consoleUrl}` }, { fix: `Open ${consoleUrl}.` })
}

/** The page goes to the answered address by itself. */
async function begin(parts: ProviderParts, call: HttpRequestContext, provider: IdentityProvider): Promise<HttpReply> {
  checkAddress(parts, call)
  const { services, rules } = parts
  const begun = beginSignIn(services.clock.now())
  const address = await provider.addressFor(begun, redirectUriOf(services))
  const cookie = writeBegunCookie(call, isSecure(rules, call), begun.cookie, BEGUN_MS)
  return { status: 200, json: { address }, headers: { 'set-cookie': cookie } }
}

/**
 * A site could send a browser here as well as a command does, and a program of another user of that machine could wait for the answer. So
 * the person compares letters first; what goes on is a link that only this page has.
 */
async function askForCommand(
  parts: ProviderParts,
  call: HttpRequestContext,
  { settings }: IdentityProvider,
): Promise<HttpReply> {
  return await onPage(parts, call, async () => {
    checkAddress(parts, call)
    const command = readCommand(call.url.searchParams)
    const begun = beginSignIn(parts.services.clock.now(), command)
    const letters = codeOfChallenge(command.challenge)
    const cookie = writeBegunCookie(call, isSecure(parts.rules, call), begun.cookie, BEGUN_MS)
    const page = drawDecisionWords({
      title: 'Let a command line act as you?',
      text: `Only if you have just run svc login on this computer, and it shows ${letters}. Otherwise close this page: somebody else wants to act in your name.`,
      link: `/sign-in/begin?seal=${sealOf(begun)}`,
      linkText: `It shows ${letters}: sign in with ${settings.name}`,
    })
    return { status: 200, text: page, headers: { ...DECISION_HEADERS, 'set-cookie': cookie } }
  })
}

function readCommand(query: URLSearchParams): WaitingCommand {
  const [port, challenge] = [query.get('port') ?? '', query.get('challenge') ?? '']
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535 || !isChallenge(challenge))
    throw fail('sign_in_refused', { why: 'the address is not one that svc login opens' })
  return { port: Number(port), challenge }
}

const sealOf = ({ cookie }: BegunSignIn): string => createHmac('sha256', cookie).update('seal').digest('base64url')

async function beginCommand(
  parts: ProviderParts,
  call: HttpRequestContext,
  provider: IdentityProvider,
): Promise<HttpReply> {
  return await onPage(parts, call, async () => {
    const { services, rules } = parts
    const begun = readBegunSignIn(readBegunCookie(call, isSecure(rules, call)), services.clock.now())
    if ('why' in begun) throw fail('sign_in_refused', begun)
    if (!isSameValue(call.url.searchParams.get('seal') ?? '', sealOf(begun)))
      throw fail('sign_in_refused', { why: 'this browser has begun another one since' })
    return seeOther(await provider.addressFor(begun, redirectUriOf(services)))
  })
}

/** The provider sent the browser back. */
async function finish(parts: ProviderParts, call: HttpRequestContext, provider: IdentityProvider): Promise<HttpReply> {
  const { services, rules } = parts
  return await onPage(parts, call, async () => {
    const secure = isSecure(rules, call)
    const begun = readBegunSignIn(readBegunCookie(call, secure), services.clock.now(), call.url.searchParams)
    if ('why' in begun) throw fail('sign_in_refused', begun)
    // A page that is loaded again: to a provider, a code that comes twice looks stolen.
    if (await wasFinished(services, begun)) return seeOther('/')
    const person = await provider.finish(call.url.searchParams, begun, redirectUriOf(services))
    const opening = await openingOf(services, provider, begun.id, person)
    if (begun.command) {
      const given = createApiKeySecret()
      const { port, challenge } = begun.command
      await keepSession(services, call, { ...opening, purpose: 'command', hash: hashCommandHalves(given, challenge) })
      return seeOther(`http://127.0.0.1:${port}/callback?half=${given}`)
    }
    const { cookie, pageKey } = await openConsoleSession(services, rules, call, opening)
    // In the fragment, where no log has it: the page keeps it for its own origin.
    return seeOther(`/#page-key=${pageKey}`, writeSessionCookie(call, secure, cookie, provider.settings.endsAfterMs))
  })
}

/**
 * For a command on a machine without a browser. Without `deviceCode` it begins; with it, the answer has the half of the credential once
 * the person has finished. Source: RFC 8628.
 */
async function signInDevice(
  { services }: ProviderParts,
  call: HttpRequestContext,
  provider: IdentityProvider,
): Promise<HttpReply> {
  const body = await readJson(call, DEVICE_BODY)
  const { deviceCode, challenge } = isJsonObject(body) ? body : {}
  try {
    if (!provider.settings.allowsDevices)
      throw fail('sign_in_refused', { why: 'this server lets no device in without a browser (sign_in.allow_devices)' })
    if (deviceCode === undefined) return okReply(await provider.beginDevice())
    if (typeof deviceCode !== 'string' || typeof challenge !== 'string' || !isChallenge(challenge))
      throw fail('validation_failed', { what: 'A device signs in with its code and a challenge.' })
    const person = await provider.finishDevice(deviceCode)
    if ('isTooFast' in person) return okReply({ half: null, isTooFast: person.isTooFast })
    const given = createApiKeySecret()
    const opening = await openingOf(services, provider, hashKey(deviceCode), person)
    await keepSession(services, call, { ...opening, purpose: 'command', hash: hashCommandHalves(given, challenge) })
    return okReply({ half: given })
  } catch (error) {
    await recordRefusal(services, 'console.signed_in', call, error, createActMaker(services, call, {}, 'api'))
    throw error
  }
}

const DEVICE_BODY: BodyLimits = { maxBytes: 8192, maxLevels: 2, maxValues: 10 }

const wasFinished = async ({ store, workspace }: ServerServices, { id }: BegunSignIn): Promise<boolean> =>
  (await store.consoleSessions(workspace.id, MOST_SESSIONS)).some(({ signIn }) => signIn === id)

async function openingOf(
  { store, clock, workspace }: ServerServices,
  { settings: { issuer, endsAfterMs } }: IdentityProvider,
  id: string,
  { operator, subject, groups }: SignedInPerson,
): Promise<SessionOpening> {
  const earlier = (await store.consoleSessions(workspace.id, MOST_SESSIONS)).find(
    (each) => each.operator === operator && each.provider?.issuer === issuer,
  )?.provider?.groups
  const isChanged = earlier !== undefined && earlier.join('\n') !== groups.join('\n')
  return {
    operator,
    keyId: null,
    provider: { issuer, subject, groups, ...(isChanged && { earlierGroups: earlier }) },
    signIn: id,
    expiresAt: clock.now() + endsAfterMs,
  }
}

/** Among which the last one of a person is looked for. */
const MOST_SESSIONS = 1000

const seeOther = (location: string, cookie?: string): HttpReply => ({
  status: 303,
  text: '',
  headers: {
    location,
    'content-type': 'text/plain',
    ...(cookie !== undefined && { 'set-cookie': cookie }),
  },
})

/** A browser shows what went wrong as a page, and a refusal is recorded. */
async function onPage(
  { services }: ProviderParts,
  call: HttpRequestContext,
  step: () => Promise<HttpReply>,
): Promise<HttpReply> {
  try {
    return await step()
  } catch (error) {
    await recordRefusal(services, 'console.signed_in', call, error, createActMaker(services, call, {}, 'api'))
    if (!isFailure(error)) throw error
    services.log.write('warn', 'a sign-in was refused', { code: error.code, why: error.message })
    return { status: error.status, text: services.redactor.text(drawProblem(error)), headers: DECISION_HEADERS }
  }
}

const drawProblem = ({ message, fix }: Failure): string =>
  drawDecisionWords({
    title: 'Nobody was signed in',
    text: fix === undefined ? message : `${message} ${fix}`,
    link: '/',
    linkText: 'Back to the console',
  })
