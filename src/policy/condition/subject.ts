/** Reads the value that a comparison tests from the facts of a call. Source: docs/design/policies.md#paths-and-functions */
import type { JsonValue } from '../../base/json/json.ts'
import type { ConditionLeaf } from './condition.ts'
import type { CallFacts } from './decision.ts'
import { fieldOf } from './field-of.ts'
import { FUNCTIONS } from './functions.ts'
import { compileSource } from './sources.ts'
import { stepInto, type ConditionPath } from './path.ts'
import type { PathSegment } from './segment.ts'
import { isOutOfRange, UnusableValue, type SubjectValue } from './truth.ts'

/** The path leads through a value without members. */
const UNREADABLE = new UnusableValue()

type SubjectReader = (facts: CallFacts) => SubjectValue

/** Reads the value at the path with the path's function applied; for a path with `[*]` the list before the first one. */
export function compileSubject({ path, each, windowMs }: ConditionLeaf): SubjectReader {
  if (path.history) {
    const { scope, whose, measure, by } = path.history
    // A measure that cannot be computed is unknown, not absent: `if_missing` must not apply.
    return (facts) => facts.history(scope, whose, measure, windowMs, by) ?? UNREADABLE
  }
  if (path.root === 'source') return compileSource(path.segments)
  const read = compileFact(path.root, splitAtEach(path.segments).before)
  return each === undefined ? (facts) => applyFunction(path, read(facts)) : read
}

function compileFact(root: ConditionPath['root'], segments: readonly PathSegment[]): SubjectReader {
  if (root === 'args') return (facts) => walkPath(facts.args, segments)
  const { read } = fieldOf(root, segments)
  const rest = segments.slice(1)
  return (facts) => walkPath(read(facts), rest)
}

/** The segments before the first `[*]` and those after it; `after` is undefined where there is none. */
export function splitAtEach(segments: readonly PathSegment[]): {
  readonly before: readonly PathSegment[]
  readonly after?: readonly PathSegment[]
} {
  const at = segments.findIndex((segment) => 'each' in segment)
  return at === -1 ? { before: segments } : { before: segments.slice(0, at), after: segments.slice(at + 1) }
}

/** The value with the path's function applied, unusable where it is out of range or the function has no result. */
export function applyFunction({ fn }: ConditionPath, value: SubjectValue): SubjectValue {
  if (value === undefined || value instanceof UnusableValue) return value
  const result = fn ? FUNCTIONS[fn](value) : value
  return result === undefined || isOutOfRange(value) ? new UnusableValue(result) : result
}

export function walkPath(start: JsonValue | undefined, segments: readonly PathSegment[]): SubjectValue {
  let value = start
  for (const segment of segments) {
    if (value === undefined) return undefined
    const hasMembers = typeof value === 'object' && value !== null && Array.isArray(value) === 'index' in segment
    if (!hasMembers) return UNREADABLE
    value = stepInto(value, segment)
  }
  return value
}
