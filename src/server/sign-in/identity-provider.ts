/**
 * The OpenID Connect provider at which people sign in. It is asked only while somebody signs in: one that is away, slow or broken holds up
 * nothing else, and sessions that exist go on. svc keeps no token of it. Source: docs/design/security.md#sign-in-for-teams
 */
import type { JSONWebKeySet } from 'jose'
import { shortenText } from '../../base/text/cut-text.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { fail, innermostMessage, isFailure, type Failure } from '../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { fromJson, toJson } from '../../base/json/typed-json.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import {
  addressOfCodeRequest,
  ConsentError,
  isProtectedAddress,
  readCode,
  readCodeEndpoint,
} from '../../tools/oauth/authorization-code.ts'
import {
  askForToken,
  createOauthAsker,
  isAwayCode,
  McpTokenError,
  openIdAddress,
  readAuthorizationServer,
  toClientRequest,
  type AskOauth,
  type AuthorizationServer,
  type GivenToken,
  type OauthClient,
} from '../../tools/oauth/authorization-server.ts'
import type { BegunSignIn } from './begun-sign-in.ts'
import { addClaims, lacksClaims } from './claims.ts'
import { readBegunDevice, readUnfinished, type BegunDevice, type UnfinishedDevice } from './device.ts'
import { checkIdToken, IdTokenError, type IdTokenClaims, type ProviderKeys } from './id-token.ts'
import { NotLetInError, readPerson, type SignedInPerson } from './person.ts'
import type { SignInSettings } from './settings.ts'

export interface IdentityProvider {
  readonly settings: SignInSettings
  /** @throws Failure `identity_provider_away` where nobody could begin to sign in now */
  look(): Promise<void>
  /** Where a browser goes to sign in. @throws Failure `identity_provider_away` */
  addressFor(begun: BegunSignIn, redirectUri: string): Promise<string>
  /** Whom the provider names. @throws Failure `identity_provider_away`, `not_let_in` */
  finish(answer: URLSearchParams, begun: BegunSignIn, redirectUri: string): Promise<SignedInPerson>
  /** Begins a sign-in that a person finishes in a browser elsewhere. @throws Failure `identity_provider_away`, `not_let_in` */
  beginDevice(): Promise<BegunDevice>
  /** Whom the provider names, unless the person has not finished. @throws Failure `identity_provider_away`, `not_let_in` */
  finishDevice(deviceCode: string): Promise<SignedInPerson | UnfinishedDevice>
  /** Where a browser ends its session with the provider; undefined where the provider has no such page, or cannot be asked now. */
  signOutAddress(returnTo: string): Promise<string | undefined>
}

