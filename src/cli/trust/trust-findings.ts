/** What in a trust document does not do what it seems to. Source: docs/design/trust.md#findings */
import { toIsoText, type Instant } from '../../base/clock.ts'
import { isNamed, covers } from '../../spec/trust/grants.ts'
import { keyOwnerOf, type TrustDocument, type TrustGrant } from '../../spec/trust/trust-document.ts'
import { findLapse } from '../../spec/trust/verify-signed.ts'

export interface TrustFinding {
  readonly rule: 'trust/expired' | 'trust/unusable-grant' | 'trust/unreachable-role' | 'trust/no-separation'
  readonly severity: 'error' | 'warning'
  /** JSON pointer into the document. */
  readonly pointer: string
  readonly message: string
}

/** A policy that asks for approvals by people of a role. */
export interface AskedRole {
  readonly policy: string
  readonly role: string
}

export function findTrustFindings(
  trust: TrustDocument,
  now: Instant,
  asked: readonly AskedRole[],
): readonly TrustFinding[] {
  return [
    ...expiredOf(trust, now),
    ...trust.grants.flatMap((grant, index) => unusable(trust, grant, index, now)),
    ...unreachable(trust, asked),
    ...unseparated(trust, now),
  ]
}

function expiredOf({ expires, keys, roots, ...trust }: TrustDocument, now: Instant): readonly TrustFinding[] {
  const found: TrustFinding[] = []
  const add = (severity: TrustFinding['severity'], pointer: string, message: string): void =>
    void found.push({ rule: 'trust/expired', severity, pointer, message })
  if (expires !== undefined && now >= expires)
    add('error', '/metadata/expires', `The document expired at ${toIsoText(expires)}: nothing signed is taken.`)
  keys.forEach((key, index) => {
    const why = findLapse(key, now)
    if (why !== undefined) add('warning', `/spec/keys/${index}`, `The key ${key.id} ${why}.`)
  })
  const good = roots.keys.filter((id) => keys.some((key) => key.id === id && findLapse(key, now) === undefined))
  const people = new Set(good.map((id) => keyOwnerOf(trust, id)))
  if (people.size < roots.threshold)
    add(
      'error',
      '/spec/roots',
      `Only ${people.size} of ${roots.threshold} roots can still sign: no newer document can be installed.`,
    )
  return found
}

/** Keys that still count and that a grant names. */
const keysOf = (trust: TrustDocument, grant: TrustGrant, now: Instant): readonly string[] =>
  trust.keys.filter((key) => isNamed(trust, grant, key.id) && findLapse(key, now) === undefined).map(({ id }) => id)

function unusable(trust: TrustDocument, grant: TrustGrant, index: number, now: Instant): readonly TrustFinding[] {
  const people = new Set(keysOf(trust, grant, now).map((id) => keyOwnerOf(trust, id))).size
  const pointer = `/spec/grants/${index}`
  const known = new Set([
    ...trust.keys.map(({ id }) => id),
    ...trust.people.flatMap(({ id, roles }) => [id, ...roles.map((role) => `role:${role}`)]),
  ])
  const strangers = grant.who.flatMap((who, at): readonly TrustFinding[] =>
    known.has(who)
      ? []
      : [
          {
            rule: who.startsWith('role:') ? 'trust/unreachable-role' : 'trust/unusable-grant',
            severity: 'error',
            pointer: `${pointer}/who/${at}`,
            message: who.startsWith('role:') ? `Nobody has the ${who.replace(':', ' ')}.` : `Nobody is called ${who}.`,
          },
        ],
  )
  if (people >= grant.count || strangers.length > 0) return strangers
  const message = `It takes ${grant.count} ${grant.count === 1 ? 'person' : 'people'} with a good key, and names ${people}: nobody can use it.`
  return [{ rule: 'trust/unusable-grant', severity: 'error', pointer, message }]
}

function unreachable({ people }: TrustDocument, asked: readonly AskedRole[]): readonly TrustFinding[] {
  const carried = new Set(people.flatMap(({ roles }) => roles))
  return asked
    .filter(({ role }) => !carried.has(role))
    .map(({ policy, role }) => ({
      rule: 'trust/unreachable-role',
      severity: 'warning',
      pointer: '/spec/people',
      message: `${policy} asks for approvals by the role ${role}, which nobody here has.`,
    }))
}

/** Who can publish and deploy the same agent alone needs nobody else. */
function unseparated(trust: TrustDocument, now: Instant): readonly TrustFinding[] {
  const alone = (verb: 'publish' | 'deploy') =>
    trust.grants.filter((each) => each.may.includes(verb) && each.count === 1)
  const owners = (grant: TrustGrant) => new Set(keysOf(trust, grant, now).map((id) => keyOwnerOf(trust, id)))
  const found = new Map<string, TrustFinding>()
  for (const publishing of alone('publish'))
    for (const deploying of alone('deploy')) {
      if (!meet(publishing, deploying)) continue
      const deployers = owners(deploying)
      for (const who of owners(publishing))
        if (deployers.has(who) && !found.has(who))
          found.set(who, {
            rule: 'trust/no-separation',
            severity: 'warning',
            pointer: `/spec/grants/${trust.grants.indexOf(deploying)}`,
            message: `${who} can publish and deploy ${narrower(publishing, deploying)} alone.`,
          })
    }
  return [...found.values()]
}

const meet = (one: TrustGrant, other: TrustGrant): boolean =>
  covers(one, other.in.replace(/\*$/, '')) || covers(other, one.in.replace(/\*$/, ''))

const narrower = (one: TrustGrant, other: TrustGrant): string => (one.in.length > other.in.length ? one.in : other.in)
