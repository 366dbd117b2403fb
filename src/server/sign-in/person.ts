/** Who a provider says that somebody is, and what that lets them do here. Source: docs/design/security.md#sign-in-for-teams */
import { shortenText } from '../../base/text/cut-text.ts'
import { foldIdentity } from '../../base/identity.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { OPERATOR_RIGHTS, type OperatorRight, type SignInConfig } from '../../spec/project/config.ts'
import { claimAt, isLeftOut, namesInClaim } from './claims.ts'
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

/** @throws NotLetInError */
export function readPerson(claims: JsonObject, subject: string, settings: SignInSettings): SignedInPerson {
  const email = readEmail(claims, settings)
  // A subject is a name that only this provider knows: it can be no address, and so nobody else.
  const operator = email ?? `subject:${subject}`
  const listed = readGroups(claims, settings)
  const groups = listed.filter((group) => Object.hasOwn(settings.groups, group))
  if (groups.length === 0) throw new NotLetInError(`${operator} is in none of the groups that sign_in.groups names`)
  return { operator, subject, groups: [...new Set(groups)].sort() }
}

function readEmail(claims: JsonObject, { emailDomains, assumesEmailVerified }: SignInSettings): string | undefined {
  const { email, email_verified: said } = claims
  const verified = said ?? assumesEmailVerified
  if (email === undefined || email === null || email === '') {
    if (emailDomains === undefined) return undefined
    throw new NotLetInError('the provider sends no e-mail address, and sign_in.email_domains asks for one')
  }
  if (typeof email !== 'string' || email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw new NotLetInError('the provider sends an e-mail address that is none')
  // Some providers write it as text. What one says itself counts, whatever is assumed: Authentik says it of everybody.
  if (said === false || said === 'false')
    throw new NotLetInError(
      'the provider says that the e-mail address is not verified (email_verified: false), whatever sign_in assumes: verify it there',
    )
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

function readGroups(claims: JsonObject, { groupsClaim, scope }: SignInSettings): readonly string[] {
  const value = claimAt(claims, groupsClaim)
  if (value === undefined || value === null) {
    if (isLeftOut(claims, groupsClaim))
      throw new NotLetInError(
        `the provider sends no claim ${groupsClaim}, since this person is in more groups than a token can list: have it send the groups that are assigned to its application, or roles of it`,
      )
    throw new NotLetInError(
      `the provider sends no claim ${groupsClaim} for the scopes ${scope}, so nobody knows this person's groups`,
    )
  }
  const names = namesInClaim(value)
  if (!names)
    throw new NotLetInError(
      `the provider sends the claim ${groupsClaim} in a form that names no group: have it send a list of names (sign_in.groups_claim)`,
    )
  return names
}
