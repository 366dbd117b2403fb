/**
 * The values that are possible at a path of a condition. A domain may be larger than the real set of values but never smaller, so
 * what is impossible in the domain is impossible. Source: policies, section 2.
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { ConditionPath, PathSegment } from '../../policy/condition/path.ts'
import { SIDE_EFFECT_CLASSES } from '../../spec/document.ts'
import { typesOf } from '../text/property.ts'
import { describeMisfit } from '../schemas/schema-fit.ts'
import { patternRefuses } from './pattern-fit.ts'

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
  /** Domain of the elements of a list; undefined where unknown. */
  readonly element: PossibleValues | undefined
  /** True where a call may leave the value out. */
  readonly absent: boolean
  /** True where a value on the path may have no members, so that the path cannot be read. */
  readonly unreadable: boolean
  /** True for a value that other keywords of the schema exclude. */
  readonly refuses?: (value: JsonValue) => boolean
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

/** The domain of a path without its function; undefined = nothing is known. */
export type PossibleValuesAt = (path: ConditionPath) => PossibleValues | undefined

const ALL_TYPES: readonly ValueType[] = ['null', 'boolean', 'number', 'string', 'array', 'object']
const ANY_SIZE: LengthBounds = { least: 0, most: Infinity }

/** Any JSON value, or none. */
export const ANY_VALUE: PossibleValues = {
  values: undefined,
  types: ALL_TYPES,
  low: undefined,
  high: undefined,
  integer: false,
  size: { string: ANY_SIZE, array: ANY_SIZE },
  element: undefined,
  absent: true,
  unreadable: true,
}

/** The domain of an argument under the schema of the arguments; with `[*]`, of each element. */
export function argumentValues(schema: JsonObject | boolean, segments: readonly PathSegment[]): PossibleValues {
  let at = conjunctsOf(schema, schema)
  let [absent, unreadable] = [false, false]
  for (const [depth, segment] of segments.entries()) {
    const wanted = 'key' in segment ? 'object' : 'array'
    if (depth > 0 && at.every(({ schema: each }) => !typesOf(each).length || typesOf(each).some((t) => t !== wanted)))
      unreadable = true
    if ('key' in segment) {
      if (at.some(({ schema: each }) => isWithout(each, segment.key)))
        return { ...ANY_VALUE, types: [], values: [], unreadable: false }
      if (!at.some(({ schema: each }) => listOf(each['required']).includes(segment.key))) absent = true
    } else if ('index' in segment) absent = true
    at = at.flatMap(({ schema: each, root }) => conjunctsOf(memberOf(each, segment), root))
  }
  return domainOf(at, absent, unreadable)
}

/** True where a schema declares an argument as optional. */
export function mayBeAbsent(schema: JsonObject | boolean, segments: readonly PathSegment[]): boolean {
  let here: JsonValue | undefined = schema
  let absent = false
  for (const segment of segments) {
    if (!isJsonObject(here) || !('key' in segment)) return false
    const { properties, required }: JsonObject = here
    if (!listOf(required).includes(segment.key)) absent = true
    here = isJsonObject(properties) && Object.hasOwn(properties, segment.key) ? properties[segment.key] : undefined
  }
  return isJsonObject(here) && absent
}

/** The domain of a field outside `args`. */
export function factValues(path: ConditionPath): PossibleValues {
  const { text, history, segments } = path
  // A total may be negative, and is unreadable where one of its values is not a number.
  if (history)
    return typeof history.measure === 'string'
      ? { ...COUNT, unreadable: true }
      : { ...ANY_VALUE, types: ['number'], absent: false }
  const known = Object.hasOwn(FIELD_DOMAINS, text) ? FIELD_DOMAINS[text] : undefined
  if (known !== undefined) return known
  const [first] = segments
  return first !== undefined && 'key' in first && first.key === 'labels' ? LABEL : ANY_VALUE
}

const there = (domain: Partial<PossibleValues>): PossibleValues => ({
  ...ANY_VALUE,
  absent: false,
  unreadable: false,
  ...domain,
})
const oneOf = (...values: readonly JsonValue[]): PossibleValues =>
  there({ values, types: [...new Set(values.map(typeOf))] })
const TEXT = there({ types: ['string'] })
const LABEL: PossibleValues = { ...TEXT, absent: true }
const AMOUNT = there({ types: ['number'], low: { at: 0, open: false } })
const COUNT: PossibleValues = { ...AMOUNT, integer: true }

/** Source: policies, section 2, the table of roots. */
const FIELD_DOMAINS: Readonly<Record<string, PossibleValues>> = {
  'tool.id': TEXT,
  'tool.namespace': TEXT,
  'tool.name': TEXT,
  'tool.version': TEXT,
  'tool.wire_name': TEXT,
  'tool.kind': oneOf('tool', 'mcp', 'agent'),
  'tool.mcp_server': { ...TEXT, absent: true },
  'tool.side_effect_class': { ...oneOf(...SIDE_EFFECT_CLASSES), absent: true },
  'agent.id': TEXT,
  'agent.namespace': TEXT,
  'agent.name': TEXT,
  'agent.version': TEXT,
  'agent.risk_tier': { ...TEXT, absent: true },
  'agent.classifications': there({ types: ['array'], element: TEXT }),
  'agent.classifications[*]': TEXT,
  'run.depth': COUNT,
  'run.is_subagent': oneOf(true, false),
  'run.iteration': COUNT,
  'run.elapsed_seconds': AMOUNT,
  'run.tokens_used': COUNT,
  'run.trigger_type': oneOf('api', 'scheduled', 'operator'),
  'run.taint': oneOf(true, false),
  'session.run_count': COUNT,
  'session.tokens_used': COUNT,
  'session.elapsed_seconds': AMOUNT,
  'principal.type': oneOf('api_key', 'operator', 'schedule'),
  'principal.id': TEXT,
  'principal.trigger_name': { ...TEXT, absent: true },
  'time.now': there({ types: ['number'] }),
  'svc.dispatch.trigger': oneOf('none', 'no_handler', 'timeout', 'indeterminate'),
  'svc.limit': TEXT,
}

