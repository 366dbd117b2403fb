/**
 * The language in which operations describe what they take and answer. A schema is written once and has four readers: TypeScript, which
 * infers the type of its values; the server, whose build makes validators of what is asked; the tests, which validate real answers; and
 * the references, which show its shape and what `described` says of it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { fromJson } from '../base/json/typed-json.ts'

/** A JSON Schema that accepts every `T`. */
export interface TypedSchema<T> {
  readonly schema: JsonObject
  /** For the type checker only. The position of `T` lets a schema that accepts more stand for one that must accept less. */
  readonly accepts?: (value: T) => void
}

export interface OptionalField<T> extends TypedSchema<T> {
  readonly isOptional: true
}

export type SchemaFields = Readonly<Record<string, TypedSchema<never>>>
/** The type of what a schema accepts. */
export type ValueOf<S> = S extends TypedSchema<infer T> ? T : never
type OptionalNames<F> = { [K in keyof F]: F[K] extends OptionalField<never> ? K : never }[keyof F]
export type ObjectOf<F> = { readonly [K in Exclude<keyof F, OptionalNames<F>>]: ValueOf<F[K]> } & {
  readonly [K in OptionalNames<F>]?: ValueOf<F[K]>
}

export const string: TypedSchema<string> = { schema: { type: 'string' } }
export const boolean: TypedSchema<boolean> = { schema: { type: 'boolean' } }
export const integer: TypedSchema<number> = { schema: { type: 'integer' } }
export const number: TypedSchema<number> = { schema: { type: 'number' } }
/** A value of an author, a model or a tool. */
export const anyJson: TypedSchema<JsonValue> = { schema: {} }
export const anyJsonObject: TypedSchema<JsonObject> = { schema: { type: 'object' } }
/** As `anyJson` and `anyJsonObject`, for values whose types declare more than JSON or are not known. */
export const anyValue: TypedSchema<unknown> = { schema: {} }
export const anyObject: TypedSchema<object> = { schema: { type: 'object' } }

/** Texts by names that are not ours. */
export const textByName: TypedSchema<Readonly<Record<string, string>>> = {
  schema: { type: 'object', additionalProperties: { type: 'string' } },
}

/** A value whose shape another module declares, such as the explanation of a decision: no command prints it. */
export const typedJson = <T>(): TypedSchema<T> => ({ schema: {} })

/** A body of the HTTP interface, by its name in `schemas/openapi.yaml`. */
export const apiBody = <T>(name: string): TypedSchema<T> => ({ schema: { $ref: `#/components/schemas/${name}` } })

export const oneOf = <const T extends string>(...values: readonly T[]): TypedSchema<T> => ({
  schema: { type: 'string', enum: [...values] },
})

export const nullable = <T>({ schema }: TypedSchema<T>): TypedSchema<T | null> => ({
  schema:
    typeof schema['type'] === 'string' && !('enum' in schema)
      ? { ...schema, type: [schema['type'], 'null'] }
      : { anyOf: [schema, { type: 'null' }] },
})

export const optional = <T>({ schema }: TypedSchema<T>): OptionalField<T> => ({ schema, isOptional: true })

/** The same fields, each of which may be absent: what changes a thing. */
export const optionalFields = <const F extends SchemaFields>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, isOptional: true }])) as {
    readonly [K in keyof F]: OptionalField<ValueOf<F[K]>>
  }

export const list = <T>({ schema }: TypedSchema<T>): TypedSchema<readonly T[]> => ({
  schema: { type: 'array', items: schema },
})

/** An object with these fields and no others. In a request, others are ignored. */
export function object<const F extends SchemaFields>(fields: F): TypedSchema<ObjectOf<F>> {
  const required = Object.entries(fields).flatMap(([name, field]) => ('isOptional' in field ? [] : name))
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
      ...(required.length > 0 && { required }),
    },
  }
}

