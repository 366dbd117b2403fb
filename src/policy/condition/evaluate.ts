/** Evaluates conditions for one call in three-valued logic, with a trace. Source: docs/design/policies.md#three-valued-logic */
import type { JsonValue } from '../../base/json/json.ts'
import type { Condition, ConditionLeaf } from './condition.ts'
import type { CallFacts } from './decision.ts'
import { compileSubject, applyFunction, splitAtEach, walkPath } from './subject.ts'
import {
  combineAll,
  combineAny,
  negateTruth,
  showValue,
  type TruthValue,
  UnusableValue,
  type SubjectValue,
  type ValueTest,
  truthOf,
} from './truth.ts'
import { operatorRow } from './operators.ts'
import type { PathSegment } from './segment.ts'
import { compileSourceTest } from './sources.ts'

export interface EvaluatedLeaf {
  readonly truth: TruthValue
  /** The value that the comparison tested; undefined = absent, or nothing that can be shown. */
  readonly value: JsonValue | undefined
}

export interface EvaluatedCondition {
  readonly truth: TruthValue
  /** Every comparison, from left to right. */
  readonly seen: readonly EvaluatedLeaf[]
}

/** A condition whose literals are filled in, so that it can be evaluated for many calls. */
export type ConditionEvaluator = (facts: CallFacts) => EvaluatedCondition

/** @throws for a literal that `readCondition` would have refused */
export function compileCondition(condition: Condition): ConditionEvaluator {
  const evaluate = compileNode(condition)
  return (facts) => {
    const seen: EvaluatedLeaf[] = []
    return { truth: evaluate(facts, seen), seen }
  }
}

export const evaluateCondition = (condition: Condition, facts: CallFacts): EvaluatedCondition =>
  compileCondition(condition)(facts)

/** Appends each comparison below the node to `seen`. All are evaluated, also where the first one decides: the trace is whole. */
type NodeEvaluator = (facts: CallFacts, seen: EvaluatedLeaf[]) => TruthValue

function compileNode(condition: Condition): NodeEvaluator {
  if ('leaf' in condition) {
    const read = compileSubject(condition.leaf)
    const test = compileComparison(condition.leaf)
    return (facts, seen) => {
      const value = read(facts)
      const truth = test(value)
      seen.push({ truth, value: showValue(value) })
      return truth
    }
  }
  if ('not' in condition) {
    const inner = compileNode(condition.not)
    return (facts, seen) => negateTruth(inner(facts, seen))
  }
  const [members, combine] = 'all' in condition ? [condition.all, combineAll] : [condition.any, combineAny]
  const nodes = members.map(compileNode)
  return (facts, seen) => combine(nodes.map((node) => node(facts, seen)))
}

/**
 * Tests the value that `compileSubject` reads for the leaf.
 * @throws for a literal that `readCondition` would have refused
 */
function compileComparison(leaf: ConditionLeaf): ValueTest {
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
