/** Bad ID tokens, each wrong in one thing. Source: docs/design/security.md#sign-in-for-teams */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWK, type JWTPayload } from 'jose'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { checkIdToken, type ExpectedIdToken, type ProviderKeys } from '../../../src/server/sign-in/id-token.ts'

const NOW = Date.UTC(2026, 10, 20, 10, 0, 0)
const SECONDS = NOW / 1000
const ISSUER = 'https://login.acme.example'

interface Signer {
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

const signer = async (kid: string, alg: string): Promise<Signer> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

let [own, later, foreign]: Signer[] = []
beforeAll(async () => {
  ;[own, later, foreign] = await Promise.all([signer('one', 'ES256'), signer('two', 'ES256'), signer('one', 'ES256')])
})

const claims: JWTPayload = {
  iss: ISSUER,
  aud: 'svc',
  sub: 'u-1',
  iat: SECONDS - 5,
  exp: SECONDS + 300,
  nonce: 'n-1',
  auth_time: SECONDS - 60,
}

const expected: ExpectedIdToken = { issuer: ISSUER, clientId: 'svc', nonce: 'n-1', maxAgeMs: 3_600_000, now: NOW }

const sign = (payload: JWTPayload, { privateKey }: Signer, header: object = {}): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(privateKey)

/** @param sets what the provider publishes at first, and when it is asked once more */
const keysOf = ([first = [], second]: readonly (readonly JWK[])[]): ProviderKeys => ({
  read: async () => ({ keys: [...first] }),
  readAgain: async () => second && { keys: [...second] },
})

const check = (token: string, keys: readonly (readonly JWK[])[] = [[own!.jwk]], given = expected) =>
  checkIdToken(token, given, keysOf(keys)).then(
    ({ sub }) => sub,
    (error: Error) => `${error.name}: ${error.message}`,
  )

const without = (name: string): JWTPayload => ({ ...claims, [name]: undefined })
const NOT_FOR_US = 'IdTokenError: sent an ID token that is not for this server and this moment'
const UNSIGNED = 'IdTokenError: sent an ID token that none of its keys signed'
const ANOTHER_PROGRAM = 'IdTokenError: sent an ID token that was made for another program (azp)'
const ANOTHER_SIGN_IN = 'IdTokenError: sent an ID token that was made for another sign-in (nonce)'
const EXPIRED = 'IdTokenError: sent an ID token that has expired, or the clock of this server is wrong'
const NOBODY = 'IdTokenError: sent an ID token that names nobody'
const NO_TIME =
  'IdTokenError: does not say when this person proved who they are (auth_time), and sign_in.max_age asks for it'
const NOT_RECENT = 'IdTokenError: does not say that this person proved recently enough who they are (auth_time)'

const CLAIMS: readonly (readonly [name: string, payload: JWTPayload, said: string])[] = [
  ['is right', claims, 'u-1'],
  ['is of another issuer', { ...claims, iss: `${ISSUER}/` }, `${NOT_FOR_US} (iss)`],
  ['names no issuer', without('iss'), `${NOT_FOR_US} (iss)`],
  ['is for another client', { ...claims, aud: 'other' }, `${NOT_FOR_US} (aud)`],
  ['is for us and others, and names us as its party', { ...claims, aud: ['svc', 'other'], azp: 'svc' }, 'u-1'],
  ['is for us and others, and names no party', { ...claims, aud: ['svc', 'other'] }, ANOTHER_PROGRAM],
  ['names another party', { ...claims, azp: 'other' }, ANOTHER_PROGRAM],
  ['expired within the leeway', { ...claims, exp: SECONDS - 29 }, 'u-1'],
  ['expired before it', { ...claims, exp: SECONDS - 31 }, EXPIRED],
  ['never expires', without('exp'), `${NOT_FOR_US} (exp)`],
  ['is valid soon, within the leeway', { ...claims, nbf: SECONDS + 29 }, 'u-1'],
  ['is valid only later', { ...claims, nbf: SECONDS + 31 }, `${NOT_FOR_US} (nbf)`],
  ['was made long ago', { ...claims, iat: SECONDS - 700 }, EXPIRED],
  ['will be made later', { ...claims, iat: SECONDS + 60 }, `${NOT_FOR_US} (iat)`],
  ['does not say when it was made', without('iat'), `${NOT_FOR_US} (iat)`],
  ['is of another sign-in', { ...claims, nonce: 'n-2' }, ANOTHER_SIGN_IN],
  ['is of no sign-in', without('nonce'), ANOTHER_SIGN_IN],
  ['names nobody', { ...claims, sub: '' }, NOBODY],
  ['has no subject', without('sub'), `${NOT_FOR_US} (sub)`],
  ['names somebody at great length', { ...claims, sub: 'x'.repeat(256) }, NOBODY],
  ['was proved too long ago', { ...claims, auth_time: SECONDS - 3631 }, NOT_RECENT],
  ['was proved at the edge of the leeway', { ...claims, auth_time: SECONDS - 3629 }, 'u-1'],
  ['does not say when it was proved', without('auth_time'), NO_TIME],
  ['was proved in the future', { ...claims, auth_time: SECONDS + 31 }, NOT_RECENT],
]

test.each(CLAIMS)('a token that %s', async (_, payload, said) => {
  expect(await check(await sign(payload, own!))).toBe(said)
})

describe('signatures', () => {
  test('of another key, of no key, with a secret and without one prove nothing', async () => {
    expect(await check(await sign(claims, foreign!))).toBe(UNSIGNED)
    expect(await check(await sign(claims, own!, { kid: 'gone' }))).toBe(UNSIGNED)
    const proves =
      'IdTokenError: sent an ID token that is signed in a way that proves nothing: have it sign with RS256 or ES256'
    const secret = new TextEncoder().encode(JSON.stringify(own!.jwk))
    const mac = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(secret)
    expect(await check(mac)).toBe(proves)
    expect(await check(new UnsecuredJWT(claims).encode())).toMatch(/^IdTokenError: /)
  })

  test('of a changed token, and of keys that the token brings itself', async () => {
    const [header, , signature] = (await sign(claims, own!)).split('.')
    const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'u-2' })).toString('base64url')
    expect(await check([header, changed, signature].join('.'))).toBe(UNSIGNED)
    expect(await check(await sign(claims, foreign!, { jwk: foreign!.jwk }))).toBe(UNSIGNED)
    expect(await check(await sign(claims, own!, { crit: ['x'], x: 1 }).catch(() => 'a.b.c'))).toMatch(/^IdTokenError: /)
  })

  test('are of a new key that the provider has since, and of one of the same name', async () => {
    const rotated = await sign(claims, later!, { kid: 'two' })
    expect(await check(rotated)).toBe(UNSIGNED)
    expect(await check(rotated, [[own!.jwk], [own!.jwk, later!.jwk]])).toBe('u-1')
    const sameName = await sign(claims, foreign!)
    expect(await check(sameName, [[own!.jwk], [foreign!.jwk]])).toBe('u-1')
    expect(await check(sameName, [[own!.jwk], [own!.jwk]])).toBe(UNSIGNED)
  })
})

