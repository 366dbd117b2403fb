/**
 * The values of a path as classes: no comparison and no allow list tells the values of one class apart, and every value is in
 * one of them. A class is left out only where a schema proves that it has no value, so what holds for all classes holds for all
 * values. Source: bundles, section 5, "How authority is compared".
 */
import { canonicalJson, type JsonValue } from '../../base/json.ts'
import type { ConditionLeaf } from '../condition/condition.ts'
import { finiteValues, mayBe, mayBeOf, namedIn, numbersFor, type ValueDomain } from './domains.ts'

/** `value` stands for the class in comparisons; whether the schema allows that very value is another question. */
export type ValueClass =
  | { readonly kind: 'absent' | 'unreadable' }
  | { readonly kind: 'one'; readonly value: JsonValue }
  /** Numbers between two bounds, which are left out: either the whole or the broken ones. */
  | {
      readonly kind: 'numbers'
      readonly value: number
      readonly above: number
      readonly below: number
      readonly whole: boolean
    }
  /** Numbers that readers of JSON may have rounded: above 2^53 - 1, or below its negative. */
  | { readonly kind: 'large'; readonly value: number }
  /** Any other value of a type. */
  | { readonly kind: 'text' | 'long_text' | 'list' | 'mapping'; readonly value: JsonValue }

/** Operators of which these classes are all the cases there are. */
export const EXACT: readonly ConditionLeaf['op'][] = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'not_in',
  'exists',
  'type',
]

/** The first number beyond those that are compared. */
const LIMIT = 2 ** 53
/** A string of more bytes is compared with nothing. */
const MAX_BYTES = 64 * 1024
const TOO_LONG = 'x'.repeat(MAX_BYTES + 1)

/**
 * @param lists values of allow lists that check this path
 * @param marks values beside those of the comparisons around which classes are divided, such as bounds of another schema
 */
export function classesOf(
  leaves: readonly ConditionLeaf[],
  lists: readonly (readonly string[])[],
  domain: ValueDomain,
  marks: readonly JsonValue[] = [],
): readonly ValueClass[] {
  return [
    ...(domain.absent ? [{ kind: 'absent' } as const] : []),
    ...(domain.unreadable ? [{ kind: 'unreadable' } as const] : []),
    ...(finiteValues(domain)?.map((value) => ({ kind: 'one', value }) as const) ??
      openClasses(leaves, lists, domain, marks)),
  ]
}

/** The classes of a path whose values no schema lists. */
function openClasses(
  leaves: readonly ConditionLeaf[],
  lists: readonly (readonly string[])[],
  domain: ValueDomain,
  marks: readonly JsonValue[],
): readonly ValueClass[] {
  const named = unique([
    ...leaves.flatMap(({ op, value }) => (op === 'in' || op === 'not_in' ? (value as JsonValue[]) : [value])),
    ...lists.flat().flatMap(readings),
    ...namedIn(domain),
    ...marks,
  ])
  const taken = new Set(named.map(textOf))
  const points = named.filter((each) => typeof each === 'number').filter((each) => Math.abs(each) < LIMIT)
  return [
    ...unique([...named, true, false, null])
      .filter((value) => mayBe(domain, value))
      .map((value) => ({ kind: 'one', value }) as const),
    ...numberClasses(points, domain),
    ...largeClasses(domain),
    ...typeClasses(taken, domain),
  ]
}

/** What an entry of an allow list may be the text of. */
function readings(text: string): JsonValue[] {
  try {
    const value = JSON.parse(text) as JsonValue
    return typeof value !== 'string' && canonicalJson(value) === text ? [text, value] : [text]
  } catch {
    return [text]
  }
}

/**
 * Every gap between the points, once for its whole and once for its broken numbers. All bounds of the domain are points, so that
 * a schema allows all numbers of a gap or none, as far as its bounds go.
 */
