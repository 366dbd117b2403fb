/**
 * Reads conditions of Policy documents as authors write them, and writes the canonical form that compiled policies
 * store. Source: docs/design/policies.md#conditions
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import { readDuration, writeDuration } from './duration.ts'
import { operatorRow, operatorOf, OPERATORS, SOURCE_OPERATORS, type ConditionOperator } from './operators.ts'
import { historyText, withKey } from './history.ts'
import type { PathSegment } from './segment.ts'
import { isSpread, readArgumentPath, readPath, type ConditionPath, type FactRoot } from './path.ts'
import { readWhen, textPointer, whenRange, type WhenNode } from './when.ts'
import { compareText } from '../../base/values/compare-text.ts'

export interface ConditionLeaf {
  readonly path: ConditionPath
  readonly op: ConditionOperator
  /** Always set, `true` for an `exists` without a value. */
  readonly value: JsonValue
  /** Set exactly when the path has `[*]`. */
  readonly each?: 'any' | 'all'
  /** The truth of the comparison for an absent value, in place of unknown. */
  readonly ifMissing?: boolean
  /** Set exactly for `history.window` and `history.workspace`. */
  readonly windowMs?: number
}

export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | { readonly leaf: ConditionLeaf }

export interface ConditionProblem {
  /** JSON pointer, below that of the conditions. */
  readonly pointer: string
  readonly message: string
  /** `cost`: a bound is exceeded. `type`: the literal does not fit the operator. `pattern`: not an RE2 pattern. */
  readonly code: 'syntax' | 'field' | 'type' | 'pattern' | 'cost'
  /** True for a key that comparisons do not have. */
  readonly unknownKey?: true
}

/** A comparison and its place in the document. */
export interface LeafUse {
  /** JSON pointer, like those of problems. */
  readonly pointer: string
  readonly leaf: ConditionLeaf
}

export interface ReadCondition {
  /** Absent when there is a problem. */
  readonly condition?: Condition
  /** Its leaves from left to right; set when `condition` is. */
  readonly leaves?: readonly LeafUse[]
  readonly problems: readonly ConditionProblem[]
}

/** Bounds of one policy's conditions. */
const MAX_DEPTH = 8
const MAX_LEAVES = 128
const MAX_LIST = 64

const FORMS = ['all', 'any', 'not', 'when'] as const
/** Keys of a comparison. */
export const LEAF_KEYS = ['field', 'op', 'value', 'each', 'if_missing', 'window', 'by']

/** @param pointer JSON pointer of the conditions in their document */
export function readCondition(value: JsonValue, pointer = ''): ReadCondition {
  const reader = new ConditionReader()
  const condition = reader.read(value, pointer, 1)
  const { problems, leaves, leafCount } = reader
  if (leafCount > MAX_LEAVES)
    reader.report(pointer, 'cost', `A policy has at most ${MAX_LEAVES} comparisons; there are ${leafCount}.`)
  return condition && problems.length === 0 ? { condition, leaves, problems } : { problems }
}

/**
 * The canonical tree: aliases resolved, defaults omitted, full paths, the members of `all` and `any` sorted. Two conditions
 * that differ only in spelling have the same tree.
 */
export function writeCondition(condition: Condition): JsonObject {
  if ('leaf' in condition) return writeLeaf(condition.leaf)
  if ('not' in condition) return { not: writeCondition(condition.not) }
  const form = 'all' in condition ? 'all' : 'any'
  const members = ('all' in condition ? condition.all : condition.any)
    .map(writeCondition)
    .map((member) => ({ member, text: canonicalJson(member) }))
    .sort((a, b) => compareText(a.text, b.text))
  return { [form]: members.map(({ member }) => member) }
}

/** The leaves from left to right. */
export function leavesOf(condition: Condition): readonly ConditionLeaf[] {
  const leaves: ConditionLeaf[] = []
  collect(condition, leaves)
  return leaves
}

/** The condition of a compiled policy; undefined for one without a condition, and for one that cannot be read. */
export const conditionOfEntry = ({ when }: Pick<PolicyEntry, 'when'>): Condition | undefined =>
  when && readCondition(when).condition

