/** A schema as a part of another one: what its references lead to has moved, and is found from the new root. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'

/** Their values are data, in which `$ref` is a member like any other. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])

/** @param at JSON pointer of its new place */
export const nestSchema = (schema: JsonSchema, at: string): JsonSchema =>
  isJsonObject(schema) ? nestObject(withoutDialect(schema), at) : schema

/** The root names the dialect. */
const withoutDialect = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'))

function nestValue(value: JsonValue, at: string): JsonValue {
  if (Array.isArray(value)) return value.map((each) => nestValue(each, at))
  return isJsonObject(value) ? nestObject(value, at) : value
}

function nestObject(schema: JsonObject, at: string): JsonObject {
  // A schema with an id of its own stays the root of its references.
  if (typeof schema['$id'] === 'string') return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === '$ref' && typeof value === 'string' && /^#(?:\/|$)/.test(value))
        return [key, `#${at}${value.slice(1)}`]
      return [key, DATA.has(key) ? value : nestValue(value, at)]
    }),
  )
}
