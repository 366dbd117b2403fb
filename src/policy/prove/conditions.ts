/**
 * Proofs about conditions from intervals and lists of values. Answers are conservative: what is not proven counts as possible.
 * Source: docs/design/prover.md#bounds-and-lists
 */
import { leavesOf, type Condition, type ConditionLeaf } from '../condition/condition.ts'
import type { ConditionOperator } from '../condition/operators.ts'
import {
  canSatisfy,
  isAlwaysCompared,
  subjectName,
  type SignedComparison,
  type ComparisonGroup,
} from './satisfiable.ts'
import type { PossibleValuesAt } from './possible-values.ts'

const unknownDomains: PossibleValuesAt = () => undefined

/** False when no call can make the condition true. */
export function isSatisfiable(condition: Condition, domains: PossibleValuesAt = unknownDomains): boolean {
  if (domains !== unknownDomains) return isPossible(condition, domains)
  const known = satisfiableAlone.get(condition) ?? isPossible(condition, domains)
  satisfiableAlone.set(condition, known)
  return known
}

/** Cached for conditions without domains: several rules ask about the same ones. */
const satisfiableAlone = new WeakMap<Condition, boolean>()

/** Tries the first branch before expanding all: it is satisfiable in most conditions. */
const isPossible = (condition: Condition, domains: PossibleValuesAt): boolean =>
  isBranchPossible(firstBranch(condition, true), domains) ||
  (expandBranches(condition, true) ?? [[]]).some((branch) => isBranchPossible(branch, domains))

/** True when every call makes the condition true: never false, and never unknown. */
export function isAlwaysTrue(condition: Condition, domains: PossibleValuesAt): boolean {
  // Quick check first: the first branch refutes most conditions.
  if (isBranchPossible(firstBranch(condition, false), domains)) return false
  if (!leavesOf(condition).every((leaf) => isNeverUnknown(leaf, domains))) return false
  const refuting = expandBranches(condition, false)
  return refuting !== undefined && !refuting.some((branch) => isBranchPossible(branch, domains))
}

/** True when every call makes the comparison true or false. */
export function isNeverUnknown(leaf: ConditionLeaf, domains: PossibleValuesAt = unknownDomains): boolean {
  const { path, op, ifMissing, each } = leaf
  // The elements of a value that is not a list are unknown to every comparison.
  if (each !== undefined) return false
  if (op === 'exists' || op === 'type') return true
  const domain = path.fn === undefined ? domains(path) : undefined
  if (domain === undefined) return false
  const { absent, unreadable } = domain
  return (ifMissing !== undefined || !absent) && !unreadable && isAlwaysCompared(leaf, domain)
}

/** True when every value that makes the first true makes the second true. */
export function conditionImplies(first: Condition, second: Condition): boolean {
  const [one, other] = [expandBranches(first, true), expandBranches(second, false)]
  if (one === undefined || other === undefined || one.length * other.length > MAX_BRANCHES) return false
  return !one.some((a) => other.some((b) => isBranchPossible([...a, ...b], unknownDomains)))
}

/**
 * True when every call that makes the condition true is bounded in some argument or in the history. A lower bound, an exception
 * and presence do not count, nor does what the schema requires anyway.
 */
export function isBounding(condition: Condition, domains: PossibleValuesAt): boolean {
  const ways = expandBranches(condition, true)
  return ways === undefined || ways.every((branch) => branch.some((each) => isBound(each, domains)))
}

function isBound({ leaf, holds }: SignedComparison, domains: PossibleValuesAt): boolean {
  const { path, op, value } = leaf
  if (path.root === 'history') return true
  if (path.root === 'source') return op === 'exists' || UNBOUNDED.includes(op) ? false : holds
  if (path.root !== 'args' || (holds && isAlwaysTrue({ leaf }, domains))) return false
  if (op === 'exists') return (value === false) === holds
  if (path.fn === undefined && domains(path)?.values !== undefined) return true
  if (UNBOUNDED.includes(op)) return !holds
  return holds && !(typeof value === 'string' && ANY_TEXT[op]?.test(value))
}

/** Comparisons that are true for unboundedly many values. */
const UNBOUNDED: readonly ConditionOperator[] = ['gt', 'gte', 'ne', 'not_in']
/** Operands with which a comparison is true for every text. */
const ANY_TEXT: Readonly<Partial<Record<ConditionOperator, RegExp>>> = {
  starts_with: /^$/,
  ends_with: /^$/,
  contains: /^$/,
  matches: /^\^?(?:\.[*+])?\$?$/,
}

/** Limit of the expansion into branches, which grows exponentially. */
const MAX_BRANCHES = 256

/** The condition or its negation in disjunctive normal form; undefined above MAX_BRANCHES. */
function expandBranches(condition: Condition, holds: boolean): readonly (readonly SignedComparison[])[] | undefined {
  if ('leaf' in condition) return [[{ leaf: condition.leaf, holds }]]
  if ('not' in condition) return expandBranches(condition.not, !holds)
  const together = 'all' in condition === holds
  const members = ('all' in condition ? condition.all : condition.any).map((each) => expandBranches(each, holds))
  let result: readonly (readonly SignedComparison[])[] | undefined = together ? [[]] : []
  for (const member of members) {
    if (member === undefined || result === undefined) return undefined
    result = together ? result.flatMap((left) => member.map((right) => [...left, ...right])) : [...result, ...member]
    if (result.length > MAX_BRANCHES) result = undefined
  }
  return result
}

/** The first branch of the normal form, without expanding the others. */
function firstBranch(condition: Condition, holds: boolean): readonly SignedComparison[] {
  const branch: SignedComparison[] = []
  collectFirst(condition, holds, branch)
  return branch
}

function collectFirst(condition: Condition, holds: boolean, branch: SignedComparison[]): void {
  if ('leaf' in condition) branch.push({ leaf: condition.leaf, holds })
  else if ('not' in condition) collectFirst(condition.not, !holds, branch)
  else {
    const together = 'all' in condition === holds
    const members = 'all' in condition ? condition.all : condition.any
    for (const member of together ? members : members.slice(0, 1)) collectFirst(member, holds, branch)
  }
}

function isBranchPossible(branch: readonly SignedComparison[], domains: PossibleValuesAt): boolean {
  return groupsOf(branch).every((group) => canSatisfy(group, domains(group[0].leaf.path)))
}

/** The comparisons of a branch, those with the same value together. */
function groupsOf(branch: readonly SignedComparison[]): readonly ComparisonGroup[] {
  const groups: [SignedComparison, ...SignedComparison[]][] = []
  const named = new Map<string, SignedComparison[]>()
  for (const comparison of branch) {
    const name = subjectName(comparison)
    const known = name === undefined ? undefined : named.get(name)
    if (known) {
      known.push(comparison)
      continue
    }
    const group: [SignedComparison, ...SignedComparison[]] = [comparison]
    groups.push(group)
    if (name !== undefined) named.set(name, group)
  }
  return groups
}
