/** Whether a schema certainly refuses a value, by keywords that are cheap to check. No answer proves nothing. */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { isRefusedByPattern } from './pattern-fit.ts'
import { pointedAt, typesOf } from './schema-parts.ts'
import { ownMember } from '../../base/json/own-member.ts'

/** True where the schema certainly refuses the value. */
export const isRefused = (schema: JsonSchema, value: JsonValue): boolean =>
  isJsonObject(schema) ? describeMisfit(schema, value) !== undefined : !schema

/**
 * Why a value does not fit; undefined where it does, or where no such keyword refuses it.
 * @param root the schema in which local references are resolved; without it they refuse nothing
 */
export function describeMisfit(schema: JsonObject, value: JsonValue, root?: JsonSchema): string | undefined {
  return new MisfitSearch(root).find(schema, value)
}

/** Schemas that one search visits: references and combinations can lead to far more. */
const MAX_VISITS = 1000

class MisfitSearch {
  readonly #root: JsonSchema | undefined
  #visits = 0

  constructor(root: JsonSchema | undefined) {
    this.#root = root
  }

  find(schema: JsonValue | undefined, value: JsonValue): string | undefined {
    if (schema === false) return 'nothing fits there'
    if (!isJsonObject(schema) || ++this.#visits > MAX_VISITS) return undefined
    return misfitOfScalar(schema, value) ?? this.#ofParts(schema, value) ?? this.#ofCombination(schema, value)
  }

  #ofParts(schema: JsonObject, value: JsonValue): string | undefined {
    if (Array.isArray(value)) return misfitOfList(schema, value) ?? this.#ofItems(schema, value)
    return isJsonObject(value) ? (misfitOfObject(schema, value) ?? this.#ofMembers(schema, value)) : undefined
  }

  #ofItems(schema: JsonObject, list: readonly JsonValue[]): string | undefined {
    const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : []
    for (const [index, item] of list.entries()) {
      const why = this.find(index < first.length ? first[index] : schema['items'], item)
      if (why !== undefined) return `in its item ${index}, ${why}`
    }
    return undefined
  }

  #ofMembers(schema: JsonObject, value: JsonObject): string | undefined {
    const named = isJsonObject(schema['properties']) ? schema['properties'] : {}
    for (const [key, member] of Object.entries(value)) {
      const isNamed = Object.hasOwn(named, key)
      // A property that a pattern matches is not an additional one.
      if (!isNamed && Object.hasOwn(schema, 'patternProperties')) continue
      const of = isNamed ? named[key] : schema['additionalProperties']
      if (of === false) return `it must have no property "${key}"`
      const why = this.find(of, member)
      if (why !== undefined) return `in its property "${key}", ${why}`
    }
    return undefined
  }

  #ofCombination(schema: JsonObject, value: JsonValue): string | undefined {
    const { allOf, anyOf, oneOf, $ref } = schema
    const whole = [
      ...(Array.isArray(allOf) ? allOf : []),
      // Below a schema with an `$id` of its own, references are resolved from there.
      typeof $ref === 'string' && this.#root !== undefined && schema['$id'] === undefined
        ? pointedAt(this.#root, $ref)
        : undefined,
    ]
    for (const each of whole) {
      const why = this.find(each, value)
      if (why !== undefined) return why
    }
    for (const choice of [anyOf, oneOf])
      if (Array.isArray(choice) && choice.length > 0 && choice.every((each) => this.find(each, value) !== undefined))
        return 'it fits none of the choices'
    return undefined
  }
}

function misfitOfScalar(schema: JsonObject, value: JsonValue): string | undefined {
  const types = typesOf(schema)
  if (types && !types.some((type) => isOfType(value, type))) return `the type is ${types.join(' or ')}`
  if (Array.isArray(schema['enum']) && !schema['enum'].some((each) => isSameJson(each, value)))
    return 'it is none of the listed values'
  const fixed = ownMember(schema, 'const')
  if (fixed !== undefined && !isSameJson(fixed, value)) return 'another value is fixed'
  const limit = (key: string): number | undefined => limitOf(schema, key)
  if (typeof value === 'number') {
    if (value < (limit('minimum') ?? -Infinity) || value <= (limit('exclusiveMinimum') ?? -Infinity))
      return 'it is too small'
    if (value > (limit('maximum') ?? Infinity) || value >= (limit('exclusiveMaximum') ?? Infinity))
      return 'it is too large'
    const step = limit('multipleOf') ?? 0
    // Fractions are divided with a rounding error.
    if (Number.isSafeInteger(value) && Number.isSafeInteger(step) && step > 0 && value % step !== 0)
      return `it is no multiple of ${step}`
  }
  if (typeof value === 'string') {
    const [least, most] = [limit('minLength') ?? 0, limit('maxLength') ?? Infinity]
    // Characters are code points, each one or two UTF-16 units long.
    if (value.length < least * 2 && Array.from(value).length < least) return 'it is too short'
    if (value.length > most && Array.from(value).length > most) return 'it is too long'
    if (isRefusedByPattern(schema, value)) return 'its pattern is another'
  }
  return undefined
}

function misfitOfList(schema: JsonObject, list: readonly JsonValue[]): string | undefined {
  if (list.length < (limitOf(schema, 'minItems') ?? 0)) return 'it has too few items'
  if (list.length > (limitOf(schema, 'maxItems') ?? Infinity)) return 'it has too many items'
  const isRepeating =
    schema['uniqueItems'] === true && new Set(list.map((each) => canonicalJson(each))).size < list.length
  return isRepeating ? 'it has an item twice' : undefined
}

function misfitOfObject(schema: JsonObject, value: JsonObject): string | undefined {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const missing = required.find((name) => typeof name === 'string' && !Object.hasOwn(value, name))
  if (missing !== undefined) return `it lacks the property "${missing as string}"`
  const count = Object.keys(value).length
  if (count < (limitOf(schema, 'minProperties') ?? 0)) return 'it has too few properties'
  return count > (limitOf(schema, 'maxProperties') ?? Infinity) ? 'it has too many properties' : undefined
}

const limitOf = (schema: JsonObject, key: string): number | undefined => {
  const limit = schema[key]
  return typeof limit === 'number' ? limit : undefined
}

function isOfType(value: JsonValue, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

const isSameJson = (a: JsonValue, b: JsonValue): boolean => canonicalJson(a) === canonicalJson(b)
