/**
 * Whether one value of a domain can satisfy several comparisons at once. "No" is proven; "yes" means only that it is not excluded.
 * Source: docs/design/prover.md#bounds-and-lists
 */
import type { JsonValue } from '../../base/json/json.ts'
import type { ConditionLeaf } from '../condition/condition.ts'
import { operatorRow, type ConditionOperator } from '../condition/operators.ts'
import { innerPathText, isSpread, withoutFunction, type ConditionPath } from '../condition/path.ts'
import { applyFunction } from '../condition/subject.ts'
import { UnusableValue, type SubjectValue, truthOf } from '../condition/truth.ts'
import { domainAfter } from './function-domain.ts'
import { literalPattern } from './pattern-fit.ts'
import {
  ANY_VALUE,
  isPossibleValue,
  typeOf,
  type NumberBound,
  type PossibleValues,
  type ValueType,
} from './possible-values.ts'
import { onlyItem } from '../../base/values/collections.ts'

/** A comparison that must be true (`holds`) or must be false; an unknown result is neither. */
export interface SignedComparison {
  readonly leaf: ConditionLeaf
  readonly holds: boolean
}

/** Comparisons with one value or with functions of it. */
export type ComparisonGroup = readonly [SignedComparison, ...SignedComparison[]]

/** Comparisons with the same value share this name; undefined for `[*]`, which compares many values. */
export function subjectName({ leaf: { path, windowMs } }: SignedComparison): string | undefined {
  // A set of names may satisfy comparisons that no single value does.
  if (isSpread(path) || path.root === 'source') return undefined
  const inner = innerPathText(path)
  return windowMs === undefined ? inner : `${inner} ${windowMs}`
}

/**
 * @param group comparisons with one value or with functions of it
 * @param domain of the value itself; undefined = unknown, also for its functions
 */
export function canSatisfy(group: ComparisonGroup, domain: PossibleValues | undefined): boolean {
  const [first] = group
  const { leaf } = first
  if (leaf.path.root === 'source') return true
  // Over all values, a single comparison is true for some and false for others.
  if (domain === undefined && group.length === 1) return true
  if (isSpread(leaf.path)) return admitsElement(first, domain ?? ANY_VALUE)
  const tests = group.map(testOf)
  const passes = (value: SubjectValue): boolean => tests.every((test) => test(value))
  const { absent, unreadable, values } = domain ?? ANY_VALUE
  if ((absent && passes(undefined)) || (unreadable && passes(new UnusableValue()))) return true
  const own = group.filter(({ leaf: { path } }) => path.fn === undefined)
  const listing = own.map(listed).find((each) => each !== undefined)
  const candidates = listing?.filter((value) => isPossibleValue(domain ?? ANY_VALUE, value)) ?? values
  if (candidates !== undefined) return candidates.some(passes)
  const functions = new Set(group.map(({ leaf: { path } }) => path.fn))
  return [...functions].every((fn) =>
    admitsAmong(
      group.filter(({ leaf: { path } }) => path.fn === fn),
      domain === undefined ? ANY_VALUE : domainAfter(fn, domain),
    ),
  )
}

/** True where the comparison is unknown for every present value. */
export function isAlwaysUnknown(leaf: ConditionLeaf, domain: PossibleValues): boolean {
  if (leaf.op === 'exists' || leaf.op === 'type' || leaf.path.root === 'source') return false
  const { values, types } = domain
  if (types.length === 0 || values?.length === 0) return false
  const after = domainAfter(leaf.path.fn, domain)
  if (values !== undefined) {
    const [yes, no] = [testOf({ leaf, holds: true }), testOf({ leaf, holds: false })]
    return values.every((value) => !yes(value) && !no(value))
  }
  return !after.types.some((type) => isComparable(leaf, type))
}

/** True where the comparison is known for every present value. */
export function isAlwaysCompared(leaf: ConditionLeaf, { values, types }: PossibleValues): boolean {
  if (leaf.path.root === 'source') return false
  const [yes, no] = [testOf({ leaf, holds: true }), testOf({ leaf, holds: false })]
  if (values !== undefined) return values.every((value) => yes(value) || no(value))
  const type = onlyItem(types)
  return type !== undefined && type !== 'array' && type !== 'object' && isComparable(leaf, type)
}

