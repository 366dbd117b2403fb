/** What operators did. Source: docs/design/audit.md#acts */
import { ACT_CHANNELS, ACTS_BY_KIND, type ActKind } from '../spec/people/act.ts'
import type { SetupDigest } from '../spec/people/setup-name.ts'
import type { OperationTable } from './operation.ts'
import {
  anyJson,
  described,
  integer,
  integerFrom,
  listAnswer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  typedJson,
  type ValueOf,
} from './schema.ts'
import { pageFields } from './shared.ts'

const actView = object({
  seq: described(integer, 'Its number in the log of the workspace, from 1 and without gaps.'),
  at: string,
  kind: oneOf(...(Object.keys(ACTS_BY_KIND) as ActKind[])),
  words: described(string, 'The kind in words that follow who did it: `published`.'),
  by: described(
    string,
    'Who did it, as the server knows it: `operator:ana@example.com`; `server:` for the server itself.',
  ),
  proof: described(string, '`credential`; `local` for the local channel, where nothing proves a name.'),
  keyId: described(nullable(string), 'The credential.'),
  channel: oneOf(...ACT_CHANNELS),
  address: described(
    nullable(string),
    'Address of the client; null on the local channel, and once the content is erased.',
  ),
  subject: string,
  sessionId: nullable(string),
  runId: nullable(string),
  reason: nullable(string),
  before: anyJson,
  after: anyJson,
  refused: described(nullable(string), 'Code of the failure with which it was refused; null where it was done.'),
  count: described(integer, 'Equal refusals that the record stands for.'),
  hash: described(string, 'Covers the record and the hash before it.'),
})
export type ActView = ValueOf<typeof actView>

/** An act as it is stored. */
const actRecord = object({
  workspaceId: string,
  seq: integer,
  at: described(integer, 'Milliseconds since 1970.'),
  kind: string,
  by: string,
  proof: string,
  keyId: nullable(string),
  channel: string,
  subject: string,
  sessionId: nullable(string),
  runId: nullable(string),
  refused: nullable(string),
  counted: integer,
  content: described(nullable(string), 'JSON of `reason`, `address`, `before` and `after`; null once it is erased.'),
  contentDigest: string,
  salt: nullable(string),
  hash: string,
  rowDigests: described(
    optional(typedJson<readonly SetupDigest[]>()),
    'Names and digests of the rows that it changed; absent in acts of earlier versions.',
  ),
})

export const actOperations = {
  'GET /acts/records': {
    about: 'The acts as they are stored, oldest first, to check their hashes.',
    query: { after: described(optional(integerFrom(0)), 'Only those with a greater number.'), take: pageFields.take },
    answer: listAnswer(actRecord),
  },
  'GET /acts': {
    about: 'What operators and the server itself did outside of calls, newest first.',
    query: {
      kind: described(optional(string), 'Kinds or beginnings of kinds, separated by commas: `key.created`, `version`.'),
      by: described(optional(string), 'A person, with or without `operator:`.'),
      since: optional(string),
      until: optional(string),
      run: described(optional(string), 'Acts on this run.'),
      session: described(optional(string), 'Acts on this session.'),
      after: described(optional(integerFrom(0)), 'Only those with a greater number.'),
      ...pageFields,
    },
    answer: listAnswer(actView),
  },
} satisfies OperationTable
