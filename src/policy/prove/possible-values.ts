/**
 * The values that are possible at a path of a condition, by type, bounds and length. They may be more than really occur but never
 * fewer, so what is impossible here is impossible. Source: docs/design/prover.md#domains
 */
import { canonicalJson, type JsonValue } from '../../base/json/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { innerPathText, type ConditionPath } from '../condition/path.ts'
import { domainAt, finiteValues, mayBe, mayBeOf, numbersFor, type ValueDomain } from './domains.ts'
import { membersOf, typesOf } from './schema-parts.ts'

export type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

export interface PossibleValues {
  /** All possible values, where they can be listed. */
  readonly values: readonly JsonValue[] | undefined
  readonly types: readonly ValueType[]
  readonly low: NumberBound | undefined
  readonly high: NumberBound | undefined
  /** True where all numbers are integers. */
  readonly integer: boolean
  /** Lengths: characters of texts, elements of lists. */
  readonly size: { readonly string: LengthBounds; readonly array: LengthBounds }
  /** True where a call may leave the value out. */
  readonly absent: boolean
  /** True where a value on the path may have no members, so that the path cannot be read. */
  readonly unreadable: boolean
  /** True for a value that other keywords of the schema exclude. */
  readonly refuses?: (value: JsonValue) => boolean
  /** True for a value that is no element of a possible list. */
  readonly refusesElement?: (value: JsonValue) => boolean
  /** True for a text that is part of no possible value. */
  readonly lacks?: (part: string) => boolean
}

export interface NumberBound {
  readonly at: number
  /** True for an exclusive bound. */
  readonly open: boolean
}

export interface LengthBounds {
  readonly least: number
  readonly most: number
}

/** The possible values of a path without its function; undefined = nothing is known. */
export type PossibleValuesAt = (path: ConditionPath) => PossibleValues | undefined

const ALL_TYPES: readonly ValueType[] = ['null', 'boolean', 'number', 'string', 'array', 'object']

/** Any JSON value, or none. */
export const ANY_VALUE: PossibleValues = describeDomain({ schemas: [], absent: true, unreadable: true })

/** Possible values of every path; of arguments that satisfy `schema`. They are found once per path. */
export function possibleValuesUnder(schema: JsonSchema): PossibleValuesAt {
  const known = new Map<string, PossibleValues>()
  return (path) => {
    const name = innerPathText(path)
    const values = known.get(name) ?? describeDomain(domainAt(path, [schema]))
    known.set(name, values)
    return values
  }
}

/** Possible values of every path, where nothing is known of the arguments. */
export const withoutSchema: PossibleValuesAt = (path) =>
  path.root === 'args' ? ANY_VALUE : describeDomain(domainAt(path, []))

/** Describes a domain by type, bounds and length. */
export function describeDomain(domain: ValueDomain): PossibleValues {
  const { schemas, absent, unreadable } = domain
  const elements = membersOf(schemas, { each: true })
  const numbers = (keyword: string): readonly number[] => numbersFor(domain, keyword)
  return {
    values: finiteValues(domain),
    types: ALL_TYPES.filter((type) => mayBeOf(domain, ...(type === 'number' ? ['number', 'integer'] : [type]))),
    low: tightestBound(numbers('minimum'), numbers('exclusiveMinimum'), 1),
    high: tightestBound(numbers('maximum'), numbers('exclusiveMaximum'), -1),
    integer: schemas.some(({ schema }) => {
      const types = typesOf(schema) ?? []
      return types.includes('integer') && !types.includes('number')
    }),
    size: {
      string: { least: Math.max(0, ...numbers('minLength')), most: Math.min(...numbers('maxLength')) },
      array: { least: Math.max(0, ...numbers('minItems')), most: Math.min(...numbers('maxItems')) },
    },
    absent,
    unreadable,
    refuses: (value) => !mayBe(domain, value),
    refusesElement: (value) => !mayBe({ schemas: elements }, value),
  }
}

export function typeOf(value: JsonValue): ValueType {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as ValueType)
}

/** False where the value is certainly impossible. */
export function isPossibleValue(domain: PossibleValues, value: JsonValue): boolean {
  const { values, types, low, high, integer, size, refuses } = domain
  if (values !== undefined) return values.some((each) => canonicalJson(each) === canonicalJson(value))
  if (!types.includes(typeOf(value)) || refuses?.(value) === true) return false
  if (typeof value === 'number') {
    if (integer && !Number.isInteger(value)) return false
    if (low !== undefined && (low.open ? value <= low.at : value < low.at)) return false
    return high === undefined || (high.open ? value < high.at : value <= high.at)
  }
  if (typeof value !== 'string' && !Array.isArray(value)) return true
  const [{ least, most }, count] =
    typeof value === 'string' ? [size.string, Array.from(value).length] : [size.array, value.length]
  return count >= least && count <= most
}

/** The tightest of several bounds. @param side 1 for lower bounds, -1 for upper ones */
function tightestBound(closed: readonly number[], open: readonly number[], side: 1 | -1): NumberBound | undefined {
  const bounds = [...closed.map((at) => ({ at, open: false })), ...open.map((at) => ({ at, open: true }))]
  return bounds.sort((a, b) => side * (b.at - a.at) || Number(b.open) - Number(a.open))[0]
}
