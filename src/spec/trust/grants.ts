/** What grants of a trust document let signers do. Source: docs/design/trust.md#grants */
import { keyOwnerOf, type TrustDocument, type TrustGrant, type TrustKey, type TrustVerb } from './trust-document.ts'

export interface GrantQuestion {
  readonly verb: TrustVerb
  /** `namespace.name`. */
  readonly id: string
  /** It may do more than what it replaces. */
  readonly widens: boolean
}

type Who = Pick<TrustDocument, 'people'>

/** Why no grant lets the signers do it; undefined where one does. Grants only add to each other. */
export function findUngranted(
  trust: Pick<TrustDocument, 'people' | 'grants'>,
  signers: readonly Pick<TrustKey, 'id'>[],
  { verb, id, widens }: GrantQuestion,
): string | undefined {
  let nearest: { readonly have: number; readonly need: number } | undefined
  for (const grant of trust.grants) {
    if (!allows(grant, verb) || !covers(grant, id)) continue
    const have = new Set(signers.filter((key) => isNamed(trust, grant, key.id)).map((key) => keyOwnerOf(trust, key.id)))
      .size
    const need = grant.when === 'widens' && !widens ? 1 : grant.count
    if (have >= need) return undefined
    if (have > 0 && (nearest === undefined || need - have < nearest.need - nearest.have)) nearest = { have, need }
  }
  const names = [...new Set(signers.map((key) => keyOwnerOf(trust, key.id)))].join(', ')
  return nearest
    ? `to ${verb} ${id} takes the signatures of ${nearest.need} people, and ${nearest.have} signed (${names})`
    : `nothing lets ${names} ${verb} ${id}`
}

/** Who may deploy may go back, too. */
export const allows = ({ may }: Pick<TrustGrant, 'may'>, verb: TrustVerb): boolean =>
  may.includes(verb) || (verb === 'rollback' && may.includes('deploy'))

export const covers = ({ in: subject }: Pick<TrustGrant, 'in'>, id: string): boolean =>
  subject.endsWith('*') ? id.startsWith(subject.slice(0, -1)) : id === subject

/** True where a grant names the key, its owner, or a role of the owner. */
export function isNamed({ people }: Who, { who }: Pick<TrustGrant, 'who'>, keyId: string): boolean {
  const owner = people.find(({ keys }) => keys.includes(keyId))
  const names = [keyId, ...(owner ? [owner.id, ...owner.roles.map((role) => `role:${role}`)] : [])]
  return names.some((name) => who.includes(name))
}
