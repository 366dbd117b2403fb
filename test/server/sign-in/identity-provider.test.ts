/** A provider that is away, slow, broken, hostile or changes its keys. Source: docs/design/security.md#sign-in-for-teams */
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { createRedactor } from '../../../src/base/secret.ts'
import { beginSignIn } from '../../../src/server/sign-in/begun-sign-in.ts'
import { createIdentityProvider } from '../../../src/server/sign-in/identity-provider.ts'
import { readSignInSettings } from '../../../src/server/sign-in/settings.ts'

const NOW = Date.UTC(2026, 10, 20, 10, 0, 0)
const ISSUER = 'https://login.acme.example/acme'
const REDIRECT = 'https://desk.example/sign-in/callback'

const settings = readSignInSettings(
  {
    name: 'Acme',
    issuer: ISSUER,
    client_id: 'svc',
    client_secret: { fromEnv: 'SECRET' },
    groups: { treasury: { may: 'approve' } },
    max_age: '8h',
  },
  { env: { SECRET: 'client-secret-1' }, configDirectory: '.', redactor: createRedactor() },
)

let [first, second]: { readonly privateKey: CryptoKey; readonly jwk: JWK }[] = []
beforeAll(async () => {
  ;[first, second] = await Promise.all(
    ['one', 'two'].map(async (kid) => {
      const { privateKey, publicKey } = await generateKeyPair('RS256')
      return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256' } }
    }),
  )
})

