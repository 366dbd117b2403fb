/** Finds where comparisons stand in Policy documents, by their text: compiled conditions are sorted. */
import type { JsonValue } from '../../base/json/json.ts'
import { isJsonObject } from '../../base/json/json.ts'
import type { Document } from '../../documents/text/document.ts'
import { readCondition } from '../../policy/condition/condition.ts'
import { describeLeaf } from '../../policy/condition/describe.ts'

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
    const addPlaces = (value: JsonValue | undefined, pointer: string, node: string): void => {
      if (!isJsonObject(value)) return
      for (const form of ['all', 'any'] as const) {
        const members = value[form]
        if (Array.isArray(members))
          members.forEach((member, at) => addPlaces(member, `${pointer}/${form}/${at}`, `${node}.${form}[${at}]`))
      }
      if (value['not'] !== undefined) addPlaces(value['not'], `${pointer}/not`, `${node}.not`)
      const condition = 'field' in value ? readCondition(value).condition : undefined
      if (!condition || !('leaf' in condition)) return
      const line = document.spanOf(pointer)?.start.line
      const key = placeKey(`${identity.id}@${identity.version}`, describeLeaf(condition.leaf))
      if (!known.has(key))
        known.set(key, { node, source: line === undefined ? document.path : `${document.path}:${line}` })
    }
    const { spec } = document.value
    if (isJsonObject(spec)) addPlaces(spec['conditions'], '/spec/conditions', 'conditions')
  }
  return { of: (policy, text) => known.get(placeKey(policy, text)) }
}

const placeKey = (policy: string, text: string): string => `${policy}\0${text}`
