/** The comparisons of a Policy document, with their places: compiled conditions are sorted, their texts are the same. */
import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import { readCondition } from '../../../policy/condition/condition.ts'
import { describeLeaf } from '../../../policy/condition/describe.ts'
import type { Document } from '../../text/document.ts'

export interface WrittenComparison {
  /** As explanations give it: `args.amount > 100`. */
  readonly text: string
  /** Path for people: `conditions.any[1]`. */
  readonly node: string
  readonly pointer: string
}

/** In the order in which they are written; what cannot be read is left out. */
export function comparisonsIn({ value: { spec } }: Document): readonly WrittenComparison[] {
  const found: WrittenComparison[] = []
  const visit = (value: JsonValue | undefined, pointer: string, node: string): void => {
    if (!isJsonObject(value)) return
    for (const form of ['all', 'any'] as const) {
      const members = value[form]
      if (Array.isArray(members))
        members.forEach((member, at) => visit(member, `${pointer}/${form}/${at}`, `${node}.${form}[${at}]`))
    }
    if (value['not'] !== undefined) visit(value['not'], `${pointer}/not`, `${node}.not`)
    const condition = 'field' in value ? readCondition(value).condition : undefined
    if (condition && 'leaf' in condition) found.push({ text: describeLeaf(condition.leaf), node, pointer })
  }
  if (isJsonObject(spec)) visit(spec['conditions'], '/spec/conditions', 'conditions')
  return found
}