/** What it answers; each member is changed by a test. */
function fakeProvider() {
  const asked: string[] = []
  const time = { now: NOW }
  const begun = beginSignIn(NOW)
  const claims = {
    sub: 'u-1',
    email: 'ana@acme.example',
    email_verified: true,
    groups: ['treasury'],
    nonce: begun.nonce,
    auth_time: NOW / 1000 - 60,
  }
  const answers: Record<string, unknown> = {
    '/.well-known/openid-configuration': {
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/auth`,
      token_endpoint: `${ISSUER}/token`,
      jwks_uri: `${ISSUER}/keys`,
      userinfo_endpoint: `${ISSUER}/me`,
      end_session_endpoint: `${ISSUER}/end?x=1`,
    },
    '/keys': { keys: [first!.jwk] },
    '/me': { sub: 'u-1', email: 'ana@acme.example', email_verified: true, groups: ['treasury'] },
  }
  const world = { asked, answers, begun, claims, time, signer: first!, token: undefined as unknown, form: '' }
  const respond = (value: unknown): Response =>
    value instanceof Response
      ? value
      : new Response(typeof value === 'string' ? value : JSON.stringify(value), {
          status: value === undefined ? 404 : 200,
        })
  const provider = createIdentityProvider({
    settings,
    now: () => time.now,
    fetch: async (input, init) => {
      const path = new URL(input as string).pathname.replace('/acme', '')
      asked.push(path)
      const answer = path === '/token' ? (world.token ?? (await idToken(world))) : answers[path]
      if (path === '/token') world.form = init?.body as string
      if (answer instanceof Error) throw answer
      return respond(typeof answer === 'function' ? await (answer as () => unknown)() : answer)
    },
  })
  const finish = (answer: Record<string, string> = {}, of = begun) =>
    provider.finish(new URLSearchParams({ code: 'c-1', state: of.state, ...answer }), of, REDIRECT).then(
      ({ operator }) => operator,
      (error: { readonly code: string; readonly message: string }) => `${error.code}: ${error.message}`,
    )
  return { ...world, world, provider, finish }
}

async function idToken({ claims, time, signer }: ReturnType<typeof fakeProvider>['world']): Promise<object> {
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: signer.jwk.kid! })
    .setIssuer(ISSUER)
    .setAudience('svc')
    .setIssuedAt(time.now / 1000)
    .setExpirationTime(time.now / 1000 + 300)
    .sign(signer.privateKey)
  return { access_token: 'a-1', token_type: 'Bearer', id_token: token }
}

test('sends a browser to the provider with all that ties the answer to it, and takes the code with the secret', async () => {
  const { provider, begun, finish, world, asked } = fakeProvider()
  const address = new URL(await provider.addressFor(begun, REDIRECT))
  expect([address.origin + address.pathname, Object.fromEntries(address.searchParams)]).toEqual([
    `${ISSUER}/auth`,
    {
      response_type: 'code',
      client_id: 'svc',
      redirect_uri: REDIRECT,
      state: begun.state,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
      scope: 'openid email',
      nonce: begun.nonce,
      max_age: '28800',
    },
  ])
  expect(address.href).not.toContain(begun.verifier)
  expect(await finish()).toBe('ana@acme.example')
  expect(Object.fromEntries(new URLSearchParams(world.form))).toEqual({
    grant_type: 'authorization_code',
    code: 'c-1',
    redirect_uri: REDIRECT,
    code_verifier: begun.verifier,
  })
  expect(await finish()).toBe('ana@acme.example')
  expect(asked).toEqual(['/.well-known/openid-configuration', '/token', '/keys', '/token'])
})

const AWAY = 'identity_provider_away: Acme cannot be asked who you are:'
const huge = 'x'.repeat(300 * 1024)
const METADATA = '/.well-known/openid-configuration'

test.each<[string, string, (known: object) => unknown, string]>([
  [
    'that is away',
    METADATA,
    () => new Error('connect ECONNREFUSED 192.0.2.1:443'),
    `${AWAY} connect ECONNREFUSED 192.0.2.1:443.`,
  ],
  ['that is slow', METADATA, () => new DOMException('late', 'TimeoutError'), `${AWAY} it does not answer.`],
  ['that fails', METADATA, () => new Response('', { status: 503 }), `${AWAY} it answered 503 to ${ISSUER}${METADATA}.`],
  [
    'that sends elsewhere for its metadata',
    METADATA,
    () => new Response('', { status: 302, headers: { location: '/other' } }),
    `${AWAY} it publishes no metadata with a token_endpoint: it answered 302 to ${ISSUER}${METADATA}.`,
  ],
  ['that is none', METADATA, () => undefined, `${AWAY} it publishes no metadata with a token_endpoint.`],
  [
    'that answers something broken',
    METADATA,
    () => '{"issuer":',
    `${AWAY} it publishes no metadata with a token_endpoint.`,
  ],
  ['that answers without end', METADATA, () => huge, `${AWAY} its answer is longer than 262144 bytes.`],
  [
    'that is another one',
    METADATA,
    (known) => ({ ...known, issuer: 'https://evil.example' }),
    `${AWAY} its metadata is that of "https://evil.example".`,
  ],
  [
    'of many tenants',
    METADATA,
    (known) => ({ ...known, issuer: 'https://login.acme.example/{tenantid}/v2.0' }),
    `${AWAY} its metadata is that of "https://login.acme.example/{tenantid}/v2.0", which stands for many: name the issuer of one.`,
  ],
  [
    'that checks no codes',
    METADATA,
    (known) => ({ ...known, code_challenge_methods_supported: ['plain'] }),
    `${AWAY} it does not check codes (PKCE with S256).`,
  ],
  [
    'that takes codes in clear',
    METADATA,
    (known) => ({ ...known, token_endpoint: 'http://login.acme.example/token' }),
    `${AWAY} its token_endpoint is no https address.`,
  ],
  [
    'that gives keys in clear',
    METADATA,
    (known) => ({ ...known, jwks_uri: 'http://login.acme.example/keys' }),
    `${AWAY} its jwks_uri is no https address.`,
  ],
  ['without keys', '/keys', () => ({}), `${AWAY} it answered 200 without keys to ${ISSUER}/keys.`],
  [
    'whose keys are many and not whole',
    '/keys',
    () => ({
      keys: [null, 7, ...Array.from({ length: 300 }, (_, at) => ({ kty: 'EC', kid: `k-${at}` })), second!.jwk],
    }),
    'not_let_in: Not signed in: Acme sent an ID token that none of its keys signed.',
  ],
  ['with keys without end', '/keys', () => huge.repeat(4), `${AWAY} its answer is longer than 1048576 bytes.`],
  ['with broken keys', '/keys', () => ({ keys: [7] }), `${AWAY} it answered 200 without keys to ${ISSUER}/keys.`],
])('a provider %s is a sentence, and nothing is kept of it', async (_, path, change, said) => {
  const { finish, answers, time } = fakeProvider()
  const right = answers[path] as object
  answers[path] = change(right)
  expect(await finish()).toBe(said)
  answers[path] = right
  // What was read of keys is kept for an hour.
  time.now += 31_000
  expect(await finish()).toBe('ana@acme.example')
})

test.each<[string, Record<string, string>, unknown, string]>([
  [
    'a person who refuses',
    { error: 'access_denied', error_description: 'no\u001b[2J' },
    undefined,
    `not_let_in: Not signed in: The authorization server ${ISSUER} gives no sign-in: access_denied, no.`,
  ],
  [
    'an answer of another provider',
    { iss: 'https://evil.example' },
    undefined,
    `not_let_in: Not signed in: The browser came back from https://evil.example, and not from ${ISSUER}.`,
  ],
  [
    'a code that was used',
    {},
    new Response('{"error":"invalid_grant"}', { status: 400 }),
    `not_let_in: Not signed in: The authorization server ${ISSUER} gives the client "svc" no token: invalid_grant.`,
  ],
  [
    'no ID token',
    {},
    { access_token: 'a-1' },
    'not_let_in: Not signed in: Acme sent no ID token: it may know no OpenID Connect.',
  ],
  [
    'a token that is none',
    {},
    { access_token: 'a-1', id_token: 'x.y.z' },
    'not_let_in: Not signed in: Acme sent an ID token that cannot be read: JWS Protected Header is invalid.',
  ],
])('%s lets nobody in', async (_, answer, token, said) => {
  const { finish, world } = fakeProvider()
  world.token = token
  expect(await finish(answer)).toBe(said)
})

