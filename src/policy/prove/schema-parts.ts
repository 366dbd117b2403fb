/** Reads JSON Schemas: which schemas apply to a value together, and what they say of its members and types. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { resolveReference } from '../../base/json/resolve-pointer.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import type { PathSegment } from '../condition/segment.ts'
import { ownMember } from '../../base/json/own-member.ts'

export interface PlacedSchema {
  readonly schema: JsonSchema
  /** Schema that local references are resolved in; undefined where that is not certain. */
  readonly root: JsonSchema | undefined
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

/** The part that a local reference leads to; undefined for any other, and behind a schema with its own `$id`. */
export const pointedAt = (root: JsonSchema, ref: string): JsonValue | undefined =>
  resolveReference(root, ref, (part) => !(isJsonObject(part) && typeof part['$id'] === 'string'))

/** The schemas of a member, or of the elements, of a value that satisfies `schemas`. */
export const membersOf = (schemas: readonly PlacedSchema[], segment: PathSegment): readonly PlacedSchema[] =>
  schemas.flatMap(({ schema, root }) => {
    const next = memberSchema(schema, segment)
    return next === undefined ? [] : conjunctsOf({ schema: next, root })
  })

function memberSchema(schema: JsonSchema, segment: PathSegment): JsonSchema | undefined {
  if (!isJsonObject(schema)) return undefined
  const { properties, patternProperties, additionalProperties, items, prefixItems } = schema
  // `items` speaks of all elements only where `prefixItems` speaks of none.
  if (!('key' in segment)) return prefixItems === undefined ? (items as JsonSchema | undefined) : undefined
  if (isJsonObject(properties) && Object.hasOwn(properties, segment.key)) return properties[segment.key] as JsonSchema
  return patternProperties === undefined && isJsonObject(additionalProperties) ? additionalProperties : undefined
}

/** True where no value of the schema can have the member. */
export function forbidsMember(schema: JsonSchema, key: string): boolean {
  if (schema === false) return true
  if (!isJsonObject(schema) || schema['additionalProperties'] !== false) return false
  const { properties, patternProperties } = schema
  return patternProperties === undefined && !(isJsonObject(properties) && Object.hasOwn(properties, key))
}

export const requiresMember = (schema: JsonSchema, key: string): boolean => listIn(schema, 'required').includes(key)

/** The list at a keyword; empty where there is none. */
export function listIn(schema: JsonSchema, keyword: string): readonly JsonValue[] {
  const list = isJsonObject(schema) ? schema[keyword] : undefined
  return Array.isArray(list) ? list : []
}

/** The types that a schema allows; undefined where it does not restrict them, or names one that JSON Schema lacks. */
export function typesOf(schema: JsonSchema): readonly string[] | undefined {
  const { type, nullable } = isJsonObject(schema) ? schema : {}
  const types = typeof type === 'string' ? [type] : type
  if (!Array.isArray(types) || types.length === 0) return undefined
  if (!types.every((each) => typeof each === 'string' && JSON_TYPES.has(each))) return undefined
  // `nullable` is an OpenAPI keyword that the validator supports.
  return (nullable === true ? [...types, 'null'] : types) as readonly string[]
}

const JSON_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

/** True where the schema allows values of one type only. */
export const isOnlyOf = (schema: JsonSchema, type: 'object' | 'array'): boolean =>
  typesOf(schema)?.every((each) => each === type) ?? false

/** All values of a schema, where it lists them; it may refuse some of them by other keywords. */
export function enumeratedValues(schema: JsonSchema): readonly JsonValue[] | undefined {
  if (!isJsonObject(schema)) return undefined
  const fixed = ownMember(schema, 'const')
  if (fixed !== undefined) return [fixed]
  if (Array.isArray(schema['enum'])) return schema['enum']
  const types = typesOf(schema)
  if (!types?.every((type) => type === 'boolean' || type === 'null')) return undefined
  return types.flatMap((type): JsonValue[] => (type === 'null' ? [null] : [true, false]))
}

/** A part of a schema together with the definitions of its root, so that it can be used alone. */
export function attachDefinitions(schema: JsonObject, root: JsonObject): JsonObject {
  const { $defs, definitions } = root
  return { ...schema, ...($defs && { $defs }), ...(definitions && { definitions }) }
}
