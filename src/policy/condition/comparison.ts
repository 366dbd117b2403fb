/** Comparisons with their literals filled in. Source: docs/design/policies.md#conditions */
import type { JsonValue } from '../../base/json/json.ts'
import type { ConditionLeaf } from './condition.ts'
import { operatorRow } from './operators.ts'
import type { PathSegment } from './segment.ts'
import { compileSourceTest } from './sources.ts'
import { applyFunction, splitAtEach, walkPath } from './subject.ts'
import {
  combineAll,
  combineAny,
  UnusableValue,
  type SubjectValue,
  type TruthValue,
  type ValueTest,
  truthOf,
} from './truth.ts'

/**
 * Tests the value that `compileSubject` reads for the leaf.
 * @throws for a literal that `readCondition` would have refused
 */
export function compileComparison(leaf: ConditionLeaf): ValueTest {
  if (leaf.path.root === 'source') return compileSourceTest(leaf)
  const { path, op, value: literal, each, ifMissing } = leaf
  const missing = truthOf(ifMissing)
  const test = operatorRow(op).compileTest(literal, missing)
  if (each === undefined) return test
  const testElement = (value: SubjectValue): TruthValue => test(applyFunction(path, value))
  const { after = [] } = splitAtEach(path.segments)
  return (value) => {
    if (value === undefined) return test(undefined)
    return Array.isArray(value) ? testElements(value, after, each, testElement) : 'unknown'
  }
}

/** `any` of an empty list is false, `all` of one is unknown. */
function testElements(
  list: readonly JsonValue[],
  segments: readonly PathSegment[],
  each: 'any' | 'all',
  test: ValueTest,
): TruthValue {
  const { before, after } = splitAtEach(segments)
  const truths = list.map((element) => {
    const value = walkPath(element, before)
    if (!after || value === undefined || value instanceof UnusableValue) return test(value)
    return Array.isArray(value) ? testElements(value, after, each, test) : 'unknown'
  })
  if (each === 'any') return combineAny(truths)
  return truths.length === 0 ? 'unknown' : combineAll(truths)
}
