/** Whether a schema certainly refuses a value, by its plain keywords. No answer proves nothing. */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { isRefusedByPattern } from './pattern-fit.ts'
import { typesOf } from './schema-parts.ts'

/** True where the schema certainly refuses the value. */
export const isRefused = (schema: JsonSchema, value: JsonValue): boolean =>
  isJsonObject(schema) ? describeMisfit(schema, value) !== undefined || isRefusedByPattern(schema, value) : !schema

/** Why a value does not fit; undefined where it does, or where no plain keyword refuses it. */
export function describeMisfit(schema: JsonObject, value: JsonValue): string | undefined {
  const types = typesOf(schema)
  if (types && !types.some((type) => isOfType(value, type))) return `the type is ${types.join(' or ')}`
  if (Array.isArray(schema['enum']) && !schema['enum'].some((each) => isSameJson(each, value)))
    return 'it is none of the listed values'
  if (Object.hasOwn(schema, 'const') && !isSameJson(schema['const']!, value)) return 'another value is fixed'
  const limit = (key: string): number | undefined => (typeof schema[key] === 'number' ? schema[key] : undefined)
  if (typeof value === 'number') {
    if (value < (limit('minimum') ?? -Infinity) || value <= (limit('exclusiveMinimum') ?? -Infinity))
      return 'it is too small'
    if (value > (limit('maximum') ?? Infinity) || value >= (limit('exclusiveMaximum') ?? Infinity))
      return 'it is too large'
  }
  if (typeof value === 'string') {
    const [least, most] = [limit('minLength') ?? 0, limit('maxLength') ?? Infinity]
    // Characters are code points, each one or two UTF-16 units long.
    if (value.length < least * 2 && Array.from(value).length < least) return 'it is too short'
    if (value.length > most && Array.from(value).length > most) return 'it is too long'
  }
  return undefined
}

function isOfType(value: JsonValue, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

const isSameJson = (a: JsonValue, b: JsonValue): boolean => canonicalJson(a) === canonicalJson(b)
