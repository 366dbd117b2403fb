/**
 * Schemas of what commands print with `--json`. Each is written once and has four readers: TypeScript, where a schema is
 * declared for the type that the command prints; the tests, which validate real answers; `svc help` and the reference,
 * which show its shape; and `svc schema output:COMMAND`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { ItemError } from '../shell/act-on-each.ts'
import type { CommandSpec } from '../shell/command.ts'

/** A JSON Schema that accepts every `T`. */
export interface AnswerSchema<T> {
  readonly schema: JsonObject
  /** For the type checker only. The position of `T` lets a schema that accepts more stand for one that must accept less. */
  readonly accepts?: (value: T) => void
}

interface OptionalField<T> extends AnswerSchema<T> {
  readonly isOptional: true
}

type AnswerFields = Readonly<Record<string, AnswerSchema<never>>>
/** The type of what a schema accepts. */
export type AnswerOf<S> = S extends AnswerSchema<infer T> ? T : never
type OptionalNames<F> = { [K in keyof F]: F[K] extends OptionalField<never> ? K : never }[keyof F]
type ObjectOf<F> = { readonly [K in Exclude<keyof F, OptionalNames<F>>]: AnswerOf<F[K]> } & {
  readonly [K in OptionalNames<F>]?: AnswerOf<F[K]>
}

export const string: AnswerSchema<string> = { schema: { type: 'string' } }
export const boolean: AnswerSchema<boolean> = { schema: { type: 'boolean' } }
export const integer: AnswerSchema<number> = { schema: { type: 'integer' } }
export const number: AnswerSchema<number> = { schema: { type: 'number' } }
/** A value of an author, a model or a tool: any JSON. */
export const anyValue: AnswerSchema<unknown> = { schema: {} }
/** An object whose names are not ours, such as arguments. */
export const anyObject: AnswerSchema<object> = { schema: { type: 'object' } }

/** Texts by names that are not ours. */
export const textByName: AnswerSchema<Readonly<Record<string, string>>> = {
  schema: { type: 'object', additionalProperties: { type: 'string' } },
}

export const oneOf = <const T extends string>(...values: readonly T[]): AnswerSchema<T> => ({
  schema: values.length === 1 ? { const: values[0]! } : { enum: [...values] },
})

export const nullable = <T>({ schema }: AnswerSchema<T>): AnswerSchema<T | null> => ({
  schema: { anyOf: [schema, { type: 'null' }] },
})

export const optional = <T>({ schema }: AnswerSchema<T>): OptionalField<T> => ({ schema, isOptional: true })

export const list = <T>({ schema }: AnswerSchema<T>): AnswerSchema<readonly T[]> => ({
  schema: { type: 'array', items: schema },
})

/** An object with these fields and no others. */
export function object<const F extends AnswerFields>(fields: F): AnswerSchema<ObjectOf<F>> {
  const required = Object.keys(fields).filter((name) => !('isOptional' in fields[name]!))
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
      ...(required.length > 0 && { required }),
    },
  }
}

/** An object with these fields and others that depend on the case. */
export const openObject = <const F extends AnswerFields>(fields: F): AnswerSchema<ObjectOf<F>> => ({
  schema: { ...object(fields).schema, additionalProperties: true },
})

/** The form of every list. Source: docs/design/command-line.md#streams */
export const listAnswer = <T>(
  item: AnswerSchema<T>,
): AnswerSchema<{ readonly items: readonly T[]; readonly total: number }> =>
  object({ items: list(item), total: integer })

type RefusedItem<Name extends string> = Readonly<Record<Name, string>> & { readonly error: ItemError }

/** An item, or why it was refused. @param name the field with its id */
export const orRefused = <T, const Name extends string>(
  { schema }: AnswerSchema<T>,
  name: Name,
): AnswerSchema<T | RefusedItem<Name>> => ({
  schema: {
    anyOf: [
      schema,
      object({ [name]: string, error: openObject({ code: string, message: string, hint: optional(string) }) }).schema,
    ],
  },
})

/** A list with a result for each thing that was named, in order. @param name the field with its id */
export const resultsAnswer = <T, const Name extends string>(item: AnswerSchema<T>, name: Name) =>
  listAnswer(orRefused(item, name))

/** A body of the HTTP interface, by its name in `schemas/openapi.yaml`. */
export const apiBodySchema = (name: string): AnswerSchema<unknown> => ({
  schema: { $ref: `#/components/schemas/${name}` },
})

type AnswerSpec = Required<Pick<CommandSpec, 'json' | 'answer'>>

/** For a command that prints one document. */
export const printsDocument = ({ schema }: AnswerSchema<never>): AnswerSpec => ({
  json: shapeText(schema),
  answer: () => schema,
})

/** For a command whose answer depends on its arguments. @param cases by what is asked; empty for the usual case */
export const printsCases = (cases: Readonly<Record<string, AnswerSchema<never>>>): AnswerSpec => ({
  json: Object.entries(cases)
    .map(([name, { schema }]) => `${name === '' ? '' : `${name}: `}${shapeText(schema)}`)
    .join('; '),
  answer: () => ({ anyOf: Object.values(cases).map(({ schema }) => schema) }),
})

/** For a command that prints a line of JSON for each of many events. @param text what the lines are */
export const printsLines = (text: string, ...lines: readonly AnswerSchema<never>[]): AnswerSpec => ({
  json: `${text}: ${lines.map(({ schema }) => shapeText(schema)).join(', ')}`,
  answer: () => (lines.length === 1 ? lines[0]!.schema : { anyOf: lines.map(({ schema }) => schema) }),
})

/** For a command that prints a body of the HTTP interface as it came. @param route that answers it */
export const printsBody = (name: string, route: string): AnswerSpec => ({
  json: `body of ${route}`,
  answer: () => apiBodySchema(name).schema,
})

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
  const values = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']!] : []
  return values.map((each) => JSON.stringify(each)).join('|')
}

const isIn = (names: JsonValue, name: string): boolean => Array.isArray(names) && names.includes(name)
