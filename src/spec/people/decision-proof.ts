/**
 * How a person decided: through which channel, and with which proof that it was this person.
 * Source: docs/design/approvals.md#proofs
 */
import type { Principal } from './key.ts'
import type { GivenAssertion } from './passkey.ts'

/** Weakest first. */
export const DECISION_PROOFS = ['none', 'link', 'key', 'ssh', 'passkey', 'hardware'] as const
export type DecisionProof = (typeof DECISION_PROOFS)[number]

/**
 * `api`: a key of `/v1`; `operator`: the operator channel, as `svc approve` uses it; `console`: a signed-in browser; `slack`: a button;
 * `email`: a one-time link.
 */
export type DecisionChannel = 'api' | 'operator' | 'console' | 'slack' | 'email' | 'scenario'

export interface DecisionOrigin {
  readonly channel: DecisionChannel
  readonly proof: DecisionProof
  /** What the passkey signed. */
  readonly assertion?: GivenAssertion
}

export const isDecisionProof = (value: unknown): value is DecisionProof =>
  (DECISION_PROOFS as readonly unknown[]).includes(value)

/** True where `given` proves at least what `least` does. Nothing reaches a proof that this version does not know. */
export function isProofAtLeast(given: DecisionProof, least: DecisionProof): boolean {
  const needed = DECISION_PROOFS.indexOf(least)
  return needed !== -1 && DECISION_PROOFS.indexOf(given) >= needed
}

/** The strongest; undefined for an empty list. */
export const strongestProof = (proofs: readonly DecisionProof[]): DecisionProof | undefined =>
  DECISION_PROOFS.findLast((each) => proofs.includes(each))

/**
 * What a principal proves by itself. Who reaches the local channel, or a key that a command made for itself there, is somebody on this
 * machine; a name that was only typed is nobody.
 */
export function proofOfPrincipal(by: Principal): DecisionProof {
  if (by.type === 'api_key') return by.person === null ? 'key' : 'none'
  if (by.type !== 'operator') return 'none'
  if (by.proof === 'credential') return 'key'
  return by.proof === 'link' ? 'link' : 'none'
}

/** What people call a proof, with its article. */
export const PROOF_NAMES: Readonly<Record<DecisionProof, string>> = {
  none: 'no proof',
  link: 'a one-time link',
  key: 'a key',
  ssh: 'an SSH key',
  passkey: 'a passkey',
  hardware: 'a passkey that cannot leave its device',
}