function admitsElement(literal: SignedComparison, domain: PossibleValues): boolean {
  const { leaf, holds } = literal
  // `any` of an empty list is false.
  if (leaf.each === 'any' && !holds) return true
  const { op, value, ifMissing } = leaf
  const path: ConditionPath = { ...leaf.path, segments: [] }
  return canSatisfy([{ leaf: { path, op, value, ...(ifMissing !== undefined && { ifMissing }) }, holds }], domain)
}

/** Tests a value to which the function of the path is still to be applied. */
function testOf({ leaf, holds }: SignedComparison): (value: SubjectValue) => boolean {
  const { path, op, value: literal, ifMissing } = leaf
  const test = operatorRow(op).compileTest(literal, truthOf(ifMissing))
  return (value) => test(applyFunction(path, value)) === (holds ? 'true' : 'false')
}

/** The only values with which the comparison can hold; undefined where they cannot be listed. */
function listed({ leaf: { op, value }, holds }: SignedComparison): readonly JsonValue[] | undefined {
  if (op === (holds ? 'eq' : 'ne')) return [value]
  if (op === 'matches' && holds) {
    const pattern = literalPattern(value as string)
    return pattern?.start && pattern.end ? [pattern.text] : undefined
  }
  return op === (holds ? 'in' : 'not_in') ? (value as JsonValue[]) : undefined
}

/** `canSatisfy` for comparisons with the results of one function. */
function admitsAmong(group: readonly SignedComparison[], domain: PossibleValues): boolean {
  const { values, unreadable, types } = domain
  const bare = group.map(({ leaf, holds }): SignedComparison => ({
    leaf: { ...leaf, path: withoutFunction(leaf.path) },
    holds,
  }))
  const tests = bare.map(testOf)
  const passes = (value: SubjectValue): boolean => tests.every((test) => test(value))
  if (unreadable && passes(new UnusableValue())) return true
  const listing = bare.map(listed).find((each) => each !== undefined)
  const candidates = listing?.filter((value) => isPossibleValue(domain, value)) ?? values
  if (candidates !== undefined) return candidates.some(passes)
  // `exists` and `type` accept values of any type.
  if (bare.every(({ leaf: { op } }) => op === 'exists' || op === 'type'))
    return types.some((type) => samplesOf(type, domain).some(passes))
  return types.some(
    (type) => bare.every((each) => isComparable(each.leaf, type)) && admitsType(type, bare, domain, passes),
  )
}

function samplesOf(type: ValueType, { integer }: PossibleValues): readonly JsonValue[] {
  switch (type) {
    case 'null':
      return [null]
    case 'boolean':
      return [true, false]
    case 'number':
      return integer ? [1] : [1, 1.5]
    case 'string':
      return ['x']
    case 'array':
      return [[]]
    case 'object':
      return [{}]
  }
}

const NUMERIC: readonly ConditionOperator[] = ['gt', 'gte', 'lt', 'lte', 'within']
const TEXTUAL: readonly ConditionOperator[] = ['starts_with', 'ends_with', 'matches', 'cidr', 'semver']

/** False where the comparison is unknown for every value of the type. */
function isComparable({ op, value }: ConditionLeaf, type: ValueType): boolean {
  if (NUMERIC.includes(op)) return type === 'number'
  if (TEXTUAL.includes(op)) return type === 'string'
  if (op === 'contains') return type === 'array' || (type === 'string' && typeof value === 'string')
  if (op === 'eq' || op === 'ne') return value === null || typeOf(value) === type
  if (op === 'in' || op === 'not_in') return (value as JsonValue[]).some((each) => typeOf(each) === type)
  return true
}

function admitsType(
  type: ValueType,
  group: readonly SignedComparison[],
  domain: PossibleValues,
  passes: (value: JsonValue) => boolean,
): boolean {
  switch (type) {
    case 'null':
      return passes(null)
    case 'boolean':
      return passes(true) || passes(false)
    case 'number':
      return admitsNumber(group, domain, passes)
    case 'string':
      return admitsText(group, domain, passes)
    case 'array':
      return admitsList(group, domain)
    case 'object':
      return hasType({}, group)
  }
}

const hasType = (sample: JsonValue, group: readonly SignedComparison[]): boolean =>
  group.every((each) => (each.leaf.op !== 'type' && each.leaf.op !== 'exists') || testOf(each)(sample))

/** Integers in a range that are tried one by one; a larger range counts as satisfiable. */
const MAX_TRIED = 256

