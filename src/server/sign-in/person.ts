/** Who a provider says that somebody is, and what that lets them do here. Source: docs/design/security.md#sign-in-for-teams */
import { shortenText } from '../../base/text/cut-text.ts'
import { foldIdentity } from '../../base/identity.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { OPERATOR_RIGHTS, type OperatorRight, type SignInConfig } from '../../spec/project/config.ts'
import type { SignInSettings } from './settings.ts'

export interface SignedInPerson {
  /** Who decides and acts: the address, else the subject. */
  readonly operator: string
  readonly subject: string
  /** Those that the configuration names. */
  readonly groups: readonly string[]
}

/** Somebody proved who they are, and is not let in. The message is the end of a sentence. */
export class NotLetInError extends Error {
  override readonly name = 'NotLetInError'
}

export interface GroupRights {
  readonly may: OperatorRight
  readonly roles: readonly string[]
}

/** The most that one of the groups may, and the roles of all. Undefined for groups that the configuration does not name. */
export function rightsOfGroups(
  { groups: named }: Pick<SignInConfig, 'groups'>,
  groups: readonly string[],
): GroupRights | undefined {
  const rights = Object.entries(named).flatMap(([group, right]) => (groups.includes(group) ? [right] : []))
  const may = OPERATOR_RIGHTS.findLast((right) => rights.some((each) => each.may === right))
  return may && { may, roles: [...new Set(rights.flatMap(({ roles = [] }) => roles))] }
}

/** True where the claims alone do not say who somebody is and in which groups, so that the provider is asked for more. */
export const lacksClaims = (claims: JsonObject, { groupsClaim }: SignInSettings): boolean =>
  claims['email'] === undefined || claimAt(claims, groupsClaim) === undefined

/** @throws NotLetInError */
export function readPerson(claims: JsonObject, subject: string, settings: SignInSettings): SignedInPerson {
  const email = readEmail(claims, settings)
  // A subject is a name that only this provider knows: it can be no address, and so nobody else.
  const operator = email ?? `subject:${subject}`
  const listed = readGroups(claimAt(claims, settings.groupsClaim), settings)
  const groups = listed.filter((group) => Object.hasOwn(settings.groups, group))
  if (groups.length === 0) throw new NotLetInError(`${operator} is in none of the groups that sign_in.groups names`)
  return { operator, subject, groups: [...new Set(groups)].sort() }
}

function readEmail(claims: JsonObject, { emailDomains, assumesEmailVerified }: SignInSettings): string | undefined {
  const { email, email_verified: verified = assumesEmailVerified } = claims
  if (email === undefined || email === null || email === '') {
    if (emailDomains === undefined) return undefined
    throw new NotLetInError('the provider sends no e-mail address, and sign_in.email_domains asks for one')
  }
  if (typeof email !== 'string' || email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw new NotLetInError('the provider sends an e-mail address that is none')
  // Some providers write it as text.
  if (verified !== true && verified !== 'true')
    throw new NotLetInError(
      'the provider does not say that the e-mail address was verified (sign_in.assume_email_verified, if it verifies all)',
    )
  const operator = foldIdentity(email)
  const domain = operator.slice(operator.lastIndexOf('@') + 1)
  if (emailDomains !== undefined && !emailDomains.includes(domain))
    throw new NotLetInError(`addresses of ${shortenText(domain, 100)} are not let in`)
  return operator
}

function readGroups(value: JsonValue | undefined, { groupsClaim, scope }: SignInSettings): readonly string[] {
  if (value === undefined || value === null)
    throw new NotLetInError(
      `the provider sends no claim ${groupsClaim} for the scopes ${scope}, so nobody knows this person's groups`,
    )
  const listed = Array.isArray(value) ? value : [value]
  return listed.filter((each): each is string => typeof each === 'string')
}

/** A name is taken as it is, since names of claims may be addresses; a pointer begins with `/`. Source: RFC 6901. */
function claimAt(claims: JsonObject, name: string): JsonValue | undefined {
  if (!name.startsWith('/')) return Object.hasOwn(claims, name) ? claims[name] : undefined
  let here: JsonValue | undefined = claims
  for (const part of name.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    here = isJsonObject(here) && Object.hasOwn(here, key) ? here[key] : undefined
  }
  return here
}
