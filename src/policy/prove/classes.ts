/**
 * Divides the values of a path into classes: no comparison and no allow list distinguishes values of one class, and every
 * value is in a class. A class is left out only where a schema proves it empty, so what holds for all classes holds for all
 * values. Source: docs/design/prover.md#classes-of-values
 */
import { canonicalJson, type JsonValue } from '../../base/json/json.ts'
import type { ConditionLeaf } from '../condition/condition.ts'
import { finiteValues, mayBe, mayBeOf, namedIn, numbersFor, type ValueDomain } from './domains.ts'

/** `value` stands for the class in comparisons; whether the schema allows that very value is another question. */
export type ValueClass =
  | { readonly kind: 'absent' | 'unreadable' }
  | { readonly kind: 'one'; readonly value: JsonValue }
  /** Numbers between two exclusive bounds: either the integers or the fractions. */
  | {
      readonly kind: 'numbers'
      readonly value: number
      readonly above: number
      readonly below: number
      readonly whole: boolean
    }
  /** Numbers that JSON parsers may have rounded: above 2^53 - 1, or below its negative. */
  | { readonly kind: 'large'; readonly value: number }
  /** Any other value of a type. */
  | { readonly kind: 'text' | 'long_text' | 'list' | 'mapping'; readonly value: JsonValue }

/** Operators for which these classes are exhaustive. */
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
 * @param marks further values at which classes are divided, such as bounds of another schema
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
    ...lists.flat().flatMap(listedValues),
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

/** The values whose text an entry of an allow list may be. */
export function listedValues(text: string): JsonValue[] {
  try {
    const value = JSON.parse(text) as JsonValue
    return typeof value !== 'string' && canonicalJson(value) === text ? [text, value] : [text]
  } catch {
    return [text]
  }
}

/**
 * Every gap between the points, once for its integers and once for its fractions. All bounds of the domain are points, so the
 * bounds of a schema allow all numbers of a gap or none.
 */
function numberClasses(points: readonly number[], domain: ValueDomain): readonly ValueClass[] {
  const sorted = [-LIMIT, ...new Set(points.toSorted((a, b) => a - b)), LIMIT]
  return sorted.flatMap((above, index): ValueClass[] => {
    const below = sorted[index + 1]
    if (below === undefined) return []
    const [whole, fraction] = [integerBetween(above, below), fractionBetween(above, below)]
    return [
      ...(whole !== undefined && mayBe(domain, whole)
        ? [{ kind: 'numbers', value: whole, above, below, whole: true } as const]
        : []),
      ...(fraction !== undefined && mayBe(domain, fraction)
        ? [{ kind: 'numbers', value: fraction, above, below, whole: false } as const]
        : []),
    ]
  })
}

/** An integer between two numbers; undefined where there is none. */
function integerBetween(above: number, below: number): number | undefined {
  // The one nearest to zero reads best in a witness.
  const nearest = above < 0 ? Math.ceil(below) - 1 : Math.floor(above) + 1
  const least = above < 0 && below > 0 ? 0 : nearest
  return least > above && least < below ? least + 0 : undefined
}

/** A fraction between two numbers; undefined where no double lies there. */
function fractionBetween(above: number, below: number): number | undefined {
  // Half of the smallest positive double is zero.
  if (above < 0 && below > 0) return Math.min(below, 1) / 2 || Math.max(above, -1) / 2 || undefined
  if (above < 0) {
    const mirrored = fractionBetween(-below, -above)
    return mirrored === undefined ? undefined : -mirrored
  }
  // Doubles are densest near zero: where two neighbouring gaps between integers hold none, no later one does.
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
    ...(isText && !(longest === 0 && taken.has(textOf(''))) ? [{ kind: 'text', value: freeText(taken) } as const] : []),
    // A character has at most four bytes.
    ...(isText && longest * 4 > MAX_BYTES ? [{ kind: 'long_text', value: TOO_LONG } as const] : []),
    ...(mayBeOf(domain, 'array')
      ? [{ kind: 'list', value: firstFree(taken, (count) => Array<JsonValue>(count).fill('')) } as const]
      : []),
    ...(mayBeOf(domain, 'object')
      ? [{ kind: 'mapping', value: firstFree(taken, (count) => ({ other: count })) } as const]
      : []),
  ]
}

const freeText = (taken: ReadonlySet<string>): JsonValue => firstFree(taken, (count) => `other${'-'.repeat(count - 1)}`)

/** The first value of a series that is not taken. */
function firstFree(taken: ReadonlySet<string>, make: (count: number) => JsonValue): JsonValue {
  let count = 1
  while (taken.has(textOf(make(count)))) count++
  return make(count)
}

const textOf = (value: JsonValue): string => canonicalJson(value)

const unique = (values: readonly JsonValue[]): readonly JsonValue[] => [
  ...new Map(values.map((value) => [textOf(value), value])).values(),
]

/** The text by which an allow list compares a value: a string as it is, else canonical JSON; a number that JSON parsers may have rounded has none. */
export function listText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' && Math.abs(value) >= LIMIT ? undefined : canonicalJson(value)
}
