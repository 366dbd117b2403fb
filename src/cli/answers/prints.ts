/**
 * What commands print with `--json`: their member of the table of commands, from a schema, which has three more readers: TypeScript, the
 * tests, which validate real answers, and `svc schema output:COMMAND`.
 */
import { answerSchema, type OwnOperatorRoute } from '../../operations/operations.ts'
import {
  apiBody,
  listAnswer,
  object,
  openObject,
  optional,
  shapeText,
  string,
  type TypedSchema,
} from '../../operations/schema.ts'
import type { CommandSpec } from '../shell/command.ts'
import { onlyItem } from '../../base/values/collections.ts'
import type { RefusedItem } from '../project/request-command.ts'

/** An item, or why it was refused. @param name the field with its id */
export const orRefused = <T, const Name extends string>(
  { schema }: TypedSchema<T>,
  name: Name,
): TypedSchema<T | RefusedItem<Name>> => ({
  schema: {
    anyOf: [
      schema,
      object({ [name]: string, error: openObject({ code: string, message: string, hint: optional(string) }) }).schema,
    ],
  },
})

/** A list with a result for each thing that was named, in order. @param name the field with its id */
export const resultsAnswer = <T, const Name extends string>(item: TypedSchema<T>, name: Name) =>
  listAnswer(orRefused(item, name))

type AnswerSpec = Required<Pick<CommandSpec, 'json' | 'answer'>>

/** For a command that prints one document. */
export const printsDocument = ({ schema }: TypedSchema<never>): AnswerSpec => ({
  json: shapeText(schema),
  answer: () => schema,
})

/** For a command that prints the answer of an operator route. */
export const printsAnswer = (route: OwnOperatorRoute): AnswerSpec => printsDocument(answerSchema(route))

/** For a command whose answer depends on its arguments. @param cases by what is asked; empty for the usual case */
export const printsCases = (cases: Readonly<Record<string, TypedSchema<never>>>): AnswerSpec => ({
  json: Object.entries(cases)
    .map(([name, { schema }]) => `${name === '' ? '' : `${name}: `}${shapeText(schema)}`)
    .join('; '),
  answer: () => ({ anyOf: Object.values(cases).map(({ schema }) => schema) }),
})

/** For a command that prints a line of JSON for each of many events. @param text what the lines are */
export const printsLines = (text: string, ...lines: readonly TypedSchema<never>[]): AnswerSpec => ({
  json: `${text}: ${lines.map(({ schema }) => shapeText(schema)).join(', ')}`,
  answer: () => onlyItem(lines)?.schema ?? { anyOf: lines.map(({ schema }) => schema) },
})

/** For a command that prints a body of the HTTP interface as it came. @param route that answers it */
export const printsBody = (name: string, route: string): AnswerSpec => ({
  json: `body of ${route}`,
  answer: () => apiBody(name).schema,
})