interface ProviderParts {
  readonly settings: SignInSettings
  readonly fetch: FetchFunction
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** For all that the provider is asked for one step of a sign-in. */
const ANSWER_MS = 10_000
/** To ask for its page of signing out, for which nobody waits longer. */
const SIGN_OUT_MS = 2000
/** Steps that wait for the provider at once; others are refused until it answers. */
const MOST_AT_ONCE = 20
/** How long its metadata and keys are taken as they were read. */
const FRESH_MS = 3_600_000
/** Several hundred keys, with their certificates. */
const MAX_KEY_BYTES = 1024 * 1024
/** Between two readings of keys because of a token: whoever sends wrong ones must not make us ask for each. */
const KEYS_AGAIN_MS = 30_000

export function createIdentityProvider({ settings, fetch, now }: ProviderParts): IdentityProvider {
  const { name, issuer, clientId, clientSecret } = settings
  const client: OauthClient = { id: clientId, ...(clientSecret !== undefined && { secret: clientSecret }) }
  let waiting = 0

  /** One step that asks the provider, with sentences for whatever goes wrong. */
  async function asking<T>(step: (ask: AskOauth) => Promise<T>, ms = ANSWER_MS): Promise<T> {
    if (waiting >= MOST_AT_ONCE) throw away(name, 'too many people wait for it')
    waiting++
    try {
      return await step(createOauthAsker(fetch, AbortSignal.timeout(ms)))
    } catch (error) {
      // It may have moved since: its old addresses must not shut everybody out for an hour.
      if (isOfAddress(error) && metadata.ageMs() > KEYS_AGAIN_MS) metadata.forget()
      throw toSignInFailure(name, error)
    } finally {
      waiting--
    }
  }

  const metadata = createMemory<AuthorizationServer>(now, (ask) => readOpenIdProvider(issuer, ask))
  const keySet = createMemory<JSONWebKeySet>(now, async (ask) => {
    const address = endpointOf(await metadata.read(ask), 'jwks_uri')
    const { status, value } = await ask(address, { maxBytes: MAX_KEY_BYTES })
    // One that is no key takes no other one away.
    const keys = Array.isArray(value['keys']) ? value['keys'].filter(isJsonObject) : []
    if (keys.length === 0) throw new Error(`it answered ${status} without keys to ${address}`)
    return fromJson<JSONWebKeySet>({ keys }, 'keys')
  })

  const keysFor = (ask: AskOauth): ProviderKeys => ({
    read: () => keySet.read(ask),
    readAgain: async () => (keySet.ageMs() < KEYS_AGAIN_MS ? undefined : await keySet.readAgain(ask)),
  })

  /** Providers may leave claims out of the token, and give them to whoever asks with it. Source: OpenID Connect Core 1.0, 5.3. */
  async function readClaims(provider: AuthorizationServer, claims: IdTokenClaims, accessToken: string, ask: AskOauth) {
    const own = toJson(claims) as JsonObject
    if (!lacksClaims(own, settings) || provider.metadata['userinfo_endpoint'] === undefined) return own
    const headers = { authorization: `Bearer ${accessToken}` }
    const { status, value, headers: about } = await ask(endpointOf(provider, 'userinfo_endpoint'), { headers })
    if (status !== 200) throw new Error(`it answered ${status} instead of what it knows of this person`)
    // Signed or encrypted for clients that ask for it, which is a setting of the provider. Source: OpenID Connect Core 1.0, 5.3.2.
    if (Object.keys(value).length === 0)
      throw new Error(
        `what it knows of this person is no JSON, but ${shortenText(about.get('content-type') ?? 'of no type', 100)}`,
      )
    if (value['sub'] !== claims.sub) throw new IdTokenError('describes another person than the one it named')
    return addClaims(own, value, settings)
  }

  async function personOf(
    provider: AuthorizationServer,
    { idToken, accessToken }: GivenToken,
    nonce: string | undefined,
    ask: AskOauth,
  ): Promise<SignedInPerson> {
    if (idToken === undefined) throw new IdTokenError('sent no ID token: it may know no OpenID Connect')
    const expected = { issuer: provider.issuer, clientId, nonce, maxAgeMs: settings.maxAgeMs, now: now() }
    const claims = await checkIdToken(idToken, expected, keysFor(ask))
    return readPerson(await readClaims(provider, claims, accessToken, ask), claims.sub, settings)
  }

  return {
    settings,
    look: () => asking(async (ask) => void readCodeEndpoint(await metadata.read(ask), 'sign-in')),
    addressFor: (begun, redirectUri) =>
      asking(async (ask) => {
        const provider = await metadata.read(ask)
        return addressOfCodeRequest(readCodeEndpoint(provider, 'sign-in'), {
          clientId,
          redirectUri,
          scope: settings.scope,
          state: begun.state,
          verifier: begun.verifier,
          more: {
            nonce: begun.nonce,
            ...(settings.maxAgeMs !== undefined && { max_age: String(Math.floor(settings.maxAgeMs / 1000)) }),
          },
        })
      }),
    finish: (answer, begun, redirectUri) =>
      asking(async (ask) => {
        const provider = await metadata.read(ask)
        const code = readGivenCode(provider, answer)
        const grant = {
          grant_type: 'authorization_code',
          code,
          redirect_uri: redirectUri,
          code_verifier: begun.verifier,
        }
        return await personOf(provider, await askForToken(provider, client, grant, ask), begun.nonce, ask)
      }),
    beginDevice: () =>
      asking(async (ask) => {
        const provider = await metadata.read(ask)
        const address = endpointOf(provider, 'device_authorization_endpoint')
        const { status, value } = await ask(address, toClientRequest(provider, client, { scope: settings.scope }))
        return readBegunDevice(status, value)
      }),
    finishDevice: (deviceCode) =>
      asking(async (ask) => {
        const provider = await metadata.read(ask)
        const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: deviceCode }
        const given = await askForToken(provider, client, grant, ask).catch((error: unknown) => {
          const unfinished = error instanceof McpTokenError ? readUnfinished(error) : undefined
          if (unfinished) return unfinished
          throw error
        })
        // The grant has no nonce: the token comes from the provider itself, for a code that only this command has.
        return 'isTooFast' in given ? given : await personOf(provider, given, undefined, ask)
      }),
    signOutAddress: (returnTo) =>
      asking(async (ask) => {
        const { metadata: known } = await metadata.read(ask)
        const { end_session_endpoint: endpoint } = known
        if (typeof endpoint !== 'string' || !isProtectedAddress(endpoint)) return undefined
        const address = new URL(endpoint)
        // Source: OpenID Connect RP-Initiated Logout 1.0, 2. We keep no ID token that could be the hint.
        address.searchParams.set('client_id', clientId)
        address.searchParams.set('post_logout_redirect_uri', returnTo)
        return address.href
      }, SIGN_OUT_MS).catch(() => undefined),
  }
}

