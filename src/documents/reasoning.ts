/**
 * What can be proven about conditions by intervals and lists of values. Every answer is on the safe side: what is not
 * proven counts as possible. Source: lint rules, "policy"; policies, section 2.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import { leavesOf, type Condition, type Leaf } from '../policy/condition.ts'
import { operator, type Operator } from '../policy/operators.ts'
import { isSpread, type Path, type Segment } from '../policy/path.ts'
import { accepts, typesOf } from './property.ts'

/** The values that an argument may have, as far as its schema says them plainly. */
export interface Domain {
  readonly values: readonly JsonValue[] | undefined
  readonly low: Bound | undefined
  readonly high: Bound | undefined
  readonly integer: boolean
  readonly types: readonly string[]
  /** True when every call has it. */
  readonly required: boolean
}

interface Bound {
  readonly at: number
  /** True when the bound itself is left out. */
  readonly open: boolean
}

export type Domains = (path: Path) => Domain | undefined

const nothingKnown: Domains = () => undefined

/** False when no call can make the condition true. */
export function satisfiable(condition: Condition, domains: Domains = nothingKnown): boolean {
  if (domains !== nothingKnown) return isPossible(condition, domains)
  const known = byThemselves.get(condition) ?? isPossible(condition, domains)
  byThemselves.set(condition, known)
  return known
}

/** Several rules ask this of the same conditions. */
const byThemselves = new WeakMap<Condition, boolean>()

/** Most conditions can be true in the first way that comes to mind: only for the others are all ways written out. */
const isPossible = (condition: Condition, domains: Domains): boolean =>
  possible(firstBranch(condition, true), domains) ||
  (branches(condition, true) ?? [[]]).some((branch) => possible(branch, domains))

/** True when every call makes the condition true: never false, and never unknown. */
export function alwaysTrue(condition: Condition, domains: Domains): boolean {
  // Most conditions are refuted in the first way that comes to mind.
  if (possible(firstBranch(condition, false), domains)) return false
  if (!leavesOf(condition).every((leaf) => isNeverUnknown(leaf, domains))) return false
  const refuting = branches(condition, false)
  return refuting !== undefined && !refuting.some((branch) => possible(branch, domains))
}

function isNeverUnknown(leaf: Leaf, domains: Domains): boolean {
  const { path, op, ifMissing } = leaf
  const domain = path.fn === undefined ? domains(path) : undefined
  return (
    domain !== undefined && (op === 'exists' || ifMissing !== undefined || domain.required) && isJudged(leaf, domain)
  )
}

/** True when every value that makes the first true makes the second true. */
export function implies(first: Condition, second: Condition, domains: Domains = nothingKnown): boolean {
  const [one, other] = [branches(first, true), branches(second, false)]
  if (one === undefined || other === undefined || one.length * other.length > MAX_BRANCHES) return false
  return !one.some((a) => other.some((b) => possible([...a, ...b], domains)))
}

/**
 * True when whatever makes the condition true is held to a bound on some argument, or on what was done before. A least value,
 * an exception and presence are no bounds, nor is what the schema says already.
 */
export function isBounding(condition: Condition, domains: Domains): boolean {
  const ways = branches(condition, true)
  return ways === undefined || ways.every((branch) => branch.some((each) => isBound(each, domains)))
}

function isBound({ leaf, holds }: Literal, domains: Domains): boolean {
  const { path, op, value } = leaf
  if (path.root === 'history') return true
  if (path.root !== 'args' || (holds && alwaysTrue({ leaf }, domains))) return false
  if (op === 'exists') return (value === false) === holds
  if (path.fn === undefined && domains(path)?.values !== undefined) return true
  if (UNBOUNDED.includes(op)) return !holds
  return holds && !(typeof value === 'string' && ANY_TEXT[op]?.test(value))
}

/** Comparisons that leave everything beyond a value, or all but some values. */
const UNBOUNDED: readonly Operator[] = ['gt', 'gte', 'ne', 'not_in']
/** Values with which a comparison of texts says nothing. */
const ANY_TEXT: Readonly<Partial<Record<Operator, RegExp>>> = {
  starts_with: /^$/,
  ends_with: /^$/,
  contains: /^$/,
  matches: /^\^?(?:\.[*+])?\$?$/,
}

