import { isJsonObject, type JsonObject } from '../../base/json/json.ts'

/** One value that an input contract names. */
export interface ContractField {
  /** `order`, `customer.name`, `lines[].amount`; `(input)` for the contract itself. */
  readonly path: string
  /** `string`, `array of number`, `one of "a", "b"`. */
  readonly type: string
  readonly isRequired: boolean
  /** The description, then limits and default in parentheses. */
  readonly about: string
}

/** Deeper objects are shown as one row: contracts come from other authors and may be deep or refer to themselves. */
const DEPTH = 4
const MOST_FIELDS = 100

/** The fields of an input contract in its order, those of nested objects after their object; at most 100. */
export function contractFields(contract: JsonObject): readonly ContractField[] {
  const rows = fieldsOf(contract, '', DEPTH)
  return (rows.length > 0 ? rows : [rowOf('(input)', contract, true)]).slice(0, MOST_FIELDS)
}

function fieldsOf(schema: JsonObject, prefix: string, depth: number): readonly ContractField[] {
  const { properties, required } = schema
  if (!isJsonObject(properties) || depth === 0) return []
  const names = Array.isArray(required) ? required : []
  return Object.entries(properties)
    .slice(0, MOST_FIELDS)
    .flatMap(([name, given]) => {
      const field = isJsonObject(given) ? given : {}
      const path = `${prefix}${name}`
      const { items } = field
      return [
        rowOf(path, field, names.includes(name)),
        ...fieldsOf(field, `${path}.`, depth - 1),
        ...(isJsonObject(items) ? fieldsOf(items, `${path}[].`, depth - 1) : []),
      ]
    })
}

const rowOf = (path: string, schema: JsonObject, isRequired: boolean): ContractField => ({
  path,
  type: typeOf(schema),
  isRequired,
  about: describeField(schema),
})

function typeOf({ type, enum: values, const: only, items, anyOf, oneOf }: JsonObject): string {
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  if (type === 'array' && isJsonObject(items)) return `array of ${typeOf({ ...items, items: null })}`
  if (Array.isArray(type)) return type.map(String).join(' or ')
  if (typeof type === 'string') return type
  const choices = anyOf ?? oneOf
  return Array.isArray(choices) ? `one of ${choices.length} shapes` : 'any'
}

/** Keywords with the words that stand before their value. */
const LIMITS: readonly (readonly [keyword: string, words: string])[] = [
  ['minimum', 'at least'],
  ['exclusiveMinimum', 'more than'],
  ['maximum', 'at most'],
  ['exclusiveMaximum', 'less than'],
  ['multipleOf', 'multiple of'],
  ['minLength', 'characters, at least'],
  ['maxLength', 'characters, at most'],
  ['minItems', 'items, at least'],
  ['maxItems', 'items, at most'],
  ['format', 'format'],
  ['pattern', 'matches'],
  ['default', 'default'],
]

function describeField(schema: JsonObject): string {
  const { description } = schema
  const limits = LIMITS.flatMap(([keyword, words]) => {
    const value = schema[keyword]
    return value === undefined ? [] : [`${words} ${typeof value === 'string' ? value : JSON.stringify(value)}`]
  }).join(', ')
  const text = typeof description === 'string' ? description : ''
  return text === '' || limits === '' ? text + limits : `${text} (${limits})`
}
