/**
 * Checks an ID token: that the provider signed it, for us, now, and for this sign-in. The package `jose` checks signature, times and
 * audience; what OpenID Connect asks for beyond is here. Source: OpenID Connect Core 1.0, 3.1.3.7.
 */
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose'
import type { Instant } from '../../base/clock.ts'
import { shortenText } from '../../base/text/cut-text.ts'

/** The token does not count. The message is the end of a sentence that begins with the provider. */
export class IdTokenError extends Error {
  override readonly name = 'IdTokenError'
}

export interface ExpectedIdToken {
  readonly issuer: string
  readonly clientId: string
  /** Undefined where the grant has none. */
  readonly nonce: string | undefined
  /** Asked for; undefined where it was not. */
  readonly maxAgeMs: number | undefined
  readonly now: Instant
}

/** The keys that a provider publishes. */
export interface ProviderKeys {
  read(): Promise<JSONWebKeySet>
  /** Asks for them once more, since a provider may have others now. Undefined where that was done a moment ago. */
  readAgain(): Promise<JSONWebKeySet | undefined>
}

/** How far the clocks of two machines may be apart. */
const LEEWAY_S = 30
/** A token is made for the sign-in that is finished with it. */
const OLDEST_S = 600
/** Source: OpenID Connect Core 1.0, 2. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/

/** With a key of the provider that is no secret of ours: neither `none`, nor one that whoever checks could sign with. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

export type IdTokenClaims = JWTPayload & { readonly sub: string }

/** @throws IdTokenError, or the error of a provider that does not give its keys */
export async function checkIdToken(
  token: string,
  expected: ExpectedIdToken,
  keys: ProviderKeys,
): Promise<IdTokenClaims> {
  const { jwtVerify } = await import('jose')
  const verify = (set: JSONWebKeySet): Promise<JWTPayload> =>
    verifyByKeys(set, async (key) => {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ALGORITHMS,
        issuer: expected.issuer,
        audience: expected.clientId,
        clockTolerance: LEEWAY_S,
        maxTokenAge: OLDEST_S,
        currentDate: new Date(expected.now),
        requiredClaims: ['sub', 'exp', 'iat'],
      })
      return payload
    })
  let claims: JWTPayload
  const known = await keys.read()
  try {
    claims = await verify(known)
  } catch (error) {
    const fresh = isOfUnknownKey(error) ? await keys.readAgain() : undefined
    if (!fresh) throw toIdTokenError(error)
    claims = await verify(fresh).catch((again: unknown) => {
      throw toIdTokenError(again)
    })
  }
  return checkClaims(claims, expected)
}

function checkClaims(claims: JWTPayload, { clientId, nonce, maxAgeMs, now }: ExpectedIdToken): IdTokenClaims {
  const { sub, aud, azp, nonce: named, auth_time: provedAt } = claims
  if (typeof sub !== 'string' || !SUBJECT.test(sub)) throw new IdTokenError('sent an ID token that names nobody')
  if (azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== clientId)
    throw new IdTokenError('sent an ID token that was made for another program (azp)')
  if (nonce !== undefined && named !== nonce)
    throw new IdTokenError('sent an ID token that was made for another sign-in (nonce)')
  if (maxAgeMs !== undefined) {
    const oldest = (now - maxAgeMs) / 1000 - LEEWAY_S
    if (provedAt === undefined)
      throw new IdTokenError(
        'does not say when this person proved who they are (auth_time), and sign_in.max_age asks for it',
      )
    if (typeof provedAt !== 'number' || !(provedAt >= oldest && provedAt <= now / 1000 + LEEWAY_S))
      throw new IdTokenError('does not say that this person proved recently enough who they are (auth_time)')
  }
  return { ...claims, sub }
}

type KeyOfToken = CryptoKey | JWTVerifyGetKey

/** Keys of one set that are tried for one token. */
const MOST_TRIED = 20

/**
 * The key that the token names; where it or the keys have no names, each that could have signed it.
 * Source: OpenID Connect Core 1.0, 10.1; RFC 7517, 4.5.
 */
async function verifyByKeys(set: JSONWebKeySet, verify: (key: KeyOfToken) => Promise<JWTPayload>): Promise<JWTPayload> {
  const { createLocalJWKSet } = await import('jose')
  try {
    return await verifyByAny(createLocalJWKSet(set), verify)
  } catch (error) {
    const nameless = set.keys.filter(({ kid }) => kid === undefined)
    if (codeOf(error) !== 'ERR_JWKS_NO_MATCHING_KEY' || nameless.length === 0) throw error
    const find = createLocalJWKSet({ keys: nameless })
    const findAny: JWTVerifyGetKey = (named, jws) => {
      const { kid: _, ...header } = named
      return find(header, jws)
    }
    return await verifyByAny(findAny, verify)
  }
}

async function verifyByAny(
  find: JWTVerifyGetKey,
  verify: (key: KeyOfToken) => Promise<JWTPayload>,
): Promise<JWTPayload> {
  try {
    return await verify(find)
  } catch (error) {
    if (!isOfSeveralKeys(error)) throw error
    let tried = 0
    for await (const key of error) {
      if (++tried > MOST_TRIED) break
      const claims = await verify(key).catch((failed: unknown) => {
        if (codeOf(failed) !== SIGNED_BY_ANOTHER) throw failed
      })
      if (claims) return claims
    }
    throw error
  }
}

const isOfSeveralKeys = (error: unknown): error is Error & AsyncIterable<CryptoKey> =>
  codeOf(error) === 'ERR_JWKS_MULTIPLE_MATCHING_KEYS'

const SIGNED_BY_ANOTHER = 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'

/** What `jose` says of its errors. */
const codeOf = (error: unknown): string => (error as { readonly code?: string } | undefined)?.code ?? ''

/** A provider that changes its keys has one that we do not know, or another one of the same name. */
const isOfUnknownKey = (error: unknown): boolean =>
  ['ERR_JWKS_NO_MATCHING_KEY', 'ERR_JWKS_MULTIPLE_MATCHING_KEYS', SIGNED_BY_ANOTHER].includes(codeOf(error))

function toIdTokenError(error: unknown): Error {
  switch (codeOf(error)) {
    case 'ERR_JWT_EXPIRED':
      return new IdTokenError('sent an ID token that has expired, or the clock of this server is wrong')
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED': {
      const claim = shortenText(String((error as { readonly claim?: string }).claim), 50)
      return new IdTokenError(`sent an ID token that is not for this server and this moment (${claim})`)
    }
    case 'ERR_JWKS_NO_MATCHING_KEY':
    case 'ERR_JWKS_MULTIPLE_MATCHING_KEYS':
    case SIGNED_BY_ANOTHER:
      return new IdTokenError('sent an ID token that none of its keys signed')
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
      return new IdTokenError(
        'sent an ID token that is signed in a way that proves nothing: have it sign with RS256 or ES256',
      )
    default:
      return new IdTokenError(
        `sent an ID token that cannot be read: ${shortenText(error instanceof Error ? error.message : String(error), 200)}`,
      )
  }
}
