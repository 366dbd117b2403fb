/** Collects the entries of one policy set. The same rule becomes one entry, however often it is attached. */
import { compareText } from '../../base/values/compare-text.ts'
import type { Digest } from '../../base/digest.ts'
import { canonicalJson } from '../../base/json/json.ts'
import { entryIdOf, sealSet } from '../../policy/policy-set.ts'
import type { PolicyOrigin, PolicyEntry, PolicySet } from '../../spec/policy-set.ts'

/** Changes with the meaning of compiled policies, so that sets of different compilers have different digests. */
const COMPILER = '1'

export type EntryContent = Omit<PolicyEntry, 'id' | 'origin'>

export function createEntries(agent: string) {
  const entries = new Map<
    Digest,
    { readonly content: EntryContent; readonly names: Set<string>; readonly origin: PolicyOrigin[] }
  >()
  const index = new Map<string, Set<Digest>>()
  const inherited = new Set<Digest>()
  return {
    /** Adds an entry, or one more origin to it. */
    add(content: EntryContent, origin: PolicyOrigin): Digest {
      const id = entryIdOf({ ...content, origin: [] })
      const known = entries.get(id) ?? { content, names: new Set(), origin: [] }
      known.names.add(`${content.policy}\0${content.version}`)
      known.origin.push(origin)
      entries.set(id, known)
      return id
    },
    /** Adds a wire name to the index, with an entry that applies to its calls. */
    addToIndex(wire: string, id?: Digest): void {
      const ids = index.get(wire) ?? new Set()
      if (id) ids.add(id)
      index.set(wire, ids)
    },
    inherit: (id: Digest): void => void inherited.add(id),
    seal: (): PolicySet =>
      sealSet({
        v: 1,
        compiler: COMPILER,
        agent,
        entries: [...entries]
          .sort(([a], [b]) => compareText(a, b))
          .map(([id, { content, names, origin }]) => {
            // The first name in order, so that the result does not depend on which document was read first.
            const [policy = '', version = ''] = [...names].sort().slice(0, 1).join('').split('\0')
            return { ...content, id, policy, version, origin: sortOrigins(origin) }
          }),
        index: Object.fromEntries(
          [...index].sort(([a], [b]) => compareText(a, b)).map(([wire, ids]) => [wire, [...ids].sort()]),
        ),
        inherited: [...inherited].sort(),
      }),
  }
}

/** Each origin once, in an order that does not depend on paths. */
function sortOrigins(origins: readonly PolicyOrigin[]): readonly PolicyOrigin[] {
  const byIdentity = new Map<string, PolicyOrigin>()
  for (const origin of origins) {
    const { kind, boundary, doc, digest } = origin
    const key = canonicalJson({ kind, boundary, doc, digest })
    if (!byIdentity.has(key)) byIdentity.set(key, origin)
  }
  return [...byIdentity].sort(([a], [b]) => compareText(a, b)).map(([, origin]) => origin)
}
