/** A quick check for valid schemas, so that only the others are validated against the meta-schema. */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'

/** True if the schema has only common keywords with valid values; false if that was not determined. */
export function isPlainSchema(schema: JsonValue): boolean {
  if (typeof schema === 'boolean') return true
  if (!isJsonObject(schema)) return false
  for (const keyword in schema) {
    const fits = KEYWORDS.get(keyword)
    if (fits === undefined || !fits(schema[keyword]!)) return false
  }
  return true
}

type ValueCheck = (value: JsonValue) => boolean

const isText: ValueCheck = (value) => typeof value === 'string'
const isNumber: ValueCheck = (value) => Number.isFinite(value)
const isCount: ValueCheck = (value) => Number.isInteger(value) && (value as number) >= 0
const isFlag: ValueCheck = (value) => typeof value === 'boolean'

const isListOf =
  (fits: ValueCheck): ValueCheck =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(fits)

function areNamed(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false
  for (const name in value) if (!isPlainSchema(value[name]!)) return false
  return true
}

const TYPES = new Set<JsonValue>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

/** Above this number of strings a set is faster. */
const FEW = 50

const areDifferentTexts: ValueCheck = (value) =>
  Array.isArray(value) &&
  value.length <= FEW &&
  value.every((each, at) => typeof each === 'string' && value.indexOf(each) === at)

const KEYWORDS: ReadonlyMap<string, ValueCheck> = new Map(
  Object.entries<ValueCheck>({
    type: (value) => TYPES.has(value),
    title: isText,
    description: isText,
    format: isText,
    pattern: isText,
    enum: Array.isArray,
    const: () => true,
    default: () => true,
    examples: Array.isArray,
    minimum: isNumber,
    maximum: isNumber,
    exclusiveMinimum: isNumber,
    exclusiveMaximum: isNumber,
    minLength: isCount,
    maxLength: isCount,
    minItems: isCount,
    maxItems: isCount,
    uniqueItems: isFlag,
    required: areDifferentTexts,
    properties: areNamed,
    $defs: areNamed,
    additionalProperties: isPlainSchema,
    items: isPlainSchema,
    anyOf: isListOf(isPlainSchema),
    allOf: isListOf(isPlainSchema),
    oneOf: isListOf(isPlainSchema),
  }),
)