/** Every comparison of a compiled policy. */
export function leavesOfEntry(entry: Pick<PolicyEntry, 'when'>): readonly ConditionLeaf[] {
  const condition = conditionOfEntry(entry)
  return condition ? leavesOf(condition) : []
}

/** True where a condition compares a fact of this root, or of one field of it. A condition that cannot be read compares none. */
export function comparesFact(when: JsonValue, root: FactRoot, field?: string): boolean {
  const { condition } = readCondition(when)
  if (!condition) return false
  return leavesOf(condition).some(
    ({ path: { root: own, segments } }) => own === root && (field === undefined || isMember(segments[0], field)),
  )
}

const isMember = (segment: PathSegment | undefined, key: string): boolean =>
  segment !== undefined && 'key' in segment && segment.key === key

function collect(condition: Condition, leaves: ConditionLeaf[]): void {
  if ('leaf' in condition) leaves.push(condition.leaf)
  else if ('not' in condition) collect(condition.not, leaves)
  else {
    const members = 'all' in condition ? condition.all : condition.any
    for (const member of members) collect(member, leaves)
  }
}

function writeLeaf(leaf: ConditionLeaf): JsonObject {
  return {
    field: fieldText(leaf.path),
    op: leaf.op,
    ...(leaf.op === 'exists' && leaf.value === true ? {} : { value: leaf.value }),
    ...(leaf.each === undefined ? {} : { each: leaf.each }),
    ...(leaf.ifMissing === undefined ? {} : { if_missing: leaf.ifMissing }),
    ...(leaf.windowMs === undefined ? {} : { window: writeDuration(leaf.windowMs) }),
    ...(leaf.path.history?.by === undefined ? {} : { by: leaf.path.history.by }),
  }
}

/** The path as authors write it: what it counts by is a key of its own. */
const fieldText = ({ text, history }: ConditionPath): string =>
  history ? historyText(history.scope, history.whose, history.measure) : text

/** Facts that are lists, beside arguments. */
const LISTS: readonly string[] = ['agent.classifications', 'effect.previous.approved_by']

/** Reads one policy's conditions and collects problems and leaves. */
class ConditionReader {
  readonly problems: ConditionProblem[] = []
  readonly leaves: LeafUse[] = []
  /** Comparisons so far, valid or not. */
  leafCount = 0

  report(pointer: string, code: ConditionProblem['code'], message: string, more?: { unknownKey: true }): undefined {
    this.problems.push({ pointer, message, code, ...more })
  }

  read(value: JsonValue | undefined, pointer: string, depth: number): Condition | undefined {
    if (depth > MAX_DEPTH) return this.report(pointer, 'cost', `Conditions are nested at most ${MAX_DEPTH} deep.`)
    if (!isJsonObject(value))
      return this.report(pointer, 'syntax', 'A condition is a mapping: all, any, not, when, or a field to compare.')
    const keys = Object.keys(value)
    if (keys.length === 0)
      return this.report(pointer, 'syntax', 'An empty condition says nothing; leave `conditions` out for always.')
    const form = formOf(value)
    if (form === undefined) return this.#readLeaf(value, keys, pointer)
    if (keys.length > 1) {
      const forms = FORMS.filter((each) => keys.includes(each))
      return this.report(
        pointer,
        'syntax',
        forms.length > 1
          ? `${forms.join(' and ')} do not stand side by side: nest them.`
          : `Beside ${form} there is nothing else in a condition.`,
      )
    }
    if (form === 'when') return this.#readText(value['when'], `${pointer}/when`, depth)
    if (form === 'not') {
      const inner = this.read(value['not'], `${pointer}/not`, depth + 1)
      return inner && { not: inner }
    }
    const members = this.#readList(value[form], `${pointer}/${form}`, depth)
    return members && (form === 'all' ? { all: members } : { any: members })
  }

