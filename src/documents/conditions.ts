/** Conditions of a Policy document with their places. Source: policies, section 2. */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import {
  readCondition,
  type Condition,
  type ConditionProblem,
  type Leaf,
  type ReadCondition,
} from '../policy/condition.ts'
import { readPath, type Path } from '../policy/path.ts'
import type { Document } from './document.ts'
import { pointerTo } from './pointer.ts'

const BASE = '/spec/conditions'

/** What is wrong with the conditions, at pointers into the document. */
export const conditionProblems = (policy: Document): readonly ConditionProblem[] => policy.once(readWhole).problems

/** The conditions as they are evaluated; undefined where there are none, or where they cannot be read. */
export const conditionOf = (policy: Document): Condition | undefined => policy.once(readWhole).condition

function readWhole(policy: Document): ReadCondition {
  const conditions = conditionsOf(policy)
  if (conditions === undefined) return { problems: [] }
  const { problems, ...read } = readCondition(conditions)
  return { ...read, problems: problems.map((problem) => ({ ...problem, pointer: BASE + problem.pointer })) }
}

export interface LeafUse {
  /** Of the leaf in its document. */
  readonly pointer: string
  readonly leaf: Leaf
}

/** The comparisons that can be read, wherever they are nested. */
export const leavesIn = (policy: Document): readonly LeafUse[] => policy.once(readLeaves)

const readLeaves = (policy: Document): readonly LeafUse[] =>
  comparisons(policy).flatMap(({ pointer, value }) => {
    const read = readCondition(value).condition
    return read !== undefined && 'leaf' in read ? [{ pointer, leaf: read.leaf }] : []
  })

export interface Group {
  readonly form: 'all' | 'any'
  /** Of the list in its document. */
  readonly pointer: string
  readonly members: readonly { readonly pointer: string; readonly condition: Condition }[]
}

/** The lists of conditions that can be read, wherever they are nested. */
export const groupsIn = (policy: Document): readonly Group[] => policy.once(readGroups)

function readGroups(policy: Document): readonly Group[] {
  const found: Group[] = []
  const visit = (value: JsonValue | undefined, pointer: string): void => {
    if (!isJsonObject(value)) return
    for (const form of ['all', 'any'] as const) {
      const list = value[form]
      if (!Array.isArray(list)) continue
      const members = list.map((member, index) => ({
        pointer: pointerTo(`${pointer}/${form}`, index),
        condition: readCondition(member).condition,
      }))
      for (const [index, { pointer: at }] of members.entries()) visit(list[index], at)
      if (members.every((each): each is Group['members'][number] => each.condition !== undefined))
        found.push({ form, pointer: `${pointer}/${form}`, members })
    }
    visit(value['not'], `${pointer}/not`)
  }
  visit(conditionsOf(policy), BASE)
  return found
}

export interface FieldUse {
  /** Of the field in its document. */
  readonly pointer: string
  readonly path: Path
}

/** The paths that comparisons name, whatever else is wrong with them. */
export const fieldsIn = (policy: Document): readonly FieldUse[] => policy.once(readFields)

const readFields = (policy: Document): readonly FieldUse[] =>
  comparisons(policy).flatMap(({ pointer, value }) => {
    const read = typeof value['field'] === 'string' ? readPath(value['field']) : undefined
    return read !== undefined && 'path' in read ? [{ pointer: `${pointer}/field`, path: read.path }] : []
  })

function comparisons(policy: Document): { readonly pointer: string; readonly value: JsonObject }[] {
  const found: { pointer: string; value: JsonObject }[] = []
  const visit = (value: JsonValue | undefined, pointer: string): void => {
    if (!isJsonObject(value)) return
    for (const form of ['all', 'any'] as const) {
      const members = value[form]
      if (!Array.isArray(members)) continue
      for (const [index, member] of members.entries()) visit(member, pointerTo(`${pointer}/${form}`, index))
    }
    visit(value['not'], `${pointer}/not`)
    if ('field' in value) found.push({ pointer, value })
  }
  visit(conditionsOf(policy), BASE)
  return found
}

function conditionsOf(policy: Document): JsonObject | undefined {
  const found = policy.kind === 'Policy' ? policy.at('spec.conditions')[0]?.value : undefined
  return isJsonObject(found) ? found : undefined
}