/** What the schema of the arguments says about one of them; undefined where it says nothing plainly. */
export function domainAt(schema: JsonObject | boolean, segments: readonly Segment[]): Domain | undefined {
  const here = argumentSchema(schema, segments)
  if (here === undefined) return undefined
  const types = typesOf(here)
  return {
    values: valuesOf(here, types),
    low: bound(here['minimum'], here['exclusiveMinimum'], Math.max),
    high: bound(here['maximum'], here['exclusiveMaximum'], Math.min),
    integer: types.length === 1 && types[0] === 'integer',
    types,
    required: isAlwaysThere(schema, segments),
  }
}

/** The schema of an argument, where that stands there plainly. */
function argumentSchema(schema: JsonObject | boolean, segments: readonly Segment[]): JsonObject | undefined {
  let here: JsonValue | undefined = schema
  for (const segment of segments) {
    if (!isJsonObject(here) || !('key' in segment)) return undefined
    const { properties }: JsonObject = here
    here = isJsonObject(properties) && Object.hasOwn(properties, segment.key) ? properties[segment.key] : undefined
  }
  return isJsonObject(here) ? here : undefined
}

/** True where a schema knows an argument, and lets a call leave it out. */
export const mayBeAbsent = (schema: JsonObject | boolean, segments: readonly Segment[]): boolean =>
  argumentSchema(schema, segments) !== undefined && !isAlwaysThere(schema, segments)

/** True where every step to an argument is required. */
function isAlwaysThere(schema: JsonObject | boolean, segments: readonly Segment[]): boolean {
  let here: JsonValue | undefined = schema
  for (const segment of segments) {
    if (!isJsonObject(here) || !('key' in segment)) return false
    const { properties, required }: JsonObject = here
    if (!Array.isArray(required) || !required.includes(segment.key)) return false
    here = isJsonObject(properties) ? properties[segment.key] : undefined
  }
  return segments.length > 0
}

function valuesOf(schema: JsonObject, types: readonly string[]): readonly JsonValue[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']!]
  if (Array.isArray(schema['enum'])) return schema['enum']
  return types.length === 1 && types[0] === 'boolean' ? [true, false] : undefined
}

function bound(
  closed: JsonValue | undefined,
  open: JsonValue | undefined,
  tighter: (a: number, b: number) => number,
): Bound | undefined {
  const one = typeof closed === 'number' ? { at: closed, open: false } : undefined
  const other = typeof open === 'number' ? { at: open, open: true } : undefined
  return one === undefined || other === undefined ? (one ?? other) : tightest(one, other, tighter)
}

const tightest = (a: Bound, b: Bound, tighter: (a: number, b: number) => number): Bound =>
  a.at === b.at ? { at: a.at, open: a.open || b.open } : tighter(a.at, b.at) === a.at ? a : b

/** A leaf, or its opposite. */
interface Literal {
  readonly leaf: Leaf
  readonly holds: boolean
}

/** More ways to be true than this are not looked at. */
const MAX_BRANCHES = 256

/** The condition, or its opposite, as alternatives of leaves that hold together; undefined when there are too many. */
function branches(condition: Condition, holds: boolean): readonly (readonly Literal[])[] | undefined {
  if ('leaf' in condition) return [[{ leaf: condition.leaf, holds }]]
  if ('not' in condition) return branches(condition.not, !holds)
  const together = 'all' in condition === holds
  const members = ('all' in condition ? condition.all : condition.any).map((each) => branches(each, holds))
  let result: readonly (readonly Literal[])[] | undefined = together ? [[]] : []
  for (const member of members) {
    if (member === undefined || result === undefined) return undefined
    result = together ? result.flatMap((left) => member.map((right) => [...left, ...right])) : [...result, ...member]
    if (result.length > MAX_BRANCHES) result = undefined
  }
  return result
}

/** The first of the branches, if there are not too many of them. */
function firstBranch(condition: Condition, holds: boolean): readonly Literal[] {
  const branch: Literal[] = []
  collectFirst(condition, holds, branch)
  return branch
}

function collectFirst(condition: Condition, holds: boolean, branch: Literal[]): void {
  if ('leaf' in condition) branch.push({ leaf: condition.leaf, holds })
  else if ('not' in condition) collectFirst(condition.not, !holds, branch)
  else {
    const together = 'all' in condition === holds
    const members = 'all' in condition ? condition.all : condition.any
    for (let at = 0; at < (together ? members.length : 1); at++) collectFirst(members[at]!, holds, branch)
  }
}

function possible(branch: readonly Literal[], domains: Domains): boolean {
  for (let at = 0; at < branch.length; at++) {
    const group = groupAt(branch, at)
    if (group !== undefined && !groupPossible(group, domains)) return false
  }
  return true
}