describe('keys that have no name', () => {
  const nameless = (of: Signer): JWK => {
    const { kid: _, ...jwk } = of.jwk
    return jwk
  }
  const withoutAlg = (of: Signer): JWK => {
    const { alg: _, use: __, ...jwk } = of.jwk
    return jwk
  }
  /** Of a token that names none. */
  const unnamed = { kid: undefined }

  test('are tried where the token names another one, or none', async () => {
    expect(await check(await sign(claims, own!), [[nameless(own!)]])).toBe('u-1')
    expect(await check(await sign(claims, own!), [[later!.jwk, nameless(foreign!), nameless(own!)]])).toBe('u-1')
    expect(await check(await sign(claims, own!), [[nameless(foreign!), nameless(later!)]])).toBe(UNSIGNED)
    expect(await check(await sign(claims, own!, unnamed), [[own!.jwk]])).toBe('u-1')
    expect(await check(await sign(claims, own!, unnamed), [[later!.jwk, own!.jwk]])).toBe('u-1')
    expect(await check(await sign(claims, own!, unnamed), [[later!.jwk, foreign!.jwk]])).toBe(UNSIGNED)
  })

  test('do not stand for one that the token names and the provider has', async () => {
    expect(await check(await sign(claims, own!, { kid: 'two' }), [[later!.jwk, nameless(own!)]])).toBe(UNSIGNED)
  })

  test('are read once more where none of them fits, and say what is wrong with the token', async () => {
    const [token, old] = [await sign(claims, own!, unnamed), [later!.jwk, foreign!.jwk]]
    expect(await check(token, [old, [...old, own!.jwk]])).toBe('u-1')
    const expired = await sign({ ...claims, exp: SECONDS - 31 }, own!, unnamed)
    expect(await check(expired, [[later!.jwk, own!.jwk]])).toBe(EXPIRED)
  })

  test('are tried up to a bound', async () => {
    const many = await Promise.all(Array.from({ length: 20 }, () => signer('one', 'ES256')))
    const token = await sign(claims, own!, unnamed)
    expect(await check(token, [[...many.map(nameless), nameless(own!)]])).toBe(UNSIGNED)
    expect(await check(token, [[nameless(own!), ...many.map(nameless)]])).toBe('u-1')
  })

  test.each(['RS256', 'PS256', 'ES384', 'EdDSA', 'Ed25519'])('and no algorithm may sign with %s', async (alg) => {
    const one = await signer('x', alg)
    const token = await new SignJWT(claims).setProtectedHeader({ alg }).sign(one.privateKey)
    const odd: readonly JWK[] = [{ kty: 'X-FUTURE', kid: 'f', alg: 'ML-DSA-44' }, { kty: 'oct' }, own!.jwk]
    expect(await check(token, [[...odd, withoutAlg(one)]])).toBe('u-1')
  })
})

