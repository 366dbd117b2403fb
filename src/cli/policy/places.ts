/** Finds where comparisons stand in Policy documents, by their text. */
import { comparisonsIn } from '../../documents/facts/policies/comparisons.ts'
import type { Document } from '../../documents/text/document.ts'

export interface LeafPlace {
  /** Path for people: `conditions.any[1]`. */
  readonly node: string
  /** `policies/refund-limit.yaml:11`. */
  readonly source: string
}

export interface LeafPlaces {
  /** @param policy `namespace.name@version`; @param text of the comparison as `explain` gives it */
  of(policy: string, text: string): LeafPlace | undefined
}

export function placesOf(documents: readonly Document[]): LeafPlaces {
  const known = new Map<string, LeafPlace>()
  for (const document of documents) {
    const { kind, identity } = document
    if (kind !== 'Policy' || !identity) continue
    for (const { text, node, pointer } of comparisonsIn(document)) {
      const line = document.spanOf(pointer)?.start.line
      const key = placeKey(`${identity.id}@${identity.version}`, text)
      if (!known.has(key))
        known.set(key, { node, source: line === undefined ? document.path : `${document.path}:${line}` })
    }
  }
  return { of: (policy, text) => known.get(placeKey(policy, text)) }
}

const placeKey = (policy: string, text: string): string => `${policy}\0${text}`
