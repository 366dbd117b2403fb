/** Passkeys, with which people approve in the console. Source: docs/design/approvals.md#passkeys */
import type { OperationTable } from './operation.ts'
import {
  boolean,
  bounded,
  described,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  textUpTo,
  type ValueOf,
} from './schema.ts'

const base64url = (maxLength: number) =>
  bounded(string, { maxLength, pattern: '^[A-Za-z0-9_-]+$', message: 'must be base64url' })

export const givenAssertion = object({
  credentialId: base64url(1400),
  clientDataJson: base64url(4000),
  authenticatorData: base64url(4000),
  signature: base64url(2000),
  nonce: described(base64url(100), 'Of `POST /passkeys/challenge`; good once.'),
})

const passkeyView = object({
  passkeyId: string,
  operator: string,
  name: string,
  isDeviceBound: described(boolean, 'It cannot leave its device, and so proves `hardware`.'),
  isBackedUp: boolean,
  createdAt: string,
  lastUsedAt: nullable(string),
  isYours: boolean,
})
export type PasskeyView = ValueOf<typeof passkeyView>

const passkeyChallenge = object({
  nonce: string,
  rpId: described(string, 'The name of the console to which the passkey belongs.'),
  origin: described(string, 'Where the console has to be open: a passkey works nowhere else.'),
  operator: string,
  credentials: described(list(string), "The caller's passkeys, as their devices call them."),
  expiresAt: string,
})
export type PasskeyChallenge = ValueOf<typeof passkeyChallenge>

export const passkeyOperations = {
  'GET /passkeys': { answer: listAnswer(passkeyView) },
  'POST /passkeys/challenge': {
    about: 'A challenge for a passkey of the caller, good once and for five minutes.',
    body: object({
      purpose: oneOf('approve', 'enrol', 'remove'),
      subject: described(optional(textUpTo(100)), 'The task that is approved, or the passkey that is removed.'),
    }),
    answer: passkeyChallenge,
  },
  'POST /passkeys': {
    about:
      'Adds a passkey of the person who is signed in to the console with a credential. Who has one proves it to add another.',
    body: object({
      name: bounded(string, { minLength: 1, maxLength: 100 }),
      nonce: base64url(100),
      credentialId: base64url(1400),
      clientDataJson: base64url(4000),
      authenticatorData: base64url(4000),
      publicKey: described(base64url(2000), 'SubjectPublicKeyInfo.'),
      algorithm: described(integer, 'COSE number: -7, -8 or -257.'),
      confirm: described(optional(givenAssertion), 'By a passkey that the person has already.'),
    }),
    answer: passkeyView,
  },
  'POST /passkeys/:id/remove': {
    about: 'Removes a passkey of the caller, who proves it with one; on the local channel any.',
    body: object({ confirm: optional(givenAssertion) }),
    answer: passkeyView,
  },
} satisfies OperationTable
