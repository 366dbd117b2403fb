/** Comparisons of `source.<path>`: where a run got the value of an argument. Source: docs/design/policies.md#where-a-value-comes-from */
import type { JsonValue } from '../../base/json/json.ts'
import type { ConditionLeaf } from './condition.ts'
import type { CallFacts } from './decision.ts'
import { operatorRow, type ConditionOperator } from './operators.ts'
import { stepInto } from './path.ts'
import type { PathSegment } from './segment.ts'
import {
  combineAll,
  combineAny,
  UnusableValue,
  type SubjectValue,
  type TruthValue,
  type ValueTest,
  truthOf,
} from './truth.ts'

/** Reads the names of the value at the path; of each value, where the path has `[*]`. */
export function compileSource(segments: readonly PathSegment[]): (facts: CallFacts) => SubjectValue {
  const isMany = segments.some((segment) => 'each' in segment)
  return (facts) => {
    const places = placesOf(facts.args, segments)
    if (places === undefined) return new UnusableValue()
    if (!isMany) return places[0] ? namesAt(facts, places[0]) : undefined
    // A list that is absent has no elements to ask about.
    if (!hasList(facts.args, segments)) return undefined
    return places.map((place) => {
      const names = namesAt(facts, place)
      return names instanceof UnusableValue || names === undefined ? null : names
    })
  }
}

function namesAt(facts: CallFacts, segments: readonly PathSegment[]): SubjectValue {
  const names = facts.source?.(segments)
  return names === undefined ? new UnusableValue() : [...names]
}

const hasList = (args: JsonValue, segments: readonly PathSegment[]): boolean => {
  let value: JsonValue | undefined = args
  for (const segment of segments) {
    if ('each' in segment) return value !== undefined
    value = stepInto(value, segment)
  }
  return value !== undefined
}

/** Maximum elements of a list whose sources are searched. */
const MAX_PLACES = 1000

/** The paths of the values that a path stands for; those that are absent left out. Undefined beyond the bound, or for no list. */
function placesOf(args: JsonValue, segments: readonly PathSegment[]): readonly (readonly PathSegment[])[] | undefined {
  let places: { readonly at: readonly PathSegment[]; readonly value: JsonValue }[] = [{ at: [], value: args }]
  for (const segment of segments) {
    const next: typeof places = []
    for (const { at, value } of places) {
      if ('each' in segment) {
        if (!Array.isArray(value)) return undefined
        if (next.length + value.length > MAX_PLACES) return undefined
        for (const [index, each] of value.entries()) next.push({ at: [...at, { index }], value: each })
      } else {
        const below = stepInto(value, segment)
        if (below !== undefined) next.push({ at: [...at, segment], value: below })
      }
    }
    places = next
  }
  return places.map(({ at }) => at)
}

/** Tests a set of names: positive operators hold when one fits, negative ones when none does. */
export function compileSourceTest({ op, value: literal, each, ifMissing }: ConditionLeaf): ValueTest {
  const missing = truthOf(ifMissing)
  const testNames = (names: SubjectValue | null): TruthValue => {
    const isKnown = Array.isArray(names)
    if (op === 'exists') return isKnown === literal ? 'true' : 'false'
    if (!isKnown) return 'unknown'
    return matches(op, literal, names as readonly JsonValue[]) ? 'true' : 'false'
  }
  if (each === undefined) return (names) => (names === undefined && op !== 'exists' ? missing : testNames(names))
  return (list) => {
    if (list === undefined) return op === 'exists' ? testNames(undefined) : missing
    if (!Array.isArray(list)) return op === 'exists' ? testNames(undefined) : 'unknown'
    const truths = (list as readonly JsonValue[]).map((names) => testNames(names))
    if (each === 'any') return combineAny(truths)
    return truths.length === 0 ? 'unknown' : combineAll(truths)
  }
}

/** The operator for one name of the set, where it is another one. */
const POSITIVE: Readonly<Partial<Record<ConditionOperator, ConditionOperator>>> = {
  ne: 'eq',
  not_in: 'in',
  contains: 'eq',
}

function matches(op: ConditionOperator, literal: JsonValue, names: readonly JsonValue[]): boolean {
  const test = operatorRow(POSITIVE[op] ?? op).compileTest(literal, 'unknown')
  const fits = names.some((name) => test(name) === 'true')
  return op === 'ne' || op === 'not_in' ? !fits : fits
}
