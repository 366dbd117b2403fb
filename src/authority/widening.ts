/**
 * Where an input schema accepts what an earlier one refused. A call that only the later schema accepts differs at one of
 * these places at least, so a call that differs at none was accepted before. Source: docs/design/prover.md#newly-accepted-calls
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { readArgumentPath, type ConditionPath } from '../policy/condition/path.ts'
import { classesOf, type ValueClass } from '../policy/prove/classes.ts'
import { namedIn, numbersFor } from '../policy/prove/domains.ts'
import {
  conjunctsOf,
  forbidsMember,
  isOnlyOf,
  listIn,
  MAX_CONJUNCTS,
  membersOf,
  requiresMember,
  typesOf,
  type PlacedSchema,
} from '../policy/prove/schema-parts.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { candidatesOf } from './candidates.ts'
import { acceptsPart, acceptsPartValue, isIgnoredKeyword } from './schema.ts'

export interface Widening {
  /** Absent if the schemas differ in something that is not about single arguments: any call may be new. */
  readonly path?: ConditionPath
  /** True if the earlier schema may have refused a value of this class, or its absence. */
  mayAdmit(each: ValueClass): boolean
  /** Values around which the two schemas differ. */
  readonly marks: readonly JsonValue[]
  /** Paths at which a new value shows the difference, and some values that may be new. */
  readonly hint?: { readonly path: ConditionPath; readonly values: readonly JsonValue[] }
}

/** Beyond these limits places are not distinguished. */
const MAX_PLACES = 64
const MAX_DEPTH = 8

/** Empty if the earlier schemas are proven to accept everything that the later ones accept. */
export function wideningsOf(before: readonly JsonSchema[], after: readonly JsonSchema[]): readonly Widening[] {
  const now = after.flatMap((schema) => conjunctsOf({ schema, root: schema }))
  const found = before.flatMap((schema) => placesIn({ schema, root: schema }, now, []))
  return found.length > MAX_PLACES ? [wideningAnywhere()] : found
}

/** @param now all of these apply to the value at the path, if there is one */
function placesIn(before: PlacedSchema, now: readonly PlacedSchema[], keys: readonly string[]): readonly Widening[] {
  if (now.some((part) => acceptsPart(before, part))) return []
  const parts = conjunctsOf(before)
  return parts.length < MAX_CONJUNCTS
    ? parts.flatMap((part) => placesInPart(part, now, keys))
    : [valueAt(before, now, keys)]
}

function placesInPart(part: PlacedSchema, now: readonly PlacedSchema[], keys: readonly string[]): readonly Widening[] {
  const { schema, root } = part
  const own = withoutParts(schema, root)
  if (own === undefined) return [valueAt(part, now, keys)]
  if (now.some((each) => acceptsPart({ schema: own, root }, each))) return []
  if (!isJsonObject(own) || keys.length >= MAX_DEPTH || !isPlainObject(own, now, keys))
    return [valueAt({ schema: own, root }, now, keys)]
  return [...requiredIn(own, now, keys), ...membersIn({ schema: own, root }, now, keys)]
}

/** The keywords of a schema beside its parts; undefined if a part is unknown. */
function withoutParts(schema: JsonSchema, root: JsonSchema | undefined): JsonSchema | undefined {
  if (!isJsonObject(schema)) return schema
  const { $ref, allOf: _, ...own } = schema
  if ($ref === undefined) return own
  // A reference that can be resolved is a part of its own.
  return conjunctsOf({ schema: { $ref }, root }).length > 1 ? own : undefined
}

const OBJECT_KEYWORDS = ['type', 'properties', 'required', 'additionalProperties']

/** True if the earlier schema constrains only single members, once the value is an object. */
const isPlainObject = (own: JsonObject, now: readonly PlacedSchema[], keys: readonly string[]): boolean =>
  Object.keys(own).every((keyword) => OBJECT_KEYWORDS.includes(keyword) || isIgnoredKeyword(keyword)) &&
  // The arguments as a whole are always an object.
  (typesOf(own) === undefined ||
    (isOnlyOf(own, 'object') && (keys.length === 0 || now.some(({ schema }) => isOnlyOf(schema, 'object')))))

const requiredIn = (own: JsonObject, now: readonly PlacedSchema[], keys: readonly string[]): readonly Widening[] =>
  listIn(own, 'required')
    .filter((name) => typeof name === 'string')
    .filter((name) => !now.some(({ schema }) => requiresMember(schema, name)))
    .map((name) => placedWidening([...keys, name], (each) => each.kind === 'absent'))