function admitsNumber(
  group: readonly SignedComparison[],
  domain: PossibleValues,
  passes: (value: JsonValue) => boolean,
): boolean {
  const [integers, others] = [hasType(1, group), !domain.integer && hasType(1.5, group)]
  if (!integers && !others) return false
  const SAFE = Number.MAX_SAFE_INTEGER
  let low: NumberBound = tighter(domain.low, { at: -SAFE, open: false }, 1)
  let high: NumberBound = tighter(domain.high, { at: SAFE, open: false }, -1)
  for (const { leaf, holds } of group) {
    if (!NUMERIC.includes(leaf.op) || leaf.op === 'within') continue
    const at = Number(leaf.value)
    const above = (leaf.op === 'gt' || leaf.op === 'gte') === holds
    const open = (leaf.op === 'gt' || leaf.op === 'lt') === holds
    if (above) low = tighter(low, { at, open }, 1)
    else high = tighter(high, { at, open }, -1)
  }
  if (others) return low.at === high.at ? !low.open && !high.open && passes(low.at) : low.at < high.at
  const least = low.open ? Math.floor(low.at) + 1 : Math.ceil(low.at)
  const most = high.open ? Math.ceil(high.at) - 1 : Math.floor(high.at)
  if (most - least >= MAX_TRIED) return true
  for (let value = least; value <= most; value++) if (passes(value) && isPossibleValue(domain, value)) return true
  return false
}

/** @param side 1 for lower bounds, -1 for upper ones */
function tighter(one: NumberBound | undefined, other: NumberBound, side: 1 | -1): NumberBound {
  if (one === undefined) return other
  if (one.at === other.at) return { at: one.at, open: one.open || other.open }
  return one.at * side > other.at * side ? one : other
}

function admitsText(
  group: readonly SignedComparison[],
  domain: PossibleValues,
  passes: (value: JsonValue) => boolean,
): boolean {
  if (!hasType('', group)) return false
  const { least, most } = domain.size.string
  if (least > most) return false
  if (most === 0) return passes('')
  const parts = group.flatMap(partOf)
  const [has, lacks] = [parts.filter(({ holds }) => holds), parts.filter(({ holds }) => !holds)]
  const starts = has.filter(({ start }) => start).map(({ text }) => text)
  const ends = has.filter(({ end }) => end).map(({ text }) => text)
  if (!nested(starts, (a, b) => a.startsWith(b)) || !nested(ends, (a, b) => a.endsWith(b))) return false
  return (
    has.every(
      ({ text, start, end }) =>
        lengthOf(text) <= most &&
        domain.lacks?.(text) !== true &&
        !lacks.some((other) => {
          if (!other.start && !other.end) return text.includes(other.text)
          if (other.start && other.end) return false
          return other.start ? start && text.startsWith(other.text) : end && text.endsWith(other.text)
        }),
    ) && !lacks.some(({ text }) => text === '')
  )
}

/** A text that must stand in a value, or must not: at the beginning, at the end, or anywhere. */
interface TextPart {
  readonly text: string
  readonly start: boolean
  readonly end: boolean
  readonly holds: boolean
}

function partOf({ leaf: { op, value }, holds }: SignedComparison): readonly TextPart[] {
  if (typeof value !== 'string') return []
  const text = value
  if (op === 'starts_with') return [{ text, start: true, end: false, holds }]
  if (op === 'ends_with') return [{ text, start: false, end: true, holds }]
  if (op === 'contains') return [{ text, start: false, end: false, holds }]
  const pattern = op === 'matches' ? literalPattern(text) : undefined
  // A pattern anchored at both ends that does not hold excludes only one value.
  return pattern === undefined || (pattern.start && pattern.end) ? [] : [{ ...pattern, holds }]
}

/** Of any two one is the beginning, or the end, of the other. */
const nested = (texts: readonly string[], within: (a: string, b: string) => boolean): boolean =>
  texts.every((one) => texts.every((other) => within(one, other) || within(other, one)))

/** Ignores half of a surrogate pair at either end: the other half may be beside it in the value. */
const lengthOf = (text: string): number => Array.from(text.replaceAll(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')).length

function admitsList(group: readonly SignedComparison[], domain: PossibleValues): boolean {
  if (!hasType([], group)) return false
  const { least, most } = domain.size.array
  if (least > most) return false
  return group.every(({ leaf, holds }) => {
    if (leaf.op !== 'contains' || !holds) return true
    return most > 0 && domain.refusesElement?.(leaf.value) !== true
  })
}
