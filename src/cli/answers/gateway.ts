import { boolean, integer, list, listAnswer, nullable, object, oneOf, string } from '../../operations/schema.ts'

export const wrapAnswer = object({
  file: string,
  agent: string,
  /** Name of the entry that leads to svc. */
  entry: string,
  servers: list(object({ name: string, tools: integer, stays: nullable(string) })),
  documents: list(
    object({
      id: string,
      source: string,
      path: string,
      action: oneOf('created', 'changed', 'unchanged', 'kept', 'removed'),
    }),
  ),
  lost: list(object({ at: string, what: string, authority: boolean })),
  questions: list(object({ path: string, what: string })),
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
