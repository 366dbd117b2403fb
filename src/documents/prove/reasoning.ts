/**
 * What can be proven about conditions by intervals and lists of values. Every answer is on the safe side: what is not
 * proven counts as possible. Source: lint rules, "policy"; policies, section 2.
 */
import { leavesOf, type Condition, type ConditionLeaf } from '../../policy/condition/condition.ts'
import type { ConditionOperator } from '../../policy/condition/operators.ts'
import { admits, isAlwaysCompared, subjectName, type Literal } from './admits.ts'
import type { Domains } from './value-domain.ts'

const nothingKnown: Domains = () => undefined

/** False when no call can make the condition true. */
export function isSatisfiable(condition: Condition, domains: Domains = nothingKnown): boolean {
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

function isNeverUnknown(leaf: ConditionLeaf, domains: Domains): boolean {
  const { path, op, ifMissing, each } = leaf
  const domain = path.fn === undefined && each === undefined ? domains(path) : undefined
  if (domain === undefined) return false
  const { absent, unreadable } = domain
  return (op === 'exists' || ((ifMissing !== undefined || !absent) && !unreadable)) && isAlwaysCompared(leaf, domain)
}

/** True when every value that makes the first true makes the second true. */
export function conditionImplies(first: Condition, second: Condition, domains: Domains = nothingKnown): boolean {
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
const UNBOUNDED: readonly ConditionOperator[] = ['gt', 'gte', 'ne', 'not_in']
/** Values with which a comparison of texts says nothing. */
const ANY_TEXT: Readonly<Partial<Record<ConditionOperator, RegExp>>> = {
  starts_with: /^$/,
  ends_with: /^$/,
  contains: /^$/,
  matches: /^\^?(?:\.[*+])?\$?$/,
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
    if (group !== undefined && !admits(group, domains(group[0]!.leaf.path))) return false
  }
  return true
}

/** All that a branch says about one value, at the first place where it does; undefined at others. */
function groupAt(branch: readonly Literal[], first: number): readonly Literal[] | undefined {
  const literal = branch[first]!
  const name = subjectName(literal)
  const group = [literal]
  if (name === undefined) return group
  for (let at = 0; at < branch.length; at++) {
    const other = branch[at]!
    if (at === first || subjectName(other) !== name) continue
    if (at < first) return undefined
    group.push(other)
  }
  return group
}
