/** Finds what would change a decision by trying other values, one field at a time. Source: docs/design/policies.md#replay */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import { leavesOf, type ConditionLeaf } from '../condition/condition.ts'
import type { PolicyDecision, CallFacts } from '../condition/decision.ts'
import { describeValue } from '../condition/describe.ts'
import { historyText } from '../condition/history.ts'
import { argumentAt, readArgumentPath, type ConditionPath } from '../condition/path.ts'
import type { PathSegment } from '../condition/segment.ts'
import type { PolicyRule } from '../rules.ts'
import { ownMember } from '../../base/json/own-member.ts'

type DecidedAs = PolicyDecision['decision']

/** `allow if args.amount <= 100`, `deny if args.country in "DE", "FR"`, for fields that conditions test by equality, order or list. */
export function findTurningPoints(
  rules: readonly PolicyRule[],
  now: DecidedAs,
  decideWith: (facts: CallFacts) => DecidedAs,
  facts: CallFacts,
): readonly string[] {
  const fields = fieldsOf(rules.flatMap(({ condition }) => (condition ? leavesOf(condition) : [])))
  return withSums(fields, facts).flatMap((field) => {
    const decideAt = (value: JsonValue): DecidedAs => {
      const other = withValueAt(facts, field, value)
      return other === undefined ? now : decideWith(other)
    }
    return [...numberTurns(field, decideAt, now), ...valueTurns(field, decideAt, now)]
  })
}

/** A path with the literals that conditions compare it with. */
interface ComparedField {
  readonly path: ConditionPath
  readonly windowMs?: number
  readonly text: string
  readonly numbers: Set<number>
  readonly others: Set<string | boolean | null>
}

