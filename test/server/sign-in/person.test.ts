/** Whom claims name, which groups count, and what a configuration is refused for. Source: docs/design/security.md#sign-in-for-teams */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { createRedactor } from '../../../src/base/secret.ts'
import { BEGUN_MS, beginSignIn, readBegunSignIn } from '../../../src/server/sign-in/begun-sign-in.ts'
import { addClaims, lacksClaims } from '../../../src/server/sign-in/claims.ts'
import { readPerson, rightsOfGroups } from '../../../src/server/sign-in/person.ts'
import { readSignInSettings } from '../../../src/server/sign-in/settings.ts'
import type { SignInConfig } from '../../../src/spec/project/config.ts'
import { removeDirectory } from '../../remove-directory.ts'

const config: SignInConfig = {
  name: 'Acme',
  issuer: 'https://login.acme.example',
  client_id: 'svc',
  groups: { treasury: { may: 'approve', roles: ['finance'] }, admins: { may: 'operate' }, audit: { may: 'read' } },
}

const settingsOf = (given: Partial<SignInConfig> = {}, env: Record<string, string> = {}) =>
  readSignInSettings({ ...config, ...given }, { env, configDirectory: tmpdir(), redactor: createRedactor() })

const claims = { email: 'Ana@Acme.example', email_verified: true, groups: ['treasury', 'cycling'] }

const read = (given: JsonObject, changed: Partial<SignInConfig> = {}): unknown => {
  try {
    return readPerson({ ...claims, ...given }, 'u-1', settingsOf(changed))
  } catch (error) {
    return (error as Error).message
  }
}

const ana = { operator: 'ana@acme.example', subject: 'u-1', groups: ['treasury'] }
const UNVERIFIED =
  'the provider does not say that the e-mail address was verified (sign_in.assume_email_verified, if it verifies all)'
const NOT_VERIFIED =
  'the provider says that the e-mail address is not verified (email_verified: false), whatever sign_in assumes: verify it there'
const NO_NAMES =
  'the provider sends the claim groups in a form that names no group: have it send a list of names (sign_in.groups_claim)'
const TOO_MANY =
  'the provider sends no claim groups, since this person is in more groups than a token can list: have it send the groups that are assigned to its application, or roles of it'
const NO_GROUP = 'ana@acme.example is in none of the groups that sign_in.groups names'

test.each<[string, JsonObject, Partial<SignInConfig>, unknown]>([
  ['by the address, in lower case', {}, {}, ana],
  ['by the subject where there is no address', { email: null }, {}, { ...ana, operator: 'subject:u-1' }],
  ['whose address is not verified', { email_verified: false }, {}, NOT_VERIFIED],
  ['whose address is verified, as text', { email_verified: 'true' }, {}, ana],
  ['whose address is not verified, as text', { email_verified: 'false' }, {}, NOT_VERIFIED],
  ['whose address nobody calls verified', { email_verified: null }, {}, UNVERIFIED],
  [
    'whose address a provider has verified without saying so',
    { email_verified: undefined as never },
    { assume_email_verified: true },
    ana,
  ],
  ['whose address a provider calls nothing', { email_verified: null }, { assume_email_verified: true }, ana],
  [
    'whose address is not verified, whatever is assumed',
    { email_verified: false },
    { assume_email_verified: true },
    NOT_VERIFIED,
  ],
  ['of a domain that is let in', {}, { email_domains: ['ACME.example'] }, ana],
  ['of another domain', {}, { email_domains: ['other.example'] }, 'addresses of acme.example are not let in'],
  [
    'of a domain below one that is let in',
    { email: 'ana@eu.acme.example' },
    { email_domains: ['acme.example'] },
    'addresses of eu.acme.example are not let in',
  ],
  [
    'with two addresses in one',
    { email: 'ana@acme.example@evil.example' },
    {},
    'the provider sends an e-mail address that is none',
  ],
  [
    'without an address where a domain is asked for',
    { email: null },
    { email_domains: ['acme.example'] },
    'the provider sends no e-mail address, and sign_in.email_domains asks for one',
  ],
  ['in a group that nobody named', { groups: ['cycling'] }, {}, NO_GROUP],
  ['in a group by the name of what every object has', { groups: ['constructor', '__proto__'] }, {}, NO_GROUP],
  ['in one group, as text', { groups: 'treasury' }, {}, ana],
  ['in groups that are none', { groups: [{ name: 'treasury' }, 7, null] }, {}, NO_NAMES],
  ['in no group at all', { groups: [] }, {}, NO_GROUP],
  ['in a group beside what is none', { groups: [{ name: 'audit' }, 'treasury', 7] }, {}, ana],
  [
    'by roles and the organizations that granted them, as Zitadel writes them',
    { roles: { treasury: { '319': 'acme.example' }, cycling: { '319': 'acme.example', '320': 'eu.acme.example' } } },
    { groups_claim: 'roles' },
    ana,
  ],
  ['by members that grant nothing', { groups: { treasury: {} } }, {}, NO_NAMES],
  ['by members that may say no', { groups: { treasury: { member: false } } }, {}, NO_NAMES],
  [
    'in more groups than a token can list',
    {
      groups: undefined as never,
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://x' } },
    },
    {},
    TOO_MANY,
  ],
  ['in more groups than an address can list', { groups: undefined as never, hasgroups: true }, {}, TOO_MANY],
  [
    'of whose groups nothing is known',
    { groups: null },
    {},
    "the provider sends no claim groups for the scopes openid email, so nobody knows this person's groups",
  ],
  [
    'by a pointer',
    { realm: { roles: ['admins', 'treasury'] } },
    { groups_claim: '/realm/roles' },
    { ...ana, groups: ['admins', 'treasury'] },
  ],
  [
    'by a claim whose name is an address',
    { 'https://acme.example/groups': ['audit'] },
    { groups_claim: 'https://acme.example/groups' },
    { ...ana, groups: ['audit'] },
  ],
])('names a person %s', (_, given, changed, expected) => {
  expect(read(given, changed)).toEqual(expected)
})