test('keys count beside what is no key, however many there are', async () => {
  const { finish, answers } = fakeProvider()
  const x5c = ['M'.repeat(2000)]
  const others = Array.from({ length: 300 }, (_, at) => ({ kty: 'EC', kid: `k-${at}`, alg: 'ES256', x5c }))
  answers['/keys'] = { keys: [null, 7, { kty: 'X-FUTURE' }, ...others, first!.jwk] }
  expect(await finish()).toBe('ana@acme.example')
})

test('a provider that has moved is asked for its addresses again', async () => {
  const { finish, world, answers, time } = fakeProvider()
  expect(await finish()).toBe('ana@acme.example')
  answers[METADATA] = { ...(answers[METADATA] as object), token_endpoint: `${ISSUER}/v2/token` }
  answers['/v2/token'] = () => idToken(world)
  world.token = new Response('', { status: 404 })
  time.now += 31_000
  const gone = `The authorization server ${ISSUER} gives the client "svc" no token: it answered 404`
  expect(await finish()).toBe(`not_let_in: Not signed in: ${gone}.`)
  expect(await finish()).toBe('ana@acme.example')
})

test('keys that change are read once more, and not for each wrong token', async () => {
  const { finish, world, asked, answers, time } = fakeProvider()
  expect(await finish()).toBe('ana@acme.example')
  world.signer = second!
  time.now += 1000
  const wrong = 'not_let_in: Not signed in: Acme sent an ID token that none of its keys signed.'
  expect(await finish()).toBe(wrong)
  answers['/keys'] = { keys: [second!.jwk] }
  time.now += 31_000
  expect(await finish()).toBe('ana@acme.example')
  world.signer = first!
  for (let time = 0; time < 5; time++) expect(await finish()).toBe(wrong)
  expect(asked.filter((path) => path === '/keys')).toHaveLength(2)
})

test('what the token leaves out is asked of the provider, about the same person only', async () => {
  const { finish, claims, answers, asked } = fakeProvider()
  Object.assign(claims, { email: undefined, groups: undefined })
  expect(await finish()).toBe('ana@acme.example')
  expect(asked.at(-1)).toBe('/me')
  answers['/me'] = { ...(answers['/me'] as object), sub: 'u-2' }
  expect(await finish()).toBe('not_let_in: Not signed in: Acme describes another person than the one it named.')
  answers['/me'] = new Response('', { status: 500 })
  expect(await finish()).toBe(`${AWAY} it answered 500 instead of what it knows of this person.`)
})