export function typeOf(value: JsonValue): ValueType {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : (typeof value as ValueType)
}

/** False where the domain excludes the value. */
export function mayBe(domain: PossibleValues, value: JsonValue): boolean {
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

interface Conjunct {
  readonly schema: JsonObject
  /** Where its local references point. */
  readonly root: JsonObject | boolean
}

/** Bounds the work for schemas with many references; further conjuncts are ignored, which only widens the domain. */
const MAX_CONJUNCTS = 64

/** A schema with all schemas that hold together with it: the target of `$ref` and the members of `allOf`. */
function conjunctsOf(schema: JsonValue | undefined, root: JsonObject | boolean): readonly Conjunct[] {
  const found = new Set<JsonValue>()
  const conjuncts: Conjunct[] = []
  const visit = (each: JsonValue | undefined): void => {
    // `false` allows no value, like an empty `enum`.
    if (each === false) conjuncts.push({ schema: { enum: [] }, root })
    if (!isJsonObject(each) || found.has(each) || found.size >= MAX_CONJUNCTS) return
    found.add(each)
    conjuncts.push({ schema: each, root })
    if (typeof each['$ref'] === 'string') visit(pointedAt(root, each['$ref']))
    if (Array.isArray(each['allOf'])) each['allOf'].forEach(visit)
  }
  visit(schema)
  return conjuncts
}

/** The target of a local reference; undefined for any other reference. */
function pointedAt(root: JsonValue, ref: string): JsonValue | undefined {
  if (ref === '#') return root
  // A part with an `$id` changes the base of the references in it.
  if (!ref.startsWith('#/') || ref.includes('%')) return undefined
  let at: JsonValue | undefined = root
  for (const part of ref.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(key)]
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
    if (isJsonObject(at) && at['$id'] !== undefined) return undefined
  }
  return at
}

function memberOf(schema: JsonObject, segment: PathSegment): JsonValue | undefined {
  if (!('key' in segment)) return schema['prefixItems'] === undefined ? schema['items'] : undefined
  const { properties, patternProperties, additionalProperties } = schema
  if (isJsonObject(properties) && Object.hasOwn(properties, segment.key)) return properties[segment.key]
  return patternProperties === undefined ? additionalProperties : undefined
}

function isWithout(schema: JsonObject, key: string): boolean {
  const { properties, patternProperties, additionalProperties } = schema
  if (additionalProperties !== false || patternProperties !== undefined) return false
  return !(isJsonObject(properties) && Object.hasOwn(properties, key))
}

const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : [])

/** The values that satisfy all of the schemas, by their plain keywords. */
function domainOf(at: readonly Conjunct[], absent: boolean, unreadable: boolean): PossibleValues {
  const schemas = at.map(({ schema }) => schema)
  const named = schemas.map(typesOf).filter((types) => types.length > 0)
  const types = ALL_TYPES.filter((type) =>
    named.every((each) => each.includes(type) || (type === 'number' && each.includes('integer'))),
  )
  const numbers = (key: string): readonly number[] => schemas.flatMap((each) => numberOf(each[key]))
  const refuses = (value: JsonValue): boolean =>
    schemas.some((schema) => describeMisfit(schema, value) !== undefined || patternRefuses(schema, value))
  const listed = schemas.map(valuesOf).find((values) => values !== undefined)
  const few = types.every((type) => type === 'boolean' || type === 'null') ? SMALL.filter(isOfOne(types)) : undefined
  const elements = at.flatMap(({ schema, root }) => conjunctsOf(memberOf(schema, { each: true }), root))
  return {
    values: (listed ?? few)?.filter((value) => !refuses(value)),
    types,
    low: tightest(numbers('minimum'), numbers('exclusiveMinimum'), (a, b) => b - a),
    high: tightest(numbers('maximum'), numbers('exclusiveMaximum'), (a, b) => a - b),
    integer: named.some((each) => each.includes('integer') && !each.includes('number')),
    size: {
      string: { least: Math.max(0, ...numbers('minLength')), most: Math.min(...numbers('maxLength')) },
      array: { least: Math.max(0, ...numbers('minItems')), most: Math.min(...numbers('maxItems')) },
    },
    element: elements.length === 0 ? undefined : domainOf(elements, false, false),
    absent,
    unreadable,
    refuses,
  }
}

const SMALL: readonly JsonValue[] = [true, false, null]

const isOfOne =
  (types: readonly ValueType[]) =>
  (value: JsonValue): boolean =>
    types.includes(typeOf(value))

const numberOf = (value: JsonValue | undefined): readonly number[] => (typeof value === 'number' ? [value] : [])

function valuesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']!]
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined
}

/** The tightest of several bounds. @param order puts the tighter first */
function tightest(
  closed: readonly number[],
  open: readonly number[],
  order: (a: number, b: number) => number,
): NumberBound | undefined {
  const bounds = [...closed.map((at) => ({ at, open: false })), ...open.map((at) => ({ at, open: true }))]
  return bounds.sort((a, b) => order(a.at, b.at) || Number(b.open) - Number(a.open))[0]
}
