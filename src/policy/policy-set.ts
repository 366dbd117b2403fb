/** Digests of compiled policies. Compile writes them, every decision checks them. Source: docs/design/policies.md#which-policies-apply */
import { digestOfJson, type Digest } from '../base/digest.ts'
import type { PolicyEntry, PolicySet } from '../spec/policy-set.ts'

/** Digest of what an entry does, without its origins: the same rule from two documents is one entry. */
export const entryIdOf = ({
  effect,
  when,
  allow,
  obligations,
  reason,
  message,
  authority_ref,
  scope,
}: Omit<PolicyEntry, 'id'>): Digest =>
  digestOfJson({ effect, when, allow, obligations, reason, message, authority_ref, scope })

/** Digest of a set without paths, lines and pointers. */
export const digestOfSet = ({ v, compiler, agent, entries, index, inherited }: Omit<PolicySet, 'digest'>): Digest =>
  digestOfJson({
    v,
    compiler,
    agent,
    entries: entries.map((entry) => ({
      ...entry,
      origin: entry.origin.map(({ kind, boundary, doc, digest }) => ({ kind, boundary, doc, digest })),
    })),
    index,
    inherited,
  })

/** The set with its digest. */
export const sealSet = (set: Omit<PolicySet, 'digest'>): PolicySet => ({ ...set, digest: digestOfSet(set) })
