/**
 * Which values can stand at a path of a call, as far as that is certain. What is not certain is possible: a domain may be
 * larger than the truth and never smaller, so what is proven over it is proven.
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { fieldAt } from '../condition/fields.ts'
import type { ConditionPath, FactRoot, PathSegment } from '../condition/path.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'

export interface ValueDomain {
  /** Schemas that a value satisfies, each; only their plain keywords are read. */
  readonly schemas: readonly PlacedSchema[]
  readonly absent: boolean
  /** There may be a value on the way that has no members. */
  readonly unreadable: boolean
}

export interface PlacedSchema {
  readonly schema: JsonSchema
  /** Where its local references point; undefined where that is not certain. */
  readonly root: JsonSchema | undefined
}

const NOWHERE: ValueDomain = { schemas: [{ schema: false, root: false }], absent: true, unreadable: false }

/** The domain of an argument path without `[*]`, of arguments that satisfy each of `schemas`. */
export function argumentDomain(schemas: readonly JsonSchema[], segments: readonly PathSegment[]): ValueDomain {
  let at: readonly PlacedSchema[] = schemas.flatMap((schema) => conjunctsOf({ schema, root: schema }))
  let [absent, unreadable] = [false, false]
  for (const [depth, segment] of segments.entries()) {
    if (!('key' in segment)) return { schemas: [], absent: true, unreadable: true }
    if (depth > 0 && !at.some(({ schema }) => isObjectOnly(schema))) unreadable = true
    if (at.some(({ schema }) => forbidsMember(schema, segment.key))) return NOWHERE
    if (!at.some(({ schema }) => listed(schema, 'required').includes(segment.key))) absent = true
    at = membersOf(at, segment.key)
  }
  return { schemas: at, absent, unreadable }
}

/** What schemas say of a member of theirs. */
export const membersOf = (schemas: readonly PlacedSchema[], key: string): readonly PlacedSchema[] =>
  schemas.flatMap(({ schema, root }) => {
    const next = memberSchema(schema, key)
    return next === undefined ? [] : conjunctsOf({ schema: next, root })
  })

export const isObjectOnly = (schema: JsonSchema): boolean =>
  typesOf(schema)?.every((type) => type === 'object') ?? false

/** Roots whose facts differ from call to call. Those of the tool and the agent are known, and `time` is compared with `within` only. */
const VARYING_ROOTS: readonly FactRoot[] = ['run', 'session', 'principal', 'svc']

/** The domain of a fact or a history measure that differs from call to call; undefined for any other path. */
export function fieldDomain(path: ConditionPath): ValueDomain | undefined {
  const { root, fn, history } = path
  // A sum may be of negative numbers, and is unknown where one of them is not a number.
  if (history)
    return typeof history.measure === 'string'
      ? domainOf({ type: 'integer', minimum: 0 })
      : { ...domainOf({ type: 'number' }), unreadable: true }
  const field = fn === undefined && VARYING_ROOTS.includes(root) ? fieldAt(path) : undefined
  return field && { ...domainOf(field.schema), absent: field.isOptional === true }
}

const domainOf = (schema: JsonObject): ValueDomain => ({
  schemas: [{ schema, root: schema }],
  absent: false,
  unreadable: false,
})

/** True unless a schema of the domain certainly refuses this one value. */
export const mayBe = ({ schemas }: ValueDomain, value: JsonValue): boolean =>
  schemas.every(({ schema }) => !refuses(schema, value))

/** True unless a schema of the domain certainly refuses every value of these types. */
export const mayBeOf = ({ schemas }: ValueDomain, ...types: readonly string[]): boolean =>
  schemas.every(({ schema }) => schema !== false && (typesOf(schema)?.some((type) => types.includes(type)) ?? true))

/** The only values that the domain can have, where a schema lists them. */
export function finiteValues(domain: ValueDomain): readonly JsonValue[] | undefined {
  for (const { schema } of domain.schemas) {
    if (!isJsonObject(schema)) continue
    const values = Object.hasOwn(schema, 'const') ? [schema['const']!] : schema['enum']
    if (Array.isArray(values)) return values.filter((value) => mayBe(domain, value))
  }
  return undefined
}

/** Values that the schemas of a domain name: members of enumerations and bounds of numbers. */
export function namedIn({ schemas }: Pick<ValueDomain, 'schemas'>): readonly JsonValue[] {
  return schemas
    .map(({ schema }) => schema)
    .filter(isJsonObject)
    .flatMap((schema) => [
      ...(Array.isArray(schema['enum']) ? schema['enum'] : []),
      ...['const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'default'].flatMap((key) =>
        Object.hasOwn(schema, key) ? [schema[key]!] : [],
      ),
      ...(Array.isArray(schema['examples']) ? schema['examples'] : []),
    ])
}

