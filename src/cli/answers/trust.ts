import { boolean, described, integer, list, nullable, object, oneOf, string } from '../../operations/schema.ts'
import { TRUST_STEPS } from '../../spec/trust/trust-problem.ts'

export const verifySignedAnswer = object({
  ok: boolean,
  name: nullable(string),
  closure: described(nullable(string), 'Digest of the closure that was signed.'),
  signers: described(list(string), 'People, and keys that belong to nobody.'),
  problem: described(nullable(object({ step: oneOf(...TRUST_STEPS), why: string })), 'The first check that failed.'),
})

const aboutTrust = {
  name: string,
  version: integer,
  digest: string,
  expires: nullable(string),
}

export const trustCheckAnswer = object({
  ok: boolean,
  ...aboutTrust,
  findings: list(
    object({
      rule: oneOf('trust/expired', 'trust/unusable-grant', 'trust/unreachable-role', 'trust/no-separation'),
      severity: oneOf('error', 'warning'),
      pointer: string,
      message: string,
      line: integer,
      column: integer,
    }),
  ),
})

export const trustSignAnswer = object({ file: string, ...aboutTrust, signatures: integer, threshold: integer })

export const trustKeyAnswer = object({ key: string, fingerprint: string })
