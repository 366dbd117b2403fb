/** Which schemas OpenAI can enforce. Source: OpenAI, "Structured Outputs", supported schemas. */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'

/** Keywords of the enforceable subset. With any other one, OpenAI refuses the request as a whole. */
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
])

/**
 * Whether OpenAI can enforce a schema of an object: every object requires all its properties and allows no others, every value
 * has a type, and there are no other keywords. The engine validates arguments and answers in any case.
 */
export const isStrictSchema = (schema: JsonValue): boolean =>
  isJsonObject(schema) && schema['type'] === 'object' && isEnforceable(schema)

function isEnforceable(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema) || !Object.keys(schema).every((key) => KEYWORDS.has(key))) return false
  const { type, anyOf, items } = schema
  if (Array.isArray(anyOf)) return type === undefined && anyOf.every(isEnforceable)
  if (type === 'object') {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    return (
      schema['additionalProperties'] === false &&
      Object.keys(properties).every((name) => required.includes(name)) &&
      Object.values(properties).every(isEnforceable)
    )
  }
  if (type === 'array') return isEnforceable(items)
  if (Array.isArray(type)) return !type.includes('object') && !type.includes('array')
  return typeof type === 'string' || 'enum' in schema || 'const' in schema
}