/** All that a branch says about one value, at the first place where it does; undefined at others. */
function groupAt(branch: readonly Literal[], first: number): readonly Literal[] | undefined {
  const literal = branch[first]!
  if (!isOneValue(literal)) return undefined
  const { text } = literal.leaf.path
  const group = [literal]
  for (let at = 0; at < branch.length; at++) {
    const other = branch[at]!
    if (at === first || other.leaf.path.text !== text || !isOneValue(other)) continue
    if (at < first) return undefined
    group.push(other)
  }
  return group
}

/** Elements of a list, and windows of another length, are other values under the same name. */
const isOneValue = ({ leaf: { path, windowMs } }: Literal): boolean => windowMs === undefined && !isSpread(path)

function groupPossible(group: readonly Literal[], domains: Domains): boolean {
  const { path } = group[0]!.leaf
  const domain = path.fn === undefined && path.root === 'args' ? domains(path) : undefined
  // Some value makes any one comparison true, and some other value makes it false.
  if (domain === undefined && group.length === 1) return true
  if (domain?.required !== true && group.every(holdsAbsent)) return true
  const listing = group.find((each) => listed(each) !== undefined)
  const values = listing === undefined ? domain?.values : listed(listing)
  if (values !== undefined) {
    // What is listed passes the comparison that lists it.
    const tests = group.filter((each) => each !== listing).map(testOf)
    return values.some(
      (value) =>
        tests.every((test) => test(value)) && within(value, domain) && (domain?.values?.includes(value) ?? true),
    )
  }
  if (group.some(isNumeric) && group.some(isTextual)) return false
  return group.every((each) => each.leaf.op !== 'exists' || (each.leaf.value === true) === each.holds)
    ? roomLeft(group, domain)
    : false
}

const holdsAbsent = ({ leaf, holds }: Literal): boolean => {
  if (leaf.op === 'exists') return (leaf.value === false) === holds
  return leaf.ifMissing !== undefined && leaf.ifMissing === holds
}

const testOf = ({ leaf, holds }: Literal): ((value: JsonValue) => boolean) => {
  const judge = operator(leaf.op).judge(leaf.value, 'unknown')
  return (value) => judge(value) === (holds ? 'true' : 'false')
}

/** The values that alone can make it hold. */
function listed({ leaf, holds }: Literal): readonly JsonValue[] | undefined {
  if (leaf.op === (holds ? 'eq' : 'ne')) return [leaf.value]
  return leaf.op === (holds ? 'in' : 'not_in') ? (leaf.value as JsonValue[]) : undefined
}

const NUMERIC: readonly Operator[] = ['gt', 'gte', 'lt', 'lte']
const TEXTUAL: readonly Operator[] = ['starts_with', 'ends_with', 'matches', 'cidr', 'semver']
const isNumeric = ({ leaf }: Literal): boolean => NUMERIC.includes(leaf.op)
const isTextual = ({ leaf }: Literal): boolean => TEXTUAL.includes(leaf.op)

function within(value: JsonValue, domain: Domain | undefined): boolean {
  if (typeof value !== 'number' || domain === undefined) return true
  const { low, high, integer } = domain
  if (integer && !Number.isInteger(value)) return false
  if (low !== undefined && (low.open ? value <= low.at : value < low.at)) return false
  return high === undefined || (high.open ? value < high.at : value <= high.at)
}

function roomLeft(group: readonly Literal[], domain: Domain | undefined): boolean {
  let { low, high } = domain ?? {}
  for (const { leaf, holds } of group) {
    if (!NUMERIC.includes(leaf.op)) continue
    const at = Number(leaf.value)
    const above = (leaf.op === 'gt' || leaf.op === 'gte') === holds
    const open = (leaf.op === 'gt' || leaf.op === 'lt') === holds
    if (above) low = low === undefined ? { at, open } : tightest(low, { at, open }, Math.max)
    else high = high === undefined ? { at, open } : tightest(high, { at, open }, Math.min)
  }
  if (low === undefined || high === undefined) return true
  if (domain?.integer !== true) return low.at < high.at || (low.at === high.at && !low.open && !high.open)
  const least = low.open ? Math.floor(low.at) + 1 : Math.ceil(low.at)
  const most = high.open ? Math.ceil(high.at) - 1 : Math.floor(high.at)
  return least <= most
}

/** For every value of the domain the comparison is true or false. */
function isJudged(leaf: Leaf, { types, values }: Domain): boolean {
  const judge = operator(leaf.op).judge(leaf.value, 'unknown')
  if (values !== undefined) return values.every((value) => judge(value) !== 'unknown')
  return types.length === 1 && types[0] !== 'array' && types[0] !== 'object' && accepts(types, leaf)
}