test('a description that is signed or encrypted is named, since no JSON is in it', async () => {
  const { finish, claims, answers } = fakeProvider()
  Object.assign(claims, { groups: undefined })
  answers['/me'] = new Response('eyJhbGciOiJSUzI1NiJ9.e30.AA', { headers: { 'content-type': 'application/jwt' } })
  expect(await finish()).toBe(`${AWAY} what it knows of this person is no JSON, but application/jwt.`)
})

test('a provider that sends the browser back since it cannot sign anybody in now is one that is away', async () => {
  const { finish } = fakeProvider()
  expect(await finish({ error: 'temporarily_unavailable' })).toBe(
    `${AWAY} The authorization server ${ISSUER} gives no sign-in: temporarily_unavailable.`,
  )
})

test('a token of another sign-in, and one that was proved too long ago, let nobody in', async () => {
  const { finish, claims, time } = fakeProvider()
  const other = beginSignIn(NOW)
  const nonce = 'not_let_in: Not signed in: Acme sent an ID token that was made for another sign-in (nonce).'
  expect(await finish({}, other)).toBe(nonce)
  claims.auth_time = time.now / 1000 - 9 * 3600
  expect(await finish()).toMatch(/^not_let_in: .* \(auth_time\)\.$/)
})

test('many who wait for it at once are refused, and later ones are not', async () => {
  const { finish, answers } = fakeProvider()
  const metadata = answers[METADATA]
  let answer = (): void => {}
  const waiting = new Promise<void>((resolve) => (answer = resolve))
  answers[METADATA] = () => waiting.then(() => metadata)
  const all = Array.from({ length: 21 }, () => finish())
  expect(await all[20]).toBe(`${AWAY} too many people wait for it.`)
  answer()
  expect(new Set(await Promise.all(all.slice(0, 20)))).toEqual(new Set(['ana@acme.example']))
  expect(await finish()).toBe('ana@acme.example')
})

test('a device waits until the person has finished elsewhere', async () => {
  const { provider, answers, world, claims } = fakeProvider()
  await expect(provider.beginDevice()).rejects.toThrow('it has no device_authorization_endpoint')
  answers['/device'] = {
    device_code: 'd-1',
    user_code: 'WDJB-MJHT',
    verification_uri: `${ISSUER}/confirm`,
    verification_uri_complete: `${ISSUER}/confirm?code=WDJB-MJHT`,
    expires_in: 900,
  }
  const able = fakeProvider()
  Object.assign(able.answers, answers)
  const metadata = answers[METADATA] as object
  able.answers[METADATA] = { ...metadata, device_authorization_endpoint: `${ISSUER}/device` }
  expect(await able.provider.beginDevice()).toEqual({
    deviceCode: 'd-1',
    userCode: 'WDJB-MJHT',
    address: `${ISSUER}/confirm?code=WDJB-MJHT`,
    expiresInSeconds: 900,
    intervalSeconds: 5,
  })
  for (const error of ['authorization_pending', 'slow_down']) {
    world.token = new Response(JSON.stringify({ error }), { status: 400 })
    expect(await provider.finishDevice('d-1')).toEqual({ isTooFast: error === 'slow_down' })
  }
  world.token = new Response('{"error":"expired_token"}', { status: 400 })
  await expect(provider.finishDevice('d-1')).rejects.toMatchObject({ code: 'not_let_in' })
  world.token = undefined
  Object.assign(claims, { nonce: undefined })
  expect(await provider.finishDevice('d-1')).toMatchObject({ operator: 'ana@acme.example' })
  expect(Object.fromEntries(new URLSearchParams(world.form))).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: 'd-1',
  })
})

test('its page of signing out is named by our client and where to come back to; nobody waits for it', async () => {
  const { provider, answers } = fakeProvider()
  const end = 'https%3A%2F%2Fdesk.example%2F'
  expect(await provider.signOutAddress('https://desk.example/')).toBe(
    `${ISSUER}/end?x=1&client_id=svc&post_logout_redirect_uri=${end}`,
  )
  const other = fakeProvider()
  other.answers[METADATA] = { ...(answers[METADATA] as object), end_session_endpoint: 'javascript:alert(1)' }
  expect(await other.provider.signOutAddress('https://desk.example/')).toBeUndefined()
  const away = fakeProvider()
  away.answers[METADATA] = new Error('away')
  expect(await away.provider.signOutAddress('https://desk.example/')).toBeUndefined()
})
