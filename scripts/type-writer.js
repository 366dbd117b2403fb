// Writes TypeScript types of JSON Schemas: those of the HTTP interface (openapi.js) and of the documents (types.js). It reads the
// keywords that the schemas of this repository use.

/** A value as a type of its own. */
export const literal = (value) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value)

const docOf = ({ description }) => (description === undefined ? '' : `/** ${description.trim()} */\n`)

/** True where every type of JSON is named. */
const isAnything = ({ type }) => Array.isArray(type) && type.length === 6

const keyOf = (name) => (/^[\w$]+$/.test(name) ? name : literal(name))

/**
 * @param nameOf the name of the type to which a `$ref` leads
 * @param isNullable true for a reference whose values may be null although its type is an interface
 * @returns `typeOf`, the type of a schema, and `declarationOf`, its declaration under a name
 */
export function createTypeWriter(nameOf, isNullable = () => false) {
  const unionOf = (schemas) => schemas.map(typeOf).join(' | ')

  const objectOf = (schema) => {
    const { properties, additionalProperties: rest } = schema
    if (properties !== undefined) return `{\n${membersOf(schema)}\n}`
    return typeof rest === 'object' ? `Readonly<Record<string, ${typeOf(rest)}>>` : 'JsonObject'
  }

  const typeOf = (schema) => {
    const {
      $ref,
      'x-type': written,
      type,
      const: only,
      enum: values,
      'x-extensible-enum': words,
      items,
      oneOf,
      anyOf,
    } = schema
    if (written !== undefined) return written
    if ($ref !== undefined) return nameOf($ref) + (isNullable(schema) ? ' | null' : '')
    if (only !== undefined) return literal(only)
    if (values !== undefined) return values.map(literal).join(' | ')
    if (oneOf !== undefined) return unionOf(oneOf)
    if (anyOf !== undefined) return unionOf(anyOf)
    // A client compiled today reads what is added tomorrow.
    if (words !== undefined) return [...words.map(literal), '(string & {})'].join(' | ')
    if (Array.isArray(type) && !isAnything(schema)) return unionOf(type.map((each) => ({ ...schema, type: each })))
    if (type === 'array') return `readonly ${/^\w+$/.test(typeOf(items)) ? typeOf(items) : `(${typeOf(items)})`}[]`
    if (type === 'object') return objectOf(schema)
    if (type === 'integer') return 'number'
    return typeof type === 'string' ? type : 'JsonValue'
  }

  const membersOf = ({ properties, required = [], additionalProperties: rest }) => {
    const members = Object.entries(properties).map(
      ([name, schema]) =>
        `${docOf(schema)}readonly ${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
    )
    if (typeof rest === 'object') members.push(`${docOf(rest)}readonly [key: string]: ${typeOf(rest)} | undefined`)
    return members.join('\n')
  }

  const declarationOf = (name, schema) => {
    const parts = schema.allOf ?? [schema]
    const own = parts.find(({ properties }) => properties !== undefined)
    if (own === undefined && schema.allOf === undefined)
      return `${docOf(schema)}export type ${name} = ${typeOf(schema)}\n`
    const bases = parts.flatMap((part) => (part.$ref === undefined ? [] : [nameOf(part.$ref)]))
    const above = bases.length === 0 ? '' : ` extends ${bases.join(', ')}`
    return `${docOf(schema)}export interface ${name}${above} {\n${own === undefined ? '' : membersOf(own)}\n}\n`
  }

  return { typeOf, declarationOf }
}