function numberClasses(points: readonly number[], domain: ValueDomain): readonly ValueClass[] {
  const sorted = [-LIMIT, ...new Set(points.toSorted((a, b) => a - b)), LIMIT]
  return sorted.slice(1).flatMap((below, index): ValueClass[] => {
    const above = sorted[index]!
    const [whole, broken] = [wholeBetween(above, below), brokenBetween(above, below)]
    return [
      ...(whole !== undefined && mayBe(domain, whole)
        ? [{ kind: 'numbers', value: whole, above, below, whole: true } as const]
        : []),
      ...(broken !== undefined && mayBe(domain, broken)
        ? [{ kind: 'numbers', value: broken, above, below, whole: false } as const]
        : []),
    ]
  })
}

/** A whole number between two others; undefined where there is none. */
function wholeBetween(above: number, below: number): number | undefined {
  // The one nearest to zero, where people look first.
  const least = above < 0 && below > 0 ? 0 : above < 0 ? Math.ceil(below) - 1 : Math.floor(above) + 1
  return least > above && least < below ? least + 0 : undefined
}

/** A number that is not whole between two others; undefined where there is none that a computer can write. */
function brokenBetween(above: number, below: number): number | undefined {
  // Half of the least number there is would be zero.
  if (above < 0 && below > 0) return Math.min(below, 1) / 2 || Math.max(above, -1) / 2 || undefined
  if (above < 0) {
    const mirrored = brokenBetween(-below, -above)
    return mirrored === undefined ? undefined : -mirrored
  }
  // Numbers are densest near zero: where two neighbouring gaps between whole numbers have none, no later one has.
  const next = Math.floor(above) + 1
  for (const [low, high] of [
    [above, Math.min(below, next)],
    [next, Math.min(below, next + 1)],
  ] as const) {
    const middle = low + (high - low) / 2
    if (middle > low && middle < high) return middle
  }
  return undefined
}

function largeClasses(domain: ValueDomain): readonly ValueClass[] {
  if (!mayBeOf(domain, 'number', 'integer')) return []
  const highest = Math.min(Infinity, ...numbersFor(domain, 'maximum'), ...numbersFor(domain, 'exclusiveMaximum'))
  const lowest = Math.max(-Infinity, ...numbersFor(domain, 'minimum'), ...numbersFor(domain, 'exclusiveMinimum'))
  return [
    ...(highest < LIMIT ? [] : [{ kind: 'large', value: 2 ** 60 } as const]),
    ...(lowest > -LIMIT ? [] : [{ kind: 'large', value: -(2 ** 60) } as const]),
  ]
}

function typeClasses(taken: ReadonlySet<string>, domain: ValueDomain): readonly ValueClass[] {
  const longest = Math.min(Infinity, ...numbersFor(domain, 'maxLength'))
  const isText = mayBeOf(domain, 'string')
  return [
    ...(isText && !(longest === 0 && taken.has(textOf('')))
      ? [{ kind: 'text', value: freshText(taken) } as const]
      : []),
    // A character has at most four bytes.
    ...(isText && longest * 4 > MAX_BYTES ? [{ kind: 'long_text', value: TOO_LONG } as const] : []),
    ...(mayBeOf(domain, 'array')
      ? [{ kind: 'list', value: fresh(taken, (count) => Array<JsonValue>(count).fill('')) } as const]
      : []),
    ...(mayBeOf(domain, 'object')
      ? [{ kind: 'mapping', value: fresh(taken, (count) => ({ other: count })) } as const]
      : []),
  ]
}

const freshText = (taken: ReadonlySet<string>): JsonValue => fresh(taken, (count) => `other${'-'.repeat(count - 1)}`)

/** The first of a series that nothing names. */
function fresh(taken: ReadonlySet<string>, make: (count: number) => JsonValue): JsonValue {
  let count = 1
  while (taken.has(textOf(make(count)))) count++
  return make(count)
}

const textOf = (value: JsonValue): string => canonicalJson(value)

const unique = (values: readonly JsonValue[]): readonly JsonValue[] => [
  ...new Map(values.map((value) => [textOf(value), value])).values(),
]

/** A text as an allow list compares it: that of a string, or canonical; a number that readers may have rounded has none. */
export function listText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' && Math.abs(value) >= LIMIT ? undefined : canonicalJson(value)
}