/** @throws ConsentError for a refusal, and another one for a provider that sends the browser back since it cannot sign anybody in now */
function readGivenCode(provider: AuthorizationServer, answer: URLSearchParams): string {
  try {
    return readCode(provider, answer, 'sign-in')
  } catch (error) {
    throw isAwayCode(answer.get('error')) ? new Error(innermostMessage(error)) : error
  }
}

async function readOpenIdProvider(issuer: string, ask: AskOauth): Promise<AuthorizationServer> {
  const provider = await readAuthorizationServer(issuer, ask, [openIdAddress(issuer)])
  const { code_challenge_methods_supported: methods } = provider.metadata
  // Some do not list what they support; one that does, and leaves it out, would let a stolen code pass. Source: RFC 9700, 2.1.1.
  if (Array.isArray(methods) && !methods.includes('S256')) throw new Error('it does not check codes (PKCE with S256)')
  for (const name of ['token_endpoint', 'jwks_uri']) endpointOf(provider, name)
  return provider
}

/** An address of the metadata. Code, secret and tokens never go to one that others can read on the way. */
function endpointOf({ metadata }: AuthorizationServer, name: string): string {
  const { [name]: endpoint } = metadata
  if (typeof endpoint !== 'string') throw new Error(`it has no ${name}`)
  if (!isProtectedAddress(endpoint)) throw new Error(`its ${name} is no https address`)
  return endpoint
}

interface Memory<T> {
  read(ask: AskOauth): Promise<T>
  readAgain(ask: AskOauth): Promise<T>
  /** Infinity where nothing was read. */
  ageMs(): number
  forget(): void
}

/** What was read lately. An error is not kept: the next sign-in asks again. */
function createMemory<T>(now: () => number, readNew: (ask: AskOauth) => Promise<T>): Memory<T> {
  let known: { readonly value: T; readonly at: number } | undefined
  const ageMs = (): number => (known ? Math.abs(now() - known.at) : Infinity)
  const readAgain = async (ask: AskOauth): Promise<T> => {
    const value = await readNew(ask)
    known = { value, at: now() }
    return value
  }
  return {
    ageMs,
    readAgain,
    read: async (ask) => (known && ageMs() < FRESH_MS ? known.value : await readAgain(ask)),
    forget: () => void (known = undefined),
  }
}

/** Whoever answered said nothing about this sign-in. */
const isOfAddress = (error: unknown): boolean =>
  !(error instanceof NotLetInError || error instanceof IdTokenError || error instanceof ConsentError) &&
  !(error instanceof McpTokenError && error.oauthCode !== undefined)

const away = (name: string, why: string, cause?: unknown): Failure =>
  fail('identity_provider_away', { name, why: shown(why) }, { cause })

function toSignInFailure(name: string, error: unknown): Failure {
  if (isFailure(error)) return error
  if (error instanceof NotLetInError) return fail('not_let_in', { why: shown(error.message) }, { cause: error })
  if (error instanceof IdTokenError)
    return fail('not_let_in', { why: shown(`${name} ${error.message}`) }, { cause: error })
  if (error instanceof ConsentError || (error instanceof McpTokenError && error.isRefused))
    return fail('not_let_in', { why: shown(error.message) }, { cause: error })
  const isLate = error instanceof Error && error.name === 'TimeoutError'
  return away(name, isLate ? 'it does not answer' : innermostMessage(error), error)
}

const shown = (text: string): string => shortenText(safeText(text), 400).replace(/\.$/, '')
