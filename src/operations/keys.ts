/** Credentials of programs and of people. Source: docs/design/http.md#keys-and-triggers */
import type { OperationTable } from './operation.ts'
import {
  boolean,
  bounded,
  described,
  either,
  extended,
  integerFrom,
  list,
  listAnswer,
  nullable,
  object,
  optional,
  string,
  textUpTo,
  type ValueOf,
} from './schema.ts'
import { reference } from './shared.ts'

const keyTimes = {
  name: nullable(string),
  prefix: string,
  createdAt: string,
  expiresAt: nullable(string),
  revokedAt: nullable(string),
  lastUsedAt: nullable(string),
}

const keyView = object({
  keyId: string,
  agentId: string,
  agent: string,
  triggerId: string,
  trigger: string,
  allowUploads: boolean,
  ...keyTimes,
})
export type KeyView = ValueOf<typeof keyView>

/** A person's credential on the operator channel. */
const operatorKeyView = object({ keyId: string, email: string, roles: list(string), ...keyTimes })
export type OperatorKeyView = ValueOf<typeof operatorKeyView>

const secret = described(string, 'Here and nowhere else, ever.')
export const createdKey = extended(keyView, { secret })
export const createdOperatorKey = extended(operatorKeyView, { secret })
const anyKey = either(keyView, operatorKeyView)

const shownName = optional(bounded(string, { maxLength: 100 }))
const expiresInSeconds = optional(integerFrom(1))

/** Two roles of one call are joined with " and " to one that nobody carries: no credential may be made for it. */
const role = bounded(string, {
  pattern: '^(?! )(?!.* and )[^\\p{C}]{1,100}(?<! )$',
  message: 'must be the name of one role, of at most 100 characters',
})

export const keyOperations = {
  'POST /keys': {
    body: object({
      agent: reference,
      trigger: described(textUpTo(100), 'An id or a name.'),
      allowUploads: optional(boolean),
      name: shownName,
      oneCommand: described(
        optional(boolean),
        'What is done with the key counts as done by the person who asks for it.',
      ),
      expiresInSeconds,
    }),
    answer: createdKey,
  },
  'POST /operator-keys': {
    body: object({
      email: bounded(string, {
        minLength: 3,
        maxLength: 254,
        pattern: '^[^\\s@\\p{C}]+@[^\\s@\\p{C}]+$',
        message: 'must be an email address',
      }),
      roles: optional(list(role)),
      name: shownName,
      expiresInSeconds,
    }),
    answer: createdOperatorKey,
  },
  'GET /keys': {
    about: 'Keys of programs and credentials of people; of an agent only the former.',
    query: {
      agent: optional(string),
      all: described(optional(boolean), 'Those of single commands too, when their time is over.'),
    },
    answer: listAnswer(anyKey),
  },
  'POST /keys/:id/revoke': { about: 'Takes effect at once, on open streams too.', answer: anyKey },
} satisfies OperationTable
