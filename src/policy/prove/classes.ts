/** Values that stand for all values of a path: one for each way in which its comparisons can come out. */
import { canonical, type JsonValue } from '../../base/json.ts'
import type { Leaf } from '../condition.ts'
import { mayBe, namedIn, stepOf, type Domain } from './domains.ts'

/** A value at a path, or why there is none. */
export type Choice = { readonly value: JsonValue } | { readonly value?: never; readonly state: 'absent' | 'unreadable' }

/** Longer than any string that is compared, so that every comparison with it is unknown. */
const TOO_LONG = 'x'.repeat(64 * 1024 + 1)
/** Larger than any number that is compared. */
const TOO_LARGE = 2 ** 60

/** Operators of which the values below are all the cases there are. */
export const EXACT: readonly Leaf['op'][] = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', 'exists', 'type']

/**
 * Values of every kind around everything that comparisons, allow lists and schemas name.
 * @param lists values of allow lists that check this path
 * @param usual a value that fits the schema where one is known; it comes first among equals
 */
export function choicesOf(
  leaves: readonly Leaf[],
  lists: readonly (readonly string[])[],
  domain: Domain,
  usual?: JsonValue,
): readonly Choice[] {
  const literals = [
    ...leaves.flatMap(({ op, value }) => (op === 'in' || op === 'not_in' ? (value as JsonValue[]) : [value])),
    ...lists.flat().flatMap(readings),
    ...namedIn(domain),
  ]
  const values = unique([
    ...(usual === undefined ? [] : [usual]),
    ...literals,
    ...numbersAround(literals.filter((each) => typeof each === 'number').filter(isSafe), stepOf(domain)),
    fresh(literals),
    true,
    false,
    null,
    ['\u0000'],
    { '\u0000': true },
    TOO_LARGE,
    TOO_LONG,
  ])
  return [
    ...values.filter((value) => mayBe(domain, value)).map((value) => ({ value })),
    ...(domain.absent ? [{ state: 'absent' } as const] : []),
    ...(domain.unreadable ? [{ state: 'unreadable' } as const] : []),
  ]
}

/** What an entry of an allow list may be the text of. */
function readings(text: string): JsonValue[] {
  try {
    const value = JSON.parse(text) as JsonValue
    return typeof value !== 'string' && canonical(value) === text ? [text, value] : [text]
  } catch {
    return [text]
  }
}

/** Each number, and whole and broken ones in every gap between them. */
function numbersAround(literals: readonly number[], step: number | undefined): readonly number[] {
  const sorted = [...new Set(literals)].sort((a, b) => a - b)
  if (sorted.length === 0) return [1, 0.5]
  const [lowest, highest] = [sorted[0]!, sorted.at(-1)!]
  const between = sorted.slice(1).flatMap((high, index) => inGap(sorted[index]!, high, step))
  return [
    ...sorted,
    ...inGap(highest, highest + 2 * (step ?? 1), step),
    ...between,
    ...inGap(lowest - 2 * (step ?? 1), lowest, step),
  ].filter(isSafe)
}

function inGap(low: number, high: number, step: number | undefined): readonly number[] {
  const middle = low + (high - low) / 2
  const whole = [Math.floor(middle), Math.floor(low) + 1]
  const broken = [middle, low + (high - low) / 3, Math.floor(low) + 0.5, high - (high - low) / 4]
  const stepped = step === undefined ? [] : [(Math.floor(low / step) + 1) * step]
  return [
    whole.find((each) => each > low && each < high),
    broken.find((each) => !Number.isInteger(each) && each > low && each < high),
    ...stepped,
  ].filter((each) => each !== undefined && each > low && each < high) as number[]
}

/** A string that nothing names. */
function fresh(literals: readonly JsonValue[]): string {
  let text = 'other'
  while (literals.includes(text)) text += '-'
  return text
}

const isSafe = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER

const unique = (values: readonly JsonValue[]): readonly JsonValue[] => [
  ...new Map(values.map((value) => [typeof value === 'string' ? `"${value}` : canonical(value), value])).values(),
]

/** A text as an allow list compares it: that of a string, or canonical; a number that readers may have rounded has none. */
export const listText = (value: JsonValue): string =>
  typeof value === 'string' ? value : typeof value === 'number' && !isSafe(value) ? '' : canonical(value)