const asked = { groupsClaim: '/realm/roles', assumesEmailVerified: false }

test.each<[string, JsonObject, JsonObject, JsonObject]>([
  [
    'an address comes with its own proof',
    { email: 'ana@acme.example' },
    { email: 'eva@acme.example', email_verified: true },
    { email: 'ana@acme.example' },
  ],
  [
    'the proof of the same address counts',
    { email: 'ana@acme.example' },
    { email: 'Ana@acme.example', email_verified: true },
    { email: 'ana@acme.example', email_verified: true },
  ],
  [
    'what the token says of its address counts',
    { email: 'ana@acme.example', email_verified: false },
    { email: 'ana@acme.example', email_verified: true },
    { email: 'ana@acme.example', email_verified: false },
  ],
  [
    'a proof without an address is none',
    { email_verified: true },
    { email: 'ana@acme.example' },
    { email: 'ana@acme.example' },
  ],
  [
    'an address that is empty is none',
    { email: '', email_verified: true },
    { email: 'ana@acme.example', email_verified: false },
    { email: 'ana@acme.example', email_verified: false },
  ],
  [
    'groups are found although the token has their neighbours',
    { realm: { name: 'acme' } },
    { realm: { roles: ['audit'] } },
    { realm: { roles: ['audit'] } },
  ],
  ['groups of the token count', { realm: { roles: [] } }, { realm: { roles: ['admins'] } }, { realm: { roles: [] } }],
])('of two descriptions of one person: %s', (_, own, more, expected) => {
  expect(addClaims(own, more, asked)).toEqual(expected)
})

test.each<[JsonObject, boolean]>([
  [{ email: 'a@b', email_verified: false, realm: { roles: [] } }, false],
  [{ email: 'a@b', realm: { roles: [] } }, true],
  [{ email: null, email_verified: true, realm: { roles: [] } }, true],
  [{ email: 'a@b', email_verified: true, realm: {} }, true],
])('asks for more than %j: %j', (given, expected) => {
  expect(lacksClaims(given, asked)).toBe(expected)
})

test('who is in several groups has the most that one may, and the roles of all', () => {
  expect(rightsOfGroups(config, ['audit', 'treasury'])).toEqual({ may: 'approve', roles: ['finance'] })
  expect(rightsOfGroups(config, ['treasury', 'admins'])).toEqual({ may: 'operate', roles: ['finance'] })
  expect(rightsOfGroups(config, ['gone', 'toString'])).toBeUndefined()
})