function membersIn(
  { schema, root }: { readonly schema: JsonObject; readonly root: JsonSchema | undefined },
  now: readonly PlacedSchema[],
  keys: readonly string[],
): readonly Widening[] {
  const { properties, additionalProperties = true } = schema
  const known = isJsonObject(properties) ? properties : {}
  const others: PlacedSchema = { schema: additionalProperties as JsonSchema, root }
  const member = (name: string, expected: PlacedSchema): readonly Widening[] => {
    if (now.some((each) => forbidsMember(each.schema, name))) return []
    const path = [...keys, name]
    return expected.schema === false
      ? [placedWidening(path, (each) => each.kind !== 'absent' && each.kind !== 'unreadable')]
      : placesIn(expected, membersOf(now, { key: name }), path)
  }
  const described = Object.entries(known).flatMap(([name, expected]) =>
    member(name, { schema: expected as JsonSchema, root }),
  )
  if (additionalProperties === true) return described
  const closed = now.find((each) => allowsNoMoreMembers(each, others))
  if (!closed) return [...described, wideningAnywhere([...keys, 'other'])]
  const named = (closed.schema as JsonObject)['properties']
  const added = Object.keys(isJsonObject(named) ? named : {}).filter((name) => !Object.hasOwn(known, name))
  return [...described, ...added.flatMap((name) => member(name, others))]
}

/** True if the later schema allows no more undeclared members than the earlier one. */
function allowsNoMoreMembers({ schema, root }: PlacedSchema, others: PlacedSchema): boolean {
  if (!isJsonObject(schema) || schema['patternProperties'] !== undefined) return false
  const { additionalProperties = true } = schema
  return acceptsPart(others, { schema: additionalProperties as JsonSchema, root })
}

/** Any value that the later schemas accept there and the earlier one may refuse. */
function valueAt(before: PlacedSchema, now: readonly PlacedSchema[], keys: readonly string[]): Widening {
  const marks = namedIn({ schemas: [before, ...now] })
  return placedWidening(keys, (each) => mayAdmit(before, now, each), marks, hintsOf(before, now))
}

/** Values just beyond the limits of the earlier schema. */
function hintsOf(before: PlacedSchema, now: readonly PlacedSchema[]): readonly JsonValue[] {
  const beyond = (keyword: string) =>
    numbersFor({ schemas: [before] }, keyword).map((most) => Math.min(Math.max(most, 0), MAX_HINT) + 1)
  const below = (keyword: string) =>
    numbersFor({ schemas: [before] }, keyword).map((least) => Math.min(Math.max(least, 1), MAX_HINT) - 1)
  const lengths = [...new Set([1, ...beyond('maxItems'), ...below('minItems')])]
  return [
    ...[...beyond('maxLength'), ...below('minLength')].flatMap((length) =>
      ['x', 'A', '0'].map((each) => each.repeat(length)),
    ),
    ...elementsOf(before, now).flatMap((element) => lengths.map((length) => Array<JsonValue>(length).fill(element))),
  ]
}

/** Elements of lists, by each class that the two schemas distinguish. */
function elementsOf(before: PlacedSchema, now: readonly PlacedSchema[]): readonly JsonValue[] {
  const domain = { schemas: membersOf(now, { each: true }), absent: false, unreadable: false }
  return classesOf([], [], domain, namedIn({ schemas: membersOf(conjunctsOf(before), { each: true }) }))
    .filter(({ kind }) => kind !== 'list' && kind !== 'long_text')
    .flatMap((each) => candidatesOf(each, domain, [], undefined))
    .flatMap(({ value }) => (value === undefined ? [] : [value]))
}

/** Longer texts and lists are not generated. */
const MAX_HINT = 200

function mayAdmit(before: PlacedSchema, now: readonly PlacedSchema[], each: ValueClass): boolean {
  if (!('value' in each)) return false
  if (each.kind === 'one') return !acceptsPartValue(before, each.value)
  const bounds = boundsOf(each)
  // The later schemas, restricted to values of this class.
  const parts = [{ schema: {}, root: {} }, ...now].flatMap(({ schema, root }) =>
    isJsonObject(schema) ? [{ schema: { ...schema, ...bounds }, root }] : [],
  )
  return !parts.some((part) => acceptsPart(before, part))
}

function boundsOf(each: Extract<ValueClass, { value: unknown }>): JsonObject {
  switch (each.kind) {
    case 'numbers':
      return {
        type: each.whole ? 'integer' : 'number',
        nullable: false,
        exclusiveMinimum: each.above,
        exclusiveMaximum: each.below,
      }
    case 'large':
      return { type: 'number', nullable: false }
    case 'list':
      return { type: 'array', nullable: false }
    case 'mapping':
      return { type: 'object', nullable: false }
    default:
      return { type: 'string', nullable: false }
  }
}

function placedWidening(
  keys: readonly string[],
  mayAdmit: Widening['mayAdmit'],
  marks: readonly JsonValue[] = [],
  hints: readonly JsonValue[] = [],
): Widening {
  const path = pathOf(keys)
  return path ? { path, mayAdmit, marks, hint: { path, values: hints } } : wideningAnywhere()
}

/** @param other name of a member that the earlier schema may not declare */
function wideningAnywhere(other: readonly string[] = []): Widening {
  const path = pathOf(other)
  return { mayAdmit: () => false, marks: [], ...(path && { hint: { path, values: ['x', 1] } }) }
}

const pathOf = (keys: readonly string[]): ConditionPath | undefined =>
  keys.length === 0 ? undefined : readArgumentPath(`args${keys.map((key) => `[${JSON.stringify(key)}]`).join('')}`)