test('what is no token is refused in a sentence', async () => {
  for (const text of ['', 'x', 'a.b.c', 'a.b.c.d.e', '{}', `${'a'.repeat(1000)}.${'b'.repeat(1000)}.c`])
    expect(await check(text)).toMatch(/^IdTokenError: sent an ID token that (?:cannot be read: |none of its keys)/)
})

test('the nonce and the time of the proof are asked for only where the sign-in asked for them', async () => {
  const given = { ...expected, nonce: undefined, maxAgeMs: undefined }
  const { nonce: _, auth_time: __, ...payload } = claims
  expect(await check(await sign(payload, own!), undefined, given)).toBe('u-1')
})

/** The certified client library for Node, which refuses by the same rules. */
const LIBRARY = join(import.meta.dirname, '../../tools/oidc/node_modules/openid-client/build/index.js')

interface OidcLibrary {
  readonly Configuration: new (server: object, client: string, metadata: object, auth: unknown) => object
  readonly customFetch: symbol
  readonly clockTolerance: symbol
  ClientSecretPost(secret: string): unknown
  enableNonRepudiationChecks(configuration: object): void
  authorizationCodeGrant(configuration: object, address: URL, checks: object): Promise<{ claims(): { sub: string } }>
}

describe.skipIf(!existsSync(LIBRARY))('with npm ci --prefix test/tools/oidc --ignore-scripts', () => {
  test('what openid-client refuses is refused here', async () => {
    const library = (await import(pathToFileURL(LIBRARY).href)) as OidcLibrary
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    onTestFinished(() => void vi.useRealTimers())
    const byLibrary = async (token: string): Promise<string> => {
      const metadata = { issuer: ISSUER, token_endpoint: `${ISSUER}/token`, jwks_uri: `${ISSUER}/keys` }
      const about = { id_token_signed_response_alg: 'ES256', [library.clockTolerance]: 30 }
      const configuration = new library.Configuration(metadata, 'svc', about, library.ClientSecretPost('s'))
      library.enableNonRepudiationChecks(configuration)
      Object.assign(configuration, {
        [library.customFetch]: async (url: string) =>
          Response.json(
            url.endsWith('/keys') ? { keys: [own!.jwk] } : { access_token: 'a', token_type: 'bearer', id_token: token },
          ),
      })
      return await library
        .authorizationCodeGrant(configuration, new URL('https://desk.example/?code=c'), {
          expectedNonce: 'n-1',
          maxAge: 3600,
          idTokenExpected: true,
        })
        .then(
          (given) => given.claims().sub,
          () => 'refused',
        )
    }
    const tokens = [
      ...(await Promise.all(CLAIMS.map(async ([name, payload]) => [name, await sign(payload, own!)] as const))),
      ['of another key', await sign(claims, foreign!)],
      ['of a key that is gone', await sign(claims, own!, { kid: 'gone' })],
      ['of nobody', new UnsecuredJWT(claims).encode()],
    ] as const
    const verdicts = await Promise.all(
      tokens.map(async ([name, token]) => ({ name, theirs: await byLibrary(token), ours: await check(token) })),
    )
    expect(verdicts.filter(({ theirs, ours }) => theirs === 'refused' && ours === 'u-1')).toEqual([])
    expect(verdicts.filter(({ theirs }) => theirs === 'refused').length).toBeGreaterThan(15)
    // Here svc is stricter, as the specification lets a client be.
    expect(
      verdicts.flatMap(({ name, theirs, ours }) => (theirs !== 'refused' && ours !== 'u-1' ? [name] : [])),
    ).toEqual([
      'names another party',
      'was made long ago',
      'will be made later',
      'names nobody',
      'names somebody at great length',
      'was proved in the future',
    ])
  })
})
