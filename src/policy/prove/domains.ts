/**
 * The values that a path of a call can have, never too few: what a schema does not rule out for certain counts as possible, so
 * a proof over the domain holds for all calls.
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { fieldAt } from '../condition/field-at.ts'
import type { ConditionPath, FactRoot, PathSegment } from '../condition/path.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'

export interface ValueDomain {
  /** A value satisfies each of these schemas; only plain keywords are considered. */
  readonly schemas: readonly PlacedSchema[]
  readonly absent: boolean
  /** The path may lead through a value without members. */
  readonly unreadable: boolean
}

export interface PlacedSchema {
  readonly schema: JsonSchema
  /** Schema that local references are resolved in; undefined where that is not certain. */
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

/** The schemas of a member of a value that satisfies `schemas`. */
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

/** True unless a schema of the domain certainly refuses the value. */
export const mayBe = ({ schemas }: ValueDomain, value: JsonValue): boolean =>
  schemas.every(({ schema }) => !rulesOut(schema, value))

/** True unless a schema of the domain certainly refuses every value of these types. */
export const mayBeOf = ({ schemas }: ValueDomain, ...types: readonly string[]): boolean =>
  schemas.every(({ schema }) => schema !== false && (typesOf(schema)?.some((type) => types.includes(type)) ?? true))

/** All values of the domain, where a schema lists them. */
export function finiteValues(domain: ValueDomain): readonly JsonValue[] | undefined {
  for (const { schema } of domain.schemas) {
    if (!isJsonObject(schema)) continue
    const values = Object.hasOwn(schema, 'const') ? [schema['const']!] : schema['enum']
    if (Array.isArray(values)) return values.filter((value) => mayBe(domain, value))
  }
  return undefined
}

/** Values that the schemas of a domain mention, such as members of enumerations and bounds of numbers. */
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

/** The numbers that schemas state for a keyword, such as `maxLength`. */
export const numbersFor = ({ schemas }: Pick<ValueDomain, 'schemas'>, keyword: string): readonly number[] =>
  schemas.flatMap(({ schema }) => {
    const value = isJsonObject(schema) ? schema[keyword] : undefined
    return typeof value === 'number' ? [value] : []
  })

function rulesOut(schema: JsonSchema, value: JsonValue): boolean {
  if (typeof schema === 'boolean') return !schema
  const types = typesOf(schema)
  if (types && !types.some((type) => isOfType(value, type))) return true
  if (Array.isArray(schema['enum']) && !schema['enum'].some((each) => isSameJson(each, value))) return true
  if (Object.hasOwn(schema, 'const') && !isSameJson(schema['const']!, value)) return true
  if (typeof value === 'number') {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
    if (typeof minimum === 'number' && value < minimum) return true
    if (typeof maximum === 'number' && value > maximum) return true
    if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return true
    return typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum
  }
  if (typeof value !== 'string') return false
  const { minLength, maxLength } = schema
  // Characters are code points, each one or two UTF-16 units long.
  if (typeof maxLength === 'number' && value.length > maxLength && Array.from(value).length > maxLength) return true
  return typeof minLength === 'number' && Array.from(value).length < minLength
}

/** Further schemas are ignored, which is safe: each could only narrow the domain. */
export const MAX_CONJUNCTS = 64

/** A schema with the schemas that it requires too: those it references, and the members of `allOf`. */
export function conjunctsOf({ schema, root }: PlacedSchema): readonly PlacedSchema[] {
  const found = new Map<JsonSchema, PlacedSchema>()
  const visit = (each: JsonValue | undefined, from: JsonSchema | undefined): void => {
    if ((typeof each !== 'boolean' && !isJsonObject(each)) || found.has(each) || found.size >= MAX_CONJUNCTS) return
    // Local references below a schema with its own `$id` are resolved from there.
    const at = isJsonObject(each) && each !== from && typeof each['$id'] === 'string' ? undefined : from
    found.set(each, { schema: each, root: at })
    if (typeof each === 'boolean') return
    if (typeof each['$ref'] === 'string' && at !== undefined) visit(pointedAt(at, each['$ref']), at)
    if (Array.isArray(each['allOf'])) for (const part of each['allOf']) visit(part, at)
  }
  visit(schema, root)
  return [...found.values()]
}

/** Resolves a local reference; undefined for any other. */
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

/** True where no value of the schema can have the member. */
export function forbidsMember(schema: JsonSchema, key: string): boolean {
  if (schema === false) return true
  if (!isJsonObject(schema) || schema['additionalProperties'] !== false) return false
  const { properties, patternProperties } = schema
  return patternProperties === undefined && !(isJsonObject(properties) && Object.hasOwn(properties, key))
}

/** The types that a schema allows; undefined where it does not restrict them. */
export function typesOf(schema: JsonSchema): readonly string[] | undefined {
  const { type, nullable } = isJsonObject(schema) ? schema : {}
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : undefined
  const named = types?.filter((each) => typeof each === 'string')
  // `nullable` is an OpenAPI keyword that the validator supports.
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

const isSameJson = (a: JsonValue, b: JsonValue): boolean => canonicalJson(a) === canonicalJson(b)