  #readText(value: JsonValue | undefined, pointer: string, depth: number): Condition | undefined {
    if (typeof value !== 'string')
      return this.report(pointer, 'syntax', '`when` is a text such as "args.amount > 100 and run.depth == 0".')
    const found = readWhen(value)
    return 'node' in found
      ? this.#readNode(found.node, pointer, depth)
      : this.report(textPointer(pointer, found.range), 'syntax', found.problem)
  }

  /** Applies the bounds of conditions that are written out. */
  #readNode(node: WhenNode, pointer: string, depth: number): Condition | undefined {
    const at = textPointer(pointer, whenRange(node))
    if (depth > MAX_DEPTH) return this.report(at, 'cost', `Conditions are nested at most ${MAX_DEPTH} deep.`)
    if ('test' in node) return this.#readLeaf(node.test.leaf, Object.keys(node.test.leaf), at)
    if ('not' in node) {
      const inner = this.#readNode(node.not, pointer, depth + 1)
      return inner && { not: inner }
    }
    const parts = 'all' in node ? node.all : node.any
    if (parts.length > MAX_LIST)
      return this.report(at, 'cost', `A list has at most ${MAX_LIST} conditions; this one has ${parts.length}.`)
    const members = parts.flatMap((part) => this.#readNode(part, pointer, depth + 1) ?? [])
    if (members.length < parts.length) return undefined
    return 'all' in node ? { all: members } : { any: members }
  }

  #readList(value: JsonValue | undefined, pointer: string, depth: number): Condition[] | undefined {
    if (!Array.isArray(value) || value.length === 0)
      return this.report(pointer, 'syntax', 'A list of conditions with at least one member belongs here.')
    if (value.length > MAX_LIST)
      return this.report(pointer, 'cost', `A list has at most ${MAX_LIST} conditions; this one has ${value.length}.`)
    const members: Condition[] = []
    for (let at = 0; at < value.length; at++) {
      const member = this.read(value[at], `${pointer}/${at}`, depth + 1)
      if (member !== undefined) members.push(member)
    }
    return members.length === value.length ? members : undefined
  }

  #readLeaf(value: JsonObject, keys: readonly string[], pointer: string): Condition | undefined {
    this.leafCount++
    const before = this.problems.length
    for (const key of keys) {
      if (!LEAF_KEYS.includes(key))
        this.report(
          pointerTo(pointer, key),
          'syntax',
          `A comparison has no key "${key}"; it has ${LEAF_KEYS.join(', ')}.`,
          { unknownKey: true },
        )
    }
    const { field, each, if_missing: ifMissing, window, by } = value
    const path = this.#readBy(by, this.#readField(field, pointer), pointer)
    const op = this.#readOperator(value['op'], pointer)
    if (each !== undefined && each !== 'any' && each !== 'all')
      this.report(`${pointer}/each`, 'syntax', '`each` is any or all.')
    if (ifMissing !== undefined && typeof ifMissing !== 'boolean')
      this.report(`${pointer}/if_missing`, 'syntax', '`if_missing` is true or false.')
    const windowMs = this.#readWindow(window, path, pointer)
    if (!path || !op) return undefined
    const literal = this.#readLiteral(value, op, pointer)
    this.#checkFit(path, op, pointer)
    const spread = this.#readEach(path, each, pointer)
    if (this.problems.length > before || literal === undefined) return undefined
    const leaf: { -readonly [Key in keyof ConditionLeaf]: ConditionLeaf[Key] } = { path: spread, op, value: literal }
    if (each !== undefined) leaf.each = each as 'any' | 'all'
    if (ifMissing !== undefined) leaf.ifMissing = ifMissing as boolean
    if (windowMs !== undefined) leaf.windowMs = windowMs
    this.leaves.push({ pointer, leaf })
    return { leaf }
  }

  #readField(field: JsonValue | undefined, pointer: string): ConditionPath | undefined {
    if (typeof field !== 'string')
      return this.report(
        field === undefined ? pointer : `${pointer}/field`,
        'syntax',
        'A comparison names its `field`.',
      )
    const found = readPath(field)
    if ('path' in found) return found.path
    return this.report(`${pointer}/field`, found.code, found.problem)
  }

  #readOperator(op: JsonValue | undefined, pointer: string): ConditionOperator | undefined {
    if (op === undefined) return 'eq'
    const found = typeof op === 'string' ? operatorOf(op) : undefined
    return (
      found ??
      this.report(
        `${pointer}/op`,
        'syntax',
        `There is no operator ${JSON.stringify(op)}; there are ${Object.keys(OPERATORS).join(', ')}.`,
      )
    )
  }

  #readLiteral(leaf: JsonObject, op: ConditionOperator, pointer: string): JsonValue | undefined {
    const value = op === 'exists' && leaf['value'] === undefined ? true : leaf['value']
    const problem = operatorRow(op).problem(value)
    if (problem === undefined) return value
    const sentence = problem.startsWith('`') || op === 'within' ? problem : `\`${op}\` ${problem}.`
    if (value === undefined) return this.report(pointer, 'syntax', sentence)
    return this.report(`${pointer}/value`, op === 'matches' && typeof value === 'string' ? 'pattern' : 'type', sentence)
  }

  #checkFit(path: ConditionPath, op: ConditionOperator, pointer: string): void {
    if (path.root === 'source' && !SOURCE_OPERATORS.includes(op))
      this.report(
        `${pointer}/op`,
        'type',
        `${path.text} is a set of names; it is tested with ${SOURCE_OPERATORS.join(', ')}.`,
      )
    if ((path.root === 'time') !== (op === 'within'))
      this.report(
        `${pointer}/op`,
        'type',
        path.root === 'time' ? `${path.text} is compared with \`within\`.` : '`within` compares time.now.',
      )
  }

  #readEach(path: ConditionPath, each: JsonValue | undefined, pointer: string): ConditionPath {
    const spread = isSpread(path)
    if (spread && each === undefined)
      this.report(pointer, 'syntax', `${path.text} stands for many values: say \`each: any\` or \`each: all\`.`)
    if (spread || each === undefined) return path
    if (path.root !== 'args' && path.root !== 'source' && !LISTS.includes(path.text)) {
      this.report(`${pointer}/each`, 'syntax', `${path.text} is one value; \`each\` is for lists.`)
      return path
    }
    // `each` on a list without `[*]` means its elements.
    const inner = path.fn === undefined ? path.text : path.text.slice(path.fn.length + 1, -1)
    const text = path.fn === undefined ? `${inner}[*]` : `${path.fn}(${inner}[*])`
    return { ...path, text, segments: [...path.segments, { each: true }] }
  }

  #readBy(by: JsonValue | undefined, path: ConditionPath | undefined, pointer: string): ConditionPath | undefined {
    if (by === undefined || !path) return path
    if (!path.history) {
      this.report(`${pointer}/by`, 'syntax', '`by` belongs to history paths.')
      return path
    }
    const key = typeof by === 'string' ? readArgumentPath(by) : undefined
    if (!key || key.segments.length === 0) {
      this.report(`${pointer}/by`, 'syntax', '`by` is one argument path, for example args.customer.')
      return path
    }
    return { ...path, text: withKey(path.text, key.text), history: { ...path.history, by: key.text } }
  }

  #readWindow(window: JsonValue | undefined, path: ConditionPath | undefined, pointer: string): number | undefined {
    const wanted = path?.history?.scope === 'window' || path?.history?.scope === 'workspace'
    if (window === undefined)
      return wanted ? this.report(pointer, 'syntax', `${path?.text} needs a \`window\`, for example 10m.`) : undefined
    const duration = typeof window === 'string' ? readDuration(window) : undefined
    if (duration === undefined)
      return this.report(`${pointer}/window`, 'syntax', 'A window is a duration such as 30s, 10m, 12h or 7d.')
    if (!wanted && path)
      return this.report(
        `${pointer}/window`,
        'syntax',
        '`window` belongs to history.window and history.workspace paths.',
      )
    return duration
  }
}

/** The first of the forms that the mapping has. */
const formOf = (mapping: JsonObject): (typeof FORMS)[number] | undefined =>
  FORMS.find((form) => mapping[form] !== undefined)
