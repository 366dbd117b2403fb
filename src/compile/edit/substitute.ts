/** Substitutes policies in a compiled set. */
import type { Digest } from '../../base/digest.ts'
import { sealSet } from '../../policy/policy-set.ts'
import type { PolicyEntry, PolicySet } from '../../spec/policy-set.ts'

/**
 * Replaces a policy of the same name wherever it was attached; a new policy applies to the calls that `given` lists.
 * @param given a set for the same wire names
 */
export function substitutePolicies(set: PolicySet, given: PolicySet): PolicySet {
  const replaced = new Set(given.entries.map(({ policy }) => policy))
  const known = new Set(set.entries.map(({ policy }) => policy))
  const [old, fresh] = [byId(set), byId(given)]
  const namesIn = (ids: readonly Digest[]) => new Set(ids.flatMap((id) => old.get(id)?.policy ?? []))
  const dropped = new Set(set.entries.flatMap(({ id, policy }) => (replaced.has(policy) ? id : [])))
  const keep = (ids: readonly Digest[]) => ids.filter((id) => !dropped.has(id))
  const index = Object.fromEntries(
    Object.entries(set.index).map(([wire, ids]) => {
      const here = namesIn(ids)
      const added = (given.index[wire] ?? []).filter((id) => {
        const policy = fresh.get(id)?.policy
        return policy !== undefined && (here.has(policy) || !known.has(policy))
      })
      return [wire, [...keep(ids), ...added]]
    }),
  )
  const inheritedNames = namesIn(set.inherited)
  const inherited = [
    ...keep(set.inherited),
    ...given.entries
      .filter(({ policy, effect }) => inheritedNames.has(policy) && effect !== 'grant')
      .map(({ id }) => id),
  ]
  const used = new Set([...Object.values(index).flat(), ...inherited])
  const entries = [...new Map([...old, ...fresh])].flatMap(([id, entry]) => (used.has(id) ? entry : []))
  return sealSet({ ...set, entries, index, inherited })
}

const byId = ({ entries }: PolicySet): Map<Digest, PolicyEntry> => new Map(entries.map((entry) => [entry.id, entry]))
