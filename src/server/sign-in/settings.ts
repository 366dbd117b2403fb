/** The identity provider of the configuration, checked at the start. Source: docs/design/security.md#sign-in-for-teams */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseDuration } from '../../base/duration.ts'
import { fail, innermostMessage } from '../../base/failure.ts'
import type { Redactor } from '../../base/secret.ts'
import type { SignInConfig } from '../../spec/project/config.ts'
import { isProtectedAddress } from '../../tools/oauth/authorization-code.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface SignInSettings {
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined
  readonly scope: string
  readonly groupsClaim: string
  readonly groups: SignInConfig['groups']
  /** In lower case; undefined for any. */
  readonly emailDomains: readonly string[] | undefined
  readonly assumesEmailVerified: boolean
  readonly allowsDevices: boolean
  readonly maxAgeMs: number | undefined
  readonly endsAfterMs: number
  readonly endsUnusedAfterMs: number
}

export interface SignInParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly configDirectory: string
  readonly redactor: Redactor
}

const DEFAULT_END = '12h'
const LONGEST_MS = 7 * 86_400_000
const SHORTEST_MS = 60_000

/** @throws Failure `config_invalid` where nobody could sign in, or what was written cannot mean what it says */
export function readSignInSettings(config: SignInConfig, parts: SignInParts): SignInSettings {
  const { name, issuer, client_id: clientId, groups, groups_claim: groupsClaim = 'groups' } = config
  checkIssuer(issuer)
  if (Object.keys(groups).length === 0)
    throw refused('sign_in.groups names no group, so nobody could sign in: name one, and what its people may.')
  if (groupsClaim.startsWith('/') && /~(?![01])/.test(groupsClaim))
    throw refused(`sign_in.groups_claim ${JSON.stringify(groupsClaim)} is no JSON pointer.`)
  const { email_domains: domains, assume_email_verified: assumesEmailVerified = false, scopes = ['email'] } = config
  return {
    name,
    issuer,
    clientId,
    clientSecret: readClientSecret(config.client_secret, parts),
    scope: [...new Set(['openid', ...scopes])].join(' '),
    groupsClaim,
    groups,
    emailDomains: domains?.map((domain) => domain.toLowerCase()),
    assumesEmailVerified,
    allowsDevices: config.allow_devices ?? false,
    maxAgeMs: config.max_age === undefined ? undefined : durationOf('max_age', config.max_age),
    endsAfterMs: durationOf('ends_after', config.ends_after ?? DEFAULT_END),
    endsUnusedAfterMs: durationOf('ends_unused_after', config.ends_unused_after ?? DEFAULT_END),
  }
}

function checkIssuer(issuer: string): void {
  const url = parseUrl(issuer)
  if (!url || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw refused('sign_in.issuer is no plain address such as https://login.acme.example.')
  if (!isProtectedAddress(issuer))
    throw refused(`sign_in.issuer ${issuer} is no https address: whoever is on the way could sign in as anybody.`)
}

function durationOf(key: 'max_age' | 'ends_after' | 'ends_unused_after', text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms < SHORTEST_MS || ms > LONGEST_MS)
    throw refused(`sign_in.${key} "${text}" is no time between 1m and 7d.`)
  return ms
}

function readClientSecret(
  given: SignInConfig['client_secret'],
  { env, configDirectory, redactor }: SignInParts,
): string | undefined {
  if (given === undefined) return undefined
  const secret =
    'fromEnv' in given ? env[given.fromEnv]?.trim() : readSecretFile(resolve(configDirectory, given.fromFile))
  if (!secret) {
    const place =
      'fromEnv' in given ? `the variable ${given.fromEnv}, which is not set` : `${given.fromFile}, an empty file`
    throw refused(`sign_in.client_secret is in ${place}, so nobody could sign in.`)
  }
  redactor.add(secret)
  return secret
}

function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw refused(`sign_in.client_secret cannot be read: ${innermostMessage(error)}.`)
  }
}

const refused = (what: string): Error => fail('config_invalid', { what })
