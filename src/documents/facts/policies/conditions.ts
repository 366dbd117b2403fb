/** Conditions of a Policy document with their places. Source: docs/design/policies.md#conditions */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import {
  readCondition,
  type Condition,
  type ConditionProblem,
  type ConditionLeaf,
  type LeafUse,
  type ReadCondition,
} from '../../../policy/condition/condition.ts'
import { innerPathText, readPath, type ConditionPath } from '../../../policy/condition/path.ts'
import { readWhen, textPointer, whenRange, whenTests, type WhenNode } from '../../../policy/condition/when.ts'
import { mappingIn, type Document } from '../../text/document.ts'
import { pointerTo } from '../../../base/json/pointer.ts'

const BASE = '/spec/conditions'

/** Problems of the conditions, at pointers into the document. */
export const conditionProblems = (policy: Document): readonly ConditionProblem[] => policy.memoize(readWhole).problems

/** The condition as it is evaluated; undefined where there is none or it cannot be read. */
export const conditionOf = (policy: Document): Condition | undefined => policy.memoize(readWhole).condition

function readWhole(policy: Document): ReadCondition {
  const conditions = conditionsOf(policy)
  return conditions === undefined ? NOTHING : readCondition(conditions, BASE)
}

const NOTHING: ReadCondition = { problems: [] }

/** The readable comparisons, at any depth. */
export const leavesIn = (policy: Document): readonly LeafUse[] => policy.memoize(readLeaves)

function readLeaves(policy: Document): readonly LeafUse[] {
  const { leaves } = policy.memoize(readWhole)
  if (leaves !== undefined) return leaves
  // With a problem in the condition, each comparison is read separately.
  return policy.memoize(comparisons).flatMap(({ pointer, value }) => {
    const leaf = leafOf(value)
    return leaf === undefined ? [] : [{ pointer, leaf }]
  })
}

/** True where a readable condition compares the same value more than once: only then can its comparisons contradict or repeat each other. */
export const comparesAgain = (policy: Document): boolean => policy.memoize(readsAgain)

function readsAgain(policy: Document): boolean {
  const { leaves = [] } = policy.memoize(readWhole)
  return new Set(leaves.map(({ leaf }) => innerPathText(leaf.path))).size < leaves.length
}

function leafOf(value: JsonObject): ConditionLeaf | undefined {
  const read = readCondition(value).condition
  return read !== undefined && 'leaf' in read ? read.leaf : undefined
}

export interface ConditionGroup {
  readonly form: 'all' | 'any'
  /** Of the list in its document. */
  readonly pointer: string
  readonly members: readonly { readonly pointer: string; readonly condition: Condition }[]
  /** The members together. */
  readonly condition: Condition
}

/** The readable `all` and `any` lists, at any depth. */
export const groupsIn = (policy: Document): readonly ConditionGroup[] => policy.memoize(readGroups)

function readGroups(policy: Document): readonly ConditionGroup[] {
  const found: ConditionGroup[] = []
  const visit = (value: JsonValue | undefined, pointer: string, read: Condition | undefined): void => {
    if (!isJsonObject(value)) return
    for (const form of FORMS) {
      const list = value[form]
      if (!Array.isArray(list)) continue
      const known = read && membersOf(read)
      const members = list.map((member, index) => ({
        pointer: pointerTo(`${pointer}/${form}`, index),
        condition: known === undefined ? readCondition(member).condition : known[index],
      }))
      for (const [index, member] of members.entries()) visit(list[index], member.pointer, member.condition)
      if (members.every((each): each is ConditionGroup['members'][number] => each.condition !== undefined)) {
        const conditions = members.map(({ condition }) => condition)
        const condition = read ?? (form === 'all' ? { all: conditions } : { any: conditions })
        found.push({ form, pointer: `${pointer}/${form}`, members, condition })
      }
    }
    visit(value['not'], `${pointer}/not`, read && 'not' in read ? read.not : undefined)
    const text = parseWhen(value)
    if (text !== undefined) visitText(text, `${pointer}/when`, read ?? readCondition(value).condition)
  }
  const visitText = (node: WhenNode, pointer: string, condition: Condition | undefined): void => {
    if (condition === undefined || 'test' in node) return
    if ('not' in node) return visitText(node.not, pointer, 'not' in condition ? condition.not : undefined)
    const [form, parts] = 'all' in node ? (['all', node.all] as const) : (['any', node.any] as const)
    const conditions = membersOf(condition) ?? []
    for (const [index, part] of parts.entries()) visitText(part, pointer, conditions[index])
    const members = conditions.flatMap((condition, index) => {
      const part = parts[index]
      return part === undefined ? [] : [{ pointer: textPointer(pointer, whenRange(part)), condition }]
    })
    found.push({ form, pointer: textPointer(pointer, whenRange(node)), members, condition })
  }
  visit(conditionsOf(policy), BASE, conditionOf(policy))
  return found
}

const FORMS = ['all', 'any'] as const

function membersOf(condition: Condition): readonly Condition[] | undefined {
  if ('all' in condition) return condition.all
  return 'any' in condition ? condition.any : undefined
}

export interface FieldUse {
  /** Of the field in its document. */
  readonly pointer: string
  readonly path: ConditionPath
}

/** The paths in comparisons, including comparisons with other faults. */
export const fieldsIn = (policy: Document): readonly FieldUse[] => policy.memoize(readFields)

function readFields(policy: Document): readonly FieldUse[] {
  return policy.memoize(comparisons).flatMap(({ pointer, value }) => {
    const path = pathOf(value['field'])
    return path === undefined ? [] : [{ pointer: `${pointer}/field`, path }]
  })
}

function pathOf(field: JsonValue | undefined): ConditionPath | undefined {
  const read = typeof field === 'string' ? readPath(field) : undefined
  return read !== undefined && 'path' in read ? read.path : undefined
}

function comparisons(policy: Document): readonly { readonly pointer: string; readonly value: JsonObject }[] {
  const found: { pointer: string; value: JsonObject }[] = []
  const visit = (value: JsonValue | undefined, pointer: string): void => {
    if (!isJsonObject(value)) return
    for (const form of FORMS) {
      const members = value[form]
      if (Array.isArray(members)) members.forEach((member, index) => visit(member, `${pointer}/${form}/${index}`))
    }
    if ('not' in value) visit(value['not'], `${pointer}/not`)
    if ('field' in value) found.push({ pointer, value })
    const text = parseWhen(value)
    if (text !== undefined)
      for (const { leaf, range } of whenTests(text))
        found.push({ pointer: textPointer(`${pointer}/when`, range), value: leaf })
  }
  visit(conditionsOf(policy), BASE)
  return found
}

/** The parsed text of a condition on one line; undefined where it cannot be read. */
function parseWhen({ when }: JsonObject): WhenNode | undefined {
  const read = typeof when === 'string' ? readWhen(when) : undefined
  return read !== undefined && 'node' in read ? read.node : undefined
}

function conditionsOf(policy: Document): JsonObject | undefined {
  const { conditions } = policy.kind === 'Policy' ? mappingIn(policy, 'spec') : {}
  return isJsonObject(conditions) ? conditions : undefined
}