test.each<[string, Partial<SignInConfig>, Record<string, string>, string]>([
  [
    'plain http',
    { issuer: 'http://login.acme.example' },
    {},
    'sign_in.issuer http://login.acme.example is no https address: whoever is on the way could sign in as anybody.',
  ],
  ['no address', { issuer: 'acme' }, {}, 'sign_in.issuer is no plain address such as https://login.acme.example.'],
  [
    'a password in the address',
    { issuer: 'https://a:b@login.acme.example' },
    {},
    'sign_in.issuer is no plain address such as https://login.acme.example.',
  ],
  [
    'no group',
    { groups: {} },
    {},
    'sign_in.groups names no group, so nobody could sign in: name one, and what its people may.',
  ],
  [
    'a variable that is not set',
    { client_secret: { fromEnv: 'NONE' } },
    {},
    'sign_in.client_secret is in the variable NONE, which is not set, so nobody could sign in.',
  ],
  [
    'an empty variable',
    { client_secret: { fromEnv: 'EMPTY' } },
    { EMPTY: ' ' },
    'sign_in.client_secret is in the variable EMPTY, which is not set, so nobody could sign in.',
  ],
  ['a session of no time', { ends_after: '1s' }, {}, 'sign_in.ends_after "1s" is no time between 1m and 7d.'],
  [
    'a session without end',
    { ends_unused_after: '8d' },
    {},
    'sign_in.ends_unused_after "8d" is no time between 1m and 7d.',
  ],
  ['a broken pointer', { groups_claim: '/a~2' }, {}, 'sign_in.groups_claim "/a~2" is no JSON pointer.'],
])('refuses at the start %s', (_, given, env, message) => {
  expect(() => settingsOf(given, env)).toThrow(expect.objectContaining({ code: 'config_invalid', message }) as Error)
})

test('reads the secret from a variable or a file, and hides it from then on', () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-sign-in-'))
  writeFileSync(join(directory, 'secret'), 'secret-of-a-file\n')
  const redactor = createRedactor()
  const from = (client_secret: SignInConfig['client_secret'], env = {}) =>
    readSignInSettings({ ...config, client_secret: client_secret! }, { env, configDirectory: directory, redactor })
  expect(from({ fromFile: 'secret' }).clientSecret).toBe('secret-of-a-file')
  expect(from({ fromEnv: 'S' }, { S: 'secret-of-a-variable' }).clientSecret).toBe('secret-of-a-variable')
  expect(redactor.text('secret-of-a-file, secret-of-a-variable')).not.toMatch(/secret-of/)
  expect(() => from({ fromFile: 'none' })).toThrow(/^sign_in\.client_secret cannot be read: ENOENT/)
  removeDirectory(directory)
})

test('a sign-in that was begun counts for its own browser and answer, once begun, for ten minutes', () => {
  const now = Date.UTC(2026, 10, 20)
  const command = { port: 8976, challenge: 'c'.repeat(43) }
  const [one, other, ofCommand] = [beginSignIn(now), beginSignIn(now), beginSignIn(now, command)]
  const answer = (state: string) => new URLSearchParams({ state })
  const why = (...given: Parameters<typeof readBegunSignIn>) => {
    const read = readBegunSignIn(...given)
    return 'why' in read ? read.why : read
  }
  expect(why(one.cookie, now + BEGUN_MS, answer(one.state))).toEqual(one)
  expect(why(ofCommand.cookie, now, answer(ofCommand.state))).toEqual({ ...ofCommand, command })
  expect(why(one.cookie, now + BEGUN_MS + 1, answer(one.state))).toBe('it was begun more than ten minutes ago')
  const swapped = 'this browser has begun another one since, or the answer is for another browser'
  expect(why(one.cookie, now, answer(other.state))).toBe(swapped)
  expect(why(one.cookie, now, new URLSearchParams())).toBe(swapped)
  // A later time would make an old sign-in count: it is part of what the state is derived from.
  const renewed = one.cookie.replace(/^[^.]+/, (now + 1000).toString(36))
  expect(why(renewed, now + 1000, answer(one.state))).toBe(swapped)
  for (const cookie of [undefined, '', 'x', `${one.cookie}.1`, one.cookie.slice(1, 20)])
    expect(why(cookie, now, answer(one.state))).toBe('this browser did not begin it, or finished it already')
  expect(new Set([one.state, one.nonce, one.verifier, one.cookie, one.id]).size).toBe(5)
})
