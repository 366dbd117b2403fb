/** Which schemas OpenAI can enforce. Source: OpenAI, "Structured Outputs", supported schemas. */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { propertyPlaces } from '../../spec/vendor-tool-limits.ts'

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
  isJsonObject(schema) &&
  schema['type'] === 'object' &&
  isEnforceable(schema, MOST_LEVELS) &&
  propertyPlaces(schema, '').length <= MOST_PROPERTIES

/** Bounds of OpenAI on what it enforces; schemas beyond them are sent, but not as strict. */
const MOST_LEVELS = 10
const MOST_PROPERTIES = 5000

function isEnforceable(schema: JsonValue | undefined, levels: number): boolean {
  if (levels === 0) return false
  if (!isJsonObject(schema) || !Object.keys(schema).every((key) => KEYWORDS.has(key))) return false
  const { type, anyOf, items } = schema
  if (Array.isArray(anyOf)) return type === undefined && anyOf.every((each) => isEnforceable(each, levels))
  if (type === 'object') {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    return (
      schema['additionalProperties'] === false &&
      Object.keys(properties).every((name) => required.includes(name)) &&
      Object.values(properties).every((each) => isEnforceable(each, levels - 1))
    )
  }
  if (type === 'array') return isEnforceable(items, levels - 1)
  if (Array.isArray(type)) return !type.includes('object') && !type.includes('array')
  return typeof type === 'string' || 'enum' in schema || 'const' in schema
}
