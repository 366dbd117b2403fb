/**
 * What a provider says of a person: in the ID token, and to whoever asks with it. Providers leave claims out of either, and give them in
 * several forms. Source: docs/design/security.md#sign-in-for-teams
 */
import { foldIdentity } from '../../base/identity.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { SignInSettings } from './settings.ts'

type ClaimSettings = Pick<SignInSettings, 'groupsClaim' | 'assumesEmailVerified'>

/** True where the claims alone do not say who somebody is and in which groups, so that the provider is asked for more. */
export const lacksClaims = (claims: JsonObject, { groupsClaim, assumesEmailVerified }: ClaimSettings): boolean =>
  isAbsent(claims['email']) ||
  (isAbsent(claims['email_verified']) && !assumesEmailVerified) ||
  isAbsent(claimAt(claims, groupsClaim))

/**
 * The claims of the token, and those that it leaves out.
 * @param more of the same person
 */
export function addClaims(own: JsonObject, more: JsonObject, { groupsClaim }: ClaimSettings): JsonObject {
  const claims: Record<string, JsonValue> = { ...more, ...own }
  // Whether an address was verified is said of that address, and of no other one.
  if (isAbsent(own['email'])) copyMembers(more, claims, ['email', 'email_verified'])
  else if (isAbsent(own['email_verified']))
    copyMembers(isSameEmail(own['email'], more['email']) ? more : own, claims, ['email_verified'])
  if (isAbsent(claimAt(own, groupsClaim)) && !isAbsent(claimAt(more, groupsClaim)))
    copyMembers(more, claims, [memberOf(groupsClaim)])
  return claims
}

function copyMembers(from: JsonObject, to: Record<string, JsonValue>, names: readonly string[]): void {
  for (const name of names) {
    const { [name]: value } = from
    if (value === undefined) delete to[name]
    else to[name] = value
  }
}

const isSameEmail = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  typeof a === 'string' && typeof b === 'string' && foldIdentity(a) === foldIdentity(b)

/** Some providers write what they do not know. */
const isAbsent = (value: JsonValue | undefined): boolean => value === undefined || value === null || value === ''

/** A name is taken as it is, since names of claims may be addresses; a pointer begins with `/`. Source: RFC 6901. */
export function claimAt(claims: JsonObject, name: string): JsonValue | undefined {
  let here: JsonValue | undefined = claims
  for (const key of pathOf(name)) here = isJsonObject(here) && Object.hasOwn(here, key) ? here[key] : undefined
  return here
}

const pathOf = (name: string): readonly string[] =>
  name.startsWith('/')
    ? name
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    : [name]

/** The claim in which it is. */
const memberOf = (name: string): string => pathOf(name)[0] ?? name

/**
 * Names of groups. Undefined for a value that is no list of names, and no form in which a provider is known to write one:
 * Zitadel gives `{ ROLE: { ORGANIZATION: DOMAIN } }`.
 */
export function namesInClaim(value: JsonValue): readonly string[] | undefined {
  if (isJsonObject(value)) {
    const entries = Object.entries(value)
    return entries.every(([, granted]) => isGrantedRole(granted)) ? entries.map(([role]) => role) : undefined
  }
  const listed = Array.isArray(value) ? value : [value]
  const names = listed.filter((each): each is string => typeof each === 'string')
  return names.length === 0 && listed.length > 0 ? undefined : names
}

const isGrantedRole = (value: JsonValue): boolean =>
  isJsonObject(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((domain) => typeof domain === 'string')

/** Entra ID names where the groups of a person could be asked for who is in more than a token can list. Source: OpenID Connect Core 1.0, 5.6.2. */
export const isLeftOut = (claims: JsonObject, name: string): boolean =>
  claims['hasgroups'] === true || (isJsonObject(claims['_claim_names']) && Object.hasOwn(claims['_claim_names'], name))