/** An object with these fields and others that depend on the case. */
export const openObject = <const F extends SchemaFields>(fields: F): TypedSchema<ObjectOf<F>> => ({
  schema: { ...object(fields).schema, additionalProperties: true },
})

/** The object with more fields. */
export function extended<T, const F extends SchemaFields>(
  { schema }: TypedSchema<T>,
  fields: F,
): TypedSchema<T & ObjectOf<F>> {
  const [base, more] = [fromJson<ObjectSchema>(schema), fromJson<ObjectSchema>(object(fields).schema)]
  return {
    schema: {
      ...schema,
      properties: { ...base.properties, ...more.properties },
      required: [...base.required, ...(more.required ?? [])],
    },
  }
}

/** An object of one of two forms. In the schema, fields that only one of them has are optional. */
export function either<A, B>({ schema: one }: TypedSchema<A>, { schema: other }: TypedSchema<B>): TypedSchema<A | B> {
  const [left, right] = [fromJson<ObjectSchema>(one), fromJson<ObjectSchema>(other)]
  return {
    schema: {
      ...one,
      properties: { ...left.properties, ...right.properties },
      required: left.required.filter((name) => right.required.includes(name)),
    },
  }
}

interface ObjectSchema {
  readonly properties: JsonObject
  readonly required: readonly string[]
}

/** What every list route and list command answers. Source: docs/design/command-line.md#streams */
export interface OperatorList<T> {
  readonly items: readonly T[]
  readonly total: number
}

export const listAnswer = <T>(item: TypedSchema<T>): TypedSchema<OperatorList<T>> =>
  object({ items: list(item), total: integer })

/** Says of a value what its name and type do not; the reference of the operator interface shows it. */
export const described = <S extends TypedSchema<never>>(field: S, description: string): S => ({
  ...field,
  schema: { ...field.schema, description },
})

/** What a request may hold beyond its type. `message`: the sentence for a text that does not match `pattern`. */
export const bounded = <S extends TypedSchema<never>>(field: S, { message, ...limits }: SchemaLimits): S => ({
  ...field,
  schema: { ...field.schema, ...limits, ...(message !== undefined && { 'x-message': message }) } as JsonObject,
})

interface SchemaLimits {
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly format?: 'uuid'
  readonly pattern?: string
  readonly message?: string
}

/** An integer that is at least `minimum`, and at most `maximum` where it is given. */
export const integerFrom = (minimum: number, maximum = Number.MAX_SAFE_INTEGER): TypedSchema<number> =>
  bounded(integer, { minimum, maximum })

/** A text of at least one character. */
export const textUpTo = (maxLength: number): TypedSchema<string> => bounded(string, { minLength: 1, maxLength })

/** The shape of a schema for people, without the types of its values: `{a,b?,kind:"x"|"y",items:[{c}]}`. */
export function shapeText(schema: JsonObject): string {
  const { $ref, properties, items, anyOf, required = [], additionalProperties } = schema
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1)
  if (isJsonObject(properties)) {
    const fields = Object.entries(properties).map(([name, inner]) => {
      const shape = isJsonObject(inner) ? shapeText(inner) : ''
      return `${name}${isIn(required, name) ? '' : '?'}${shape && `:${shape}`}`
    })
    return `{${[...fields, ...(additionalProperties === true ? ['…'] : [])].join(',')}}`
  }
  if (isJsonObject(items)) {
    const shape = shapeText(items)
    return shape && `[${shape}]`
  }
  if (Array.isArray(anyOf)) {
    // Of a nullable value: null is left out.
    return anyOf.map((each) => (isJsonObject(each) ? shapeText(each) : '')).find((shape) => shape !== '') ?? ''
  }
  const values = Array.isArray(schema['enum']) ? schema['enum'] : []
  return values.map((each) => JSON.stringify(each)).join('|')
}

const isIn = (names: JsonValue, name: string): boolean => Array.isArray(names) && names.includes(name)
