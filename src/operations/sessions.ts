/** Sessions and files. */
import type { SessionList, SessionListItem } from '../spec/api.ts'
import type { OperationTable } from './operation.ts'
import {
  apiBody,
  boolean,
  bounded,
  described,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  openObject,
  optional,
  string,
  textByName,
  textUpTo,
  type OperatorList,
  type TypedSchema,
  type ValueOf,
} from './schema.ts'
import { runView } from './runs.ts'
import { ending, pageFields } from './shared.ts'

const ownFields = {
  agent: string,
  legalHold: described(boolean, 'True while it is exempt from erasure and retention.'),
  runs: described(list(runView), 'Its newest runs, the root first, each before those it started.'),
  runsLeftOut: described(optional(integer), 'How many older runs `runs` leaves out; absent where it has all.'),
}

/** As the API lists it, with its runs. */
const sessionView: TypedSchema<SessionListItem & ObjectOfSession> = openObject({
  id: string,
  status: string,
  ...ownFields,
})
type ObjectOfSession = ValueOf<ReturnType<typeof object<typeof ownFields>>>
export type SessionView = ValueOf<typeof sessionView>

const fileView = object({
  objectKey: string,
  filename: string,
  mediaType: string,
  sizeBytes: integer,
  finalizedAt: string,
})
export type FileView = ValueOf<typeof fileView>

/** As the API lists them, with its `nextCursor`. */
const sessionsAnswer: TypedSchema<
  OperatorList<SessionListItem & { readonly agent?: string }> & Pick<SessionList, 'nextCursor'>
> = apiBody('SessionList')

export const sessionOperations = {
  'GET /sessions': {
    about: 'As the API lists them; without `agent` those of every agent, which have no cursor.',
    query: {
      agent: optional(string),
      versionId: optional(string),
      status: optional(string),
      ending: optional(ending),
      ...pageFields,
    },
    answer: sessionsAnswer,
  },
  'GET /sessions/:id': { answer: sessionView },
  'PATCH /sessions/:id': {
    body: object({
      title: described(optional(nullable(bounded(string, { maxLength: 200 }))), 'Null or an empty text removes it.'),
      metadata: optional(labels()),
      tags: optional(bounded(list(textUpTo(64)), { maxItems: 10 })),
      legalHold: described(optional(boolean), 'Exempts the session from erasure and retention.'),
    }),
    answer: sessionView,
  },
  'DELETE /sessions/:id': { answer: sessionView },
} satisfies OperationTable

/** Metadata of a session: at most 16 texts of at most 512 characters. */
function labels(): typeof textByName {
  const { schema } = bounded(string, { maxLength: 512 })
  return { schema: { type: 'object', additionalProperties: schema, maxProperties: 16 } }
}

export const fileOperations = {
  'GET /files': { about: 'Finalized files, newest first.', query: pageFields, answer: listAnswer(fileView) },
  'POST /files': {
    about:
      'Keeps the bytes of the body, at most 32 MiB, as a file of the workspace; larger ones take the addresses of `/v1`.',
    query: { filename: textUpTo(255), mediaType: textUpTo(255) },
    body: 'bytes',
    answer: fileView,
  },
  'GET /files/content': {
    about: 'The bytes.',
    query: { key: described(string, 'The object key or the file name.') },
    answer: 'stream',
  },
} satisfies OperationTable
