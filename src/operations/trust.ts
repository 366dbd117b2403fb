/** Whose signature counts for what, and what was signed. Source: docs/design/trust.md#the-trust-document */
import type { OperationTable } from './operation.ts'
import {
  bounded,
  described,
  extended,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  oneOf,
  string,
  optional,
  type ValueOf,
} from './schema.ts'
import { message } from './shared.ts'

/** A DSSE envelope as text, at most 1 MiB. */
export const signedEnvelope = bounded(string, { maxLength: 1_048_576 })

const installedTrust = object({
  name: string,
  version: integer,
  digest: described(string, 'Of the document; comments and the order of members do not count.'),
  expires: nullable(string),
  installedAt: string,
  installedBy: string,
  envelope: described(string, 'The document with the signatures of its roots.'),
})
export type InstalledTrustView = ValueOf<typeof installedTrust>

const attestationView = object({
  kind: oneOf('publication', 'deployment'),
  digest: described(string, 'Of the envelope.'),
  subject: described(string, 'Digest of the closure that was published, or of the snapshot that was deployed.'),
  revision: described(nullable(integer), 'Of a deployment.'),
  signers: described(list(string), 'Keys, as the trust document calls them; none where there was no document.'),
  at: described(string, 'When the server took it.'),
  envelope: string,
})
export type AttestationView = ValueOf<typeof attestationView>

export const trustOperations = {
  'GET /trust': {
    about: 'The trust document in force; null where nobody installed one.',
    answer: object({ installed: nullable(installedTrust) }),
  },
  'POST /trust': {
    about: 'Puts a trust document in force: enough of its roots signed it, and enough of those of the one before.',
    body: object({ envelope: signedEnvelope, message: optional(message) }),
    answer: installedTrust,
  },
  'GET /attestations': {
    about: 'What was signed about a version, oldest first; the deployed one by default.',
    query: { agent: string, version: optional(string) },
    answer: extended(listAnswer(attestationView), {
      version: nullable(string),
      closure: described(nullable(string), 'Digest under which the version was published.'),
      revision: described(integer, 'Of the last signed deployment of the agent; 0 before the first.'),
    }),
  },
} satisfies OperationTable
