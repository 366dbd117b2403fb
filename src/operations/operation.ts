/** An entry of the table of operations, and the types that follow from it. */
import type { ObjectOf, SchemaFields, TypedSchema } from './schema.ts'

/** A route of the operator application. Whoever reaches its channel is an operator, and may ask for each. */
export interface Operation {
  /** What it does, in a sentence or a few; empty where its path says everything. */
  readonly about?: string
  /** Parameters, which travel as text: an integer in digits, a boolean as `true` or `false`. */
  readonly query?: SchemaFields
  /** Absent where it takes none; `bytes` where the body is a file. */
  readonly body?: TypedSchema<never> | 'bytes'
  /** `stream`: no JSON document, but a page, a file, lines or events. */
  readonly answer: TypedSchema<never> | 'stream'
  /** It changes nothing, and is asked by POST since what it is asked is long. */
  readonly isQuestion?: true
}

/** Operations by `METHOD /path`, in which `:id` stands for one thing. */
export type OperationTable = Readonly<Record<`${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`, Operation>>

/** The types of a request and its answer. */
export type RouteOf<O> = (O extends { readonly body: TypedSchema<infer Body> } ? { readonly body: Body } : unknown) &
  (O extends { readonly query: infer Fields } ? { readonly query: ObjectOf<Fields> } : unknown) & {
    readonly answer: O extends { readonly answer: TypedSchema<infer Answer> } ? Answer : never
  }
