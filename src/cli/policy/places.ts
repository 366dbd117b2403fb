/** Where the comparisons of policies were written. Compiled conditions are in a fixed order of their own. */
import type { JsonValue } from '../../base/json.ts'
import { isJsonObject } from '../../base/json.ts'
import type { Document } from '../../documents/text/document.ts'
import { readCondition } from '../../policy/condition/condition.ts'
import { describeLeaf } from '../../policy/condition/describe.ts'

export interface LeafPlace {
  /** As people name it: `conditions.any[1]`. */
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
    const note = (value: JsonValue | undefined, pointer: string, node: string): void => {
      if (!isJsonObject(value)) return
      for (const form of ['all', 'any'] as const) {
        const members = value[form]
        if (Array.isArray(members))
          members.forEach((member, at) => note(member, `${pointer}/${form}/${at}`, `${node}.${form}[${at}]`))
      }
      if (value['not'] !== undefined) note(value['not'], `${pointer}/not`, `${node}.not`)
      const condition = 'field' in value ? readCondition(value).condition : undefined
      if (!condition || !('leaf' in condition)) return
      const line = document.spanOf(pointer)?.start.line
      const key = keyOf(`${identity.id}@${identity.version}`, describeLeaf(condition.leaf))
      if (!known.has(key))
        known.set(key, { node, source: line === undefined ? document.path : `${document.path}:${line}` })
    }
    const { spec } = document.value
    if (isJsonObject(spec)) note(spec['conditions'], '/spec/conditions', 'conditions')
  }
  return { of: (policy, text) => known.get(keyOf(policy, text)) }
}

const keyOf = (policy: string, text: string): string => `${policy}\0${text}`
