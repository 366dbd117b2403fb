/** The chains of sessions, for an export that is checked without a server. Source: docs/design/audit.md#sessions */
import { SETUP_NOUNS } from '../spec/people/setup-name.ts'
import type { LinkedEvent, LinkedStep, RowDigest } from '../spec/chain/session-link.ts'
import type { OperationTable } from './operation.ts'
import {
  bounded,
  described,
  integer,
  integerFrom,
  list,
  listAnswer,
  nullable,
  object,
  optional,
  string,
  typedJson,
} from './schema.ts'
import { pageFields } from './shared.ts'

const chainedSession = object({
  agent: described(string, 'Id of the agent.'),
  erasedAt: nullable(integer),
  head: described(nullable(string), 'Hash of the last link of its chain.'),
  headVersion: described(nullable(integer), 'Version of the save that wrote that link.'),
  lastOrdinal: described(integer, 'Number of its last step.'),
  lastSeq: described(integer, 'Number of its last event.'),
  session: string,
  startedAt: described(integer, 'Milliseconds since 1970.'),
})

const sessionLink = object({
  content: described(
    nullable(list(string)),
    'What an erasure removes, as it is stored: four texts a step, then two an event; null once it is erased.',
  ),
  contentDigest: string,
  events: list(typedJson<LinkedEvent>()),
  hash: described(string, 'Covers the record and the hash of the link before it.'),
  rows: described(
    optional(typedJson<readonly RowDigest[]>()),
    'Names and digests of rows that the save wrote and later ones overwrite; absent in links of earlier versions.',
  ),
  results: described(optional(list(string)), 'Large results, which are stored separately.'),
  salt: nullable(string),
  session: string,
  steps: list(typedJson<LinkedStep>()),
  version: described(integer, 'Of the session after the save that wrote the link.'),
})

const after = described(
  optional(bounded(string, { pattern: '^\\d{1,16} [0-9a-f-]{36}$', message: 'must be a start and a session' })),
  'Only sessions after this one: its `startedAt`, a space, and its id.',
)

const chainedRow = object({ name: string, lines: list(string) })

const afterSetup = described(
  optional(
    bounded(string, { pattern: `^(?:${SETUP_NOUNS.join('|')}) .{1,600}$`, message: 'must be the name of a row' }),
  ),
  'Only rows after the one of this name.',
)

export const auditOperations = {
  'POST /audit/checkpoints': {
    about:
      'Says that a checkpoint has reached all its copies. What `audit.checkpoint_within` of the project file paused for want of one goes on.',
    body: object({ size: described(integerFrom(1), 'Lines that the checkpoint has signed.') }),
    answer: object({ at: described(string, 'When the server took note of it.') }),
  },
  'GET /audit/setup': {
    about: 'What operators set up, as it is stored: rows that acts name, each with the lines that the act digested.',
    query: { after: afterSetup, take: pageFields.take },
    answer: listAnswer(
      object({
        name: string,
        lines: list(string),
        envelope: described(optional(string), 'Text of what was signed, of an envelope or a trust document.'),
      }),
    ),
  },
  'GET /audit/sessions': {
    about: 'Sessions and where their chains end, oldest first.',
    query: {
      agent: optional(string),
      by: described(
        optional(string),
        'Who started it or voted in it: a person, with or without `operator:`, or `key:ID`.',
      ),
      since: optional(string),
      until: optional(string),
      after,
      take: pageFields.take,
    },
    answer: listAnswer(chainedSession),
  },
  'GET /audit/sessions/:id': {
    about:
      'The links of the chain of a session in order, to check their hashes: one for each save that added events or steps.',
    query: { after: described(optional(integerFrom(0)), 'Only those of later versions.'), take: pageFields.take },
    answer: listAnswer(sessionLink),
  },
  'GET /audit/sessions/:id/rows': {
    about: 'The rows of a session that its chain covers, as they are stored, and where the chain ended then.',
    answer: object({
      session: chainedSession,
      rows: described(nullable(list(chainedRow)), 'Null where the session went on each time while they were read.'),
    }),
  },
} satisfies OperationTable
