/** Comparisons made ready: what each is about, and what it makes of a value. Source: policies, section 2. */
import type { JsonValue } from '../../base/json.ts'
import type { ConditionLeaf } from './condition.ts'
import { operatorRow } from './operators.ts'
import type { PathSegment } from './path.ts'
import { toUsable, compileSubject, walkPath, type LeafSubject } from './subject.ts'
import { UnusableValue, type ValueTest, type TruthValue, type SubjectValue } from './truth.ts'

export interface LeafComparison {
  readonly subject: LeafSubject
  readonly judge: ValueTest
}

/** The comparison of a leaf. Leaves that ask the same have the same one, and those that are about the same the same subject. */
export type ComparisonGround = (leaf: ConditionLeaf) => LeafComparison

/** @throws where a literal has problems, which `readCondition` would have told */
export function createGround(): ComparisonGround {
  const subjects = new Map<string, LeafSubject>()
  const comparisons = new Map<string, LeafComparison>()
  return (leaf) => {
    const { path, op, value, each, ifMissing, windowMs } = leaf
    const about = `${windowMs ?? ''} ${path.text}`
    const subject = subjects.get(about) ?? compileSubject(leaf)
    subjects.set(about, subject)
    const asked = JSON.stringify([about, op, value, each, ifMissing])
    const comparison = comparisons.get(asked) ?? { subject, judge: compileLeaf(leaf) }
    comparisons.set(asked, comparison)
    return comparison
  }
}

function compileLeaf({ path, op, value, each, ifMissing }: ConditionLeaf): ValueTest {
  const missing = ifMissing === undefined ? 'unknown' : ifMissing ? 'true' : 'false'
  const judge = operatorRow(op).judge(value, missing)
  if (each === undefined) return judge
  const split = path.segments.findIndex((segment) => 'each' in segment)
  const judgeEach = compileEach(path.segments.slice(split + 1), each, toUsable(path), judge)
  return (value) => (Array.isArray(value) ? judgeEach(value) : value === undefined ? judge(undefined) : 'unknown')
}

/** Elements combined: `any` of none is false, `all` of none is unknown. */
function compileEach(
  segments: readonly PathSegment[],
  each: 'any' | 'all',
  clear: (value: SubjectValue) => SubjectValue,
  judge: ValueTest,
): (list: readonly JsonValue[]) => TruthValue {
  const next = segments.findIndex((segment) => 'each' in segment)
  const within = next === -1 ? segments : segments.slice(0, next)
  const deeper = next === -1 ? undefined : compileEach(segments.slice(next + 1), each, clear, judge)
  const decisive: TruthValue = each === 'any' ? 'true' : 'false'
  const judgeOne = (element: JsonValue): TruthValue => {
    const value = walkPath(element, within)
    if (!deeper || value === undefined || value instanceof UnusableValue) return judge(clear(value))
    return Array.isArray(value) ? deeper(value) : 'unknown'
  }
  return (list) => {
    if (list.length === 0) return each === 'any' ? 'false' : 'unknown'
    let result: TruthValue = each === 'any' ? 'false' : 'true'
    for (const element of list) {
      const truth = judgeOne(element)
      if (truth === decisive) return decisive
      if (truth === 'unknown') result = 'unknown'
    }
    return result
  }
}