/** Maximum fields, and values of each, that are tried: somebody waits for the explanation. */
const MAX_FIELDS = 32
const MAX_VALUES = 32
const COMPARED = new Set(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in'])
/** Facts that another call could have differently; agent, tool and principal stay the same. */
const VARIED = new Set(['args', 'history', 'run', 'session'])

function fieldsOf(leaves: readonly ConditionLeaf[]): readonly ComparedField[] {
  const fields = new Map<string, ComparedField>()
  for (const { path, op, value, each, windowMs } of leaves) {
    if (!VARIED.has(path.root) || path.fn || each || !COMPARED.has(op)) continue
    const text = path.history
      ? historyText(path.history.scope, path.history.whose, path.history.measure, windowMs, path.history.by)
      : path.text
    const field = fields.get(text) ?? {
      path,
      ...(windowMs !== undefined && { windowMs }),
      text,
      numbers: new Set(),
      others: new Set(),
    }
    for (const literal of Array.isArray(value) ? value : [value]) {
      if (typeof literal === 'object' && literal !== null) continue
      if (field.numbers.size + field.others.size === MAX_VALUES) break
      if (typeof literal === 'number') field.numbers.add(literal)
      else field.others.add(literal)
    }
    if (fields.size < MAX_FIELDS) fields.set(text, field)
  }
  return [...fields.values()]
}

/** A limit of a sum also limits the argument of this call, to what is left of the sum. */
function withSums(fields: readonly ComparedField[], facts: CallFacts): readonly ComparedField[] {
  const all = new Map(fields.map((field) => [field.text, field]))
  for (const { path, windowMs, numbers } of fields) {
    const measure = path.history?.measure
    if (!path.history || measure === undefined || typeof measure === 'string') continue
    const sum = facts.history(path.history.scope, path.history.whose, measure, windowMs, path.history.by)
    const amount = argumentAt(facts.args, measure.total)
    const operand = readArgumentPath(measure.total)
    if (typeof sum !== 'number' || typeof amount !== 'number' || !operand) continue
    const { text } = operand
    const field = all.get(text) ?? { path: operand, text, numbers: new Set(), others: new Set() }
    for (const limit of numbers) field.numbers.add(limit - sum + amount)
    all.set(text, field)
  }
  return [...all.values()]
}

function numberTurns(
  { path, text, numbers }: ComparedField,
  decideAt: (value: number) => DecidedAs,
  now: DecidedAs,
): string[] {
  const measure = path.history?.measure
  const isCount = typeof measure === 'string'
  return decidedIntervals(
    [...numbers].sort((a, b) => a - b),
    decideAt,
    isCount,
  )
    .filter((interval) => interval.decision !== now)
    .map((interval) => `${interval.decision} if ${describeInterval(text, interval)}`)
}

/** Tries each value that a condition names, then one that none names. */
function valueTurns(
  { text, others }: ComparedField,
  decideAt: (value: JsonValue) => DecidedAs,
  now: DecidedAs,
): string[] {
  if (others.size === 0) return []
  const isBoolean = [...others].every((value) => typeof value === 'boolean')
  const named = isBoolean ? [true, false] : [...others]
  const byOutcome = new Map<DecidedAs, string[]>()
  for (const value of named) {
    const decision = decideAt(value)
    byOutcome.set(decision, [...(byOutcome.get(decision) ?? []), describeValue(value)])
  }
  byOutcome.delete(now)
  const turns = [...byOutcome].map(
    ([decision, values]) => `${decision} if ${text} ${values.length === 1 ? '==' : 'in'} ${values.join(', ')}`,
  )
  const elsewhere = isBoolean ? now : decideAt(otherText(named))
  if (elsewhere === now) return turns
  const all = named.map((value) => describeValue(value))
  return [...turns, `${elsewhere} if ${text} ${all.length === 1 ? '!=' : 'not in'} ${all.join(', ')}`]
}

/** A text that is none of the values. */
function otherText(values: readonly JsonValue[]): string {
  let text = 'another value'
  while (values.includes(text)) text = `yet ${text}`
  return text
}

/** The facts with another value in one place; undefined where the path leads through something else. */
function withValueAt(facts: CallFacts, { path, windowMs }: ComparedField, value: JsonValue): CallFacts | undefined {
  if (path.history) {
    if (typeof value !== 'number') return undefined
    const text = historyText(path.history.scope, path.history.whose, path.history.measure, windowMs, path.history.by)
    return {
      ...facts,
      history: (...measure) => (historyText(...measure) === text ? value : facts.history(...measure)),
    }
  }
  if (path.root !== 'args') {
    const root = path.root as 'run' | 'session'
    const other = withValue(toJson(facts[root]), path.segments, value)
    return other === undefined ? undefined : { ...facts, [root]: other }
  }
  const args = withValue(facts.args, path.segments, value)
  if (args === undefined) return undefined
  const before = argumentAt(facts.args, path.text)
  return {
    ...facts,
    args,
    // A sum includes the current call.
    history(scope, whose, measure, window) {
      const sum = facts.history(scope, whose, measure, window)
      if (sum === undefined || typeof measure === 'string' || measure.total !== path.text) return sum
      return typeof before === 'number' && typeof value === 'number' ? sum - before + value : undefined
    },
  }
}

interface IntervalBound {
  readonly at: number
  readonly included: boolean
}
interface DecidedInterval {
  readonly decision: DecidedAs
  readonly from?: IntervalBound
  readonly to?: IntervalBound
}

/** Divides the number line where the decision changes: tries every threshold and every gap between two once. */
function decidedIntervals(
  thresholds: readonly number[],
  decideAt: (value: number) => DecidedAs,
  whole: boolean,
): readonly DecidedInterval[] {
  const betweenOf = (low: number, high: number): number => (whole ? low + 1 : (low + high) / 2)
  const found: DecidedInterval[] = []
  const add = (next: DecidedInterval) => {
    const last = found.at(-1)
    if (last?.decision !== next.decision) found.push(next)
    else
      found[found.length - 1] = {
        decision: last.decision,
        ...(last.from && { from: last.from }),
        ...(next.to && { to: next.to }),
      }
  }
  thresholds.forEach((at, position) => {
    const before = thresholds[position - 1]
    const between = before === undefined ? at - 1 : betweenOf(before, at)
    // Counts are whole and not negative, so some gaps are empty.
    if (!whole || (between >= 0 && between < at))
      add({
        decision: decideAt(between),
        ...(before !== undefined && { from: { at: before, included: false } }),
        to: { at, included: false },
      })
    add({ decision: decideAt(at), from: { at, included: true }, to: { at, included: true } })
  })
  const last = thresholds.at(-1)
  if (last !== undefined) add({ decision: decideAt(last + 1), from: { at: last, included: false } })
  return found
}

function describeInterval(field: string, { from, to }: DecidedInterval): string {
  if (from && to && from.at === to.at) return `${field} == ${from.at}`
  const low = from && `${field} ${from.included ? '>=' : '>'} ${from.at}`
  const high = to && `${field} ${to.included ? '<=' : '<'} ${to.at}`
  return [low, high].filter((part) => part !== undefined).join(' and ') || `${field} is a number`
}

/** A copy with another value at a path; undefined where the path leads through something else. */
function withValue(
  args: JsonValue,
  [segment, ...more]: readonly PathSegment[],
  value: JsonValue,
): JsonValue | undefined {
  if (!segment) return value
  if ('each' in segment) return undefined
  if ('index' in segment) {
    const item = Array.isArray(args) ? args[segment.index] : undefined
    if (!Array.isArray(args) || item === undefined) return undefined
    const inner = withValue(item, more, value)
    return inner === undefined ? undefined : args.with(segment.index, inner)
  }
  if (!isJsonObject(args)) return undefined
  const inner = withValue(ownMember(args, segment.key) ?? {}, more, value)
  return inner === undefined
    ? undefined
    : Object.defineProperty({ ...args }, segment.key, {
        value: inner,
        enumerable: true,
        configurable: true,
        writable: true,
      })
}
