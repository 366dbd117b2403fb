/**
 * Which values can stand at a path of a call, as far as that is certain. What is not certain is possible: a domain may be
 * larger than the truth and never smaller, so what is proven over it is proven.
 */
import { canonical, isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Path, Segment } from '../path.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'

export interface Domain {
  /** Schemas that a value satisfies, each; only their plain keywords are read. */
  readonly schemas: readonly JsonSchema[]
  readonly absent: boolean
  /** There may be a value on the way that has no members. */
  readonly unreadable: boolean
}

const NOWHERE: Domain = { schemas: [false], absent: true, unreadable: false }

/** The domain of an argument path without `[*]`, of arguments that satisfy each of `schemas`. */
export function argumentDomain(schemas: readonly JsonSchema[], segments: readonly Segment[]): Domain {
  let at = schemas.flatMap((schema) => conjuncts(schema, isJsonObject(schema) ? schema : {}))
  let [absent, unreadable] = [false, false]
  for (const [depth, segment] of segments.entries()) {
    if (!('key' in segment)) return { schemas: [], absent: true, unreadable: true }
    if (depth > 0 && !at.some(({ schema }) => typesOf(schema)?.every((type) => type === 'object'))) unreadable = true
    if (at.some(({ schema }) => forbids(schema, segment.key))) return NOWHERE
    if (!at.some(({ schema }) => listed(schema, 'required').includes(segment.key))) absent = true
    at = at.flatMap(({ schema, root }) => {
      const next = memberSchema(schema, segment.key)
      return next === undefined ? [] : conjuncts(next, root)
    })
  }
  return { schemas: at.map(({ schema }) => schema), absent, unreadable }
}

/** Fields of a call that are no arguments, with what each may be. Fields of the tool and the agent are known and not here. */
const FIELDS: Readonly<Record<string, JsonObject>> = {
  'run.depth': { type: 'integer', minimum: 0 },
  'run.is_subagent': { type: 'boolean' },
  'run.iteration': { type: 'integer', minimum: 0 },
  'run.elapsed_seconds': { type: 'number', minimum: 0 },
  'run.tokens_used': { type: 'integer', minimum: 0 },
  'run.trigger_type': { enum: ['api', 'scheduled', 'operator'] },
  'run.taint': { type: 'boolean' },
  'session.run_count': { type: 'integer', minimum: 0 },
  'session.tokens_used': { type: 'integer', minimum: 0 },
  'session.elapsed_seconds': { type: 'number', minimum: 0 },
  'principal.type': { enum: ['api_key', 'operator', 'schedule'] },
  'principal.id': { type: 'string', maxLength: 200 },
  'principal.trigger_name': { type: 'string', maxLength: 200 },
  'svc.dispatch.trigger': { enum: ['none', 'no_handler', 'timeout', 'indeterminate'] },
  'svc.limit': { type: 'string', maxLength: 200 },
}

/** The domain of a field that is no argument; undefined where there is no such field. */
export function fieldDomain({ text, history }: Path): Domain | undefined {
  if (history)
    // A sum may be of negative numbers, and cannot be told where one of them is no number.
    return typeof history.measure === 'string'
      ? { schemas: [{ type: 'integer', minimum: 0 }], absent: false, unreadable: false }
      : { schemas: [{ type: 'number' }], absent: false, unreadable: true }
  const schema = Object.hasOwn(FIELDS, text) ? FIELDS[text] : undefined
  return schema && { schemas: [schema], absent: text === 'principal.trigger_name', unreadable: false }
}

/** True unless a schema of the domain certainly refuses the value. */
export const mayBe = ({ schemas }: Domain, value: JsonValue): boolean =>
  schemas.every((schema) => !refuses(schema, value))

/** Values that the schemas of a domain name: members of enumerations and bounds of numbers. */
export function namedIn({ schemas }: Domain): readonly JsonValue[] {
  return schemas
    .filter(isJsonObject)
    .flatMap((schema) => [
      ...(Array.isArray(schema['enum']) ? schema['enum'] : []),
      ...['const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'default'].flatMap((key) =>
        Object.hasOwn(schema, key) ? [schema[key]!] : [],
      ),
      ...(Array.isArray(schema['examples']) ? schema['examples'] : []),
    ])
}

/** The step between numbers, where a schema asks for one. */
export const stepOf = ({ schemas }: Domain): number | undefined =>
  schemas
    .filter(isJsonObject)
    .map((schema) => schema['multipleOf'])
    .find((step) => typeof step === 'number')

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
  // A character is at most two units long.
  return typeof value === 'string' && typeof schema['maxLength'] === 'number' && value.length > 2 * schema['maxLength']
}

interface Placed {
  readonly schema: JsonSchema
  /** Where its local references point. */
  readonly root: JsonObject
}

/** More than this many schemas say nothing new that would matter here. */
const MAX_CONJUNCTS = 64

/** A schema and all that it says must hold as well: what it refers to, and the members of `allOf`. */
function conjuncts(schema: JsonSchema, root: JsonObject): readonly Placed[] {
  const found = new Map<JsonSchema, Placed>()
  const visit = (each: JsonValue | undefined): void => {
    if ((typeof each !== 'boolean' && !isJsonObject(each)) || found.has(each) || found.size >= MAX_CONJUNCTS) return
    found.set(each, { schema: each, root })
    if (typeof each === 'boolean') return
    if (typeof each['$ref'] === 'string') visit(pointedAt(root, each['$ref']))
    if (Array.isArray(each['allOf'])) each['allOf'].forEach(visit)
  }
  visit(schema)
  return [...found.values()]
}

/** What a local reference means; undefined for any other. */
export function pointedAt(root: JsonSchema, ref: string): JsonValue | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let at: JsonValue | undefined = root
  for (const part of ref.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(key)]
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
}

function memberSchema(schema: JsonSchema, key: string): JsonSchema | undefined {
  if (!isJsonObject(schema)) return undefined
  const { properties, patternProperties, additionalProperties } = schema
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return properties[key] as JsonSchema
  return patternProperties === undefined && isJsonObject(additionalProperties) ? additionalProperties : undefined
}

function forbids(schema: JsonSchema, key: string): boolean {
  if (schema === false) return true
  if (!isJsonObject(schema) || schema['additionalProperties'] !== false) return false
  const { properties, patternProperties } = schema
  return patternProperties === undefined && !(isJsonObject(properties) && Object.hasOwn(properties, key))
}

export function typesOf(schema: JsonSchema): readonly string[] | undefined {
  const type = isJsonObject(schema) ? schema['type'] : undefined
  if (typeof type === 'string') return [type]
  return Array.isArray(type) ? type.filter((each) => typeof each === 'string') : undefined
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

const same = (a: JsonValue, b: JsonValue): boolean => canonical(a) === canonical(b)