/** The numbers that schemas give for a keyword, such as `maxLength`. */
export const numbersFor = ({ schemas }: Pick<ValueDomain, 'schemas'>, keyword: string): readonly number[] =>
  schemas.flatMap(({ schema }) => {
    const value = isJsonObject(schema) ? schema[keyword] : undefined
    return typeof value === 'number' ? [value] : []
  })

function refuses(schema: JsonSchema, value: JsonValue): boolean {
  if (typeof schema === 'boolean') return !schema
  const types = typesOf(schema)
  if (types && !types.some((type) => isOfType(value, type))) return true
  if (Array.isArray(schema['enum']) && !schema['enum'].some((each) => same(each, value))) return true
  if (Object.hasOwn(schema, 'const') && !same(schema['const']!, value)) return true
  if (typeof value === 'number') {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
    if (typeof minimum === 'number' && value < minimum) return true
    if (typeof maximum === 'number' && value > maximum) return true
    if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return true
    return typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum
  }
  if (typeof value !== 'string') return false
  const { minLength, maxLength } = schema
  // Characters are code points, and each is one or two units long.
  if (typeof maxLength === 'number' && value.length > maxLength && Array.from(value).length > maxLength) return true
  return typeof minLength === 'number' && Array.from(value).length < minLength
}

/** Schemas beyond this many are left out: each can only narrow what the others allow. */
export const MAX_CONJUNCTS = 64

/** A schema and all that it says must hold as well: what it refers to, and the members of `allOf`. */
export function conjunctsOf({ schema, root }: PlacedSchema): readonly PlacedSchema[] {
  const found = new Map<JsonSchema, PlacedSchema>()
  const visit = (each: JsonValue | undefined, from: JsonSchema | undefined): void => {
    if ((typeof each !== 'boolean' && !isJsonObject(each)) || found.has(each) || found.size >= MAX_CONJUNCTS) return
    // A schema with an `$id` of its own is where the references below it begin.
    const at = isJsonObject(each) && each !== from && typeof each['$id'] === 'string' ? undefined : from
    found.set(each, { schema: each, root: at })
    if (typeof each === 'boolean') return
    if (typeof each['$ref'] === 'string' && at !== undefined) visit(pointedAt(at, each['$ref']), at)
    if (Array.isArray(each['allOf'])) for (const part of each['allOf']) visit(part, at)
  }
  visit(schema, root)
  return [...found.values()]
}

/** What a local reference means; undefined for any other. */
export function pointedAt(root: JsonSchema, ref: string): JsonValue | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let at: JsonValue | undefined = root
  for (const part of ref.slice(2).split('/')) {
    const key = unescapePart(part)
    if (key === undefined) return undefined
    if (Array.isArray(at)) at = at[Number(key)]
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
    if (isJsonObject(at) && typeof at['$id'] === 'string') return undefined
  }
  return at
}

function unescapePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

function memberSchema(schema: JsonSchema, key: string): JsonSchema | undefined {
  if (!isJsonObject(schema)) return undefined
  const { properties, patternProperties, additionalProperties } = schema
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return properties[key] as JsonSchema
  return patternProperties === undefined && isJsonObject(additionalProperties) ? additionalProperties : undefined
}

/** True where no value of the schema has such a member. */
export function forbidsMember(schema: JsonSchema, key: string): boolean {
  if (schema === false) return true
  if (!isJsonObject(schema) || schema['additionalProperties'] !== false) return false
  const { properties, patternProperties } = schema
  return patternProperties === undefined && !(isJsonObject(properties) && Object.hasOwn(properties, key))
}

/** The types that a schema allows; undefined where it does not say. */
export function typesOf(schema: JsonSchema): readonly string[] | undefined {
  const { type, nullable } = isJsonObject(schema) ? schema : {}
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : undefined
  const named = types?.filter((each) => typeof each === 'string')
  // A keyword of OpenAPI that the validator honours.
  return named && nullable === true ? [...named, 'null'] : named
}

export const listed = (schema: JsonSchema, key: string): readonly JsonValue[] => {
  const list = isJsonObject(schema) ? schema[key] : undefined
  return Array.isArray(list) ? list : []
}

export function isOfType(value: JsonValue, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

const same = (a: JsonValue, b: JsonValue): boolean => canonicalJson(a) === canonicalJson(b)
