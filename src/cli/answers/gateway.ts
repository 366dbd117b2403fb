import { integer, list, listAnswer, nullable, object, oneOf, string } from '../../operations/schema.ts'
import { importedDocuments, importNotes } from './author.ts'

export const wrapAnswer = object({
  file: string,
  agent: string,
  /** Name of the entry that leads to svc. */
  entry: string,
  servers: list(object({ name: string, tools: integer, stays: nullable(string) })),
  documents: importedDocuments,
  ...importNotes,
  variables: list(string),
  kept: string,
})

export const unwrapAnswer = object({ file: string, agent: string, state: oneOf('wrapped', 'edited', 'plain') })

/** `gateway status`. */
export const gatewayListAnswer = listAnswer(
  object({
    file: string,
    agent: string,
    state: oneOf('wrapped', 'edited', 'plain', 'missing', 'unreadable'),
    kept: string,
  }),
)
