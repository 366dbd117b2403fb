/** Passkeys of people, and secrets that are good once. Source: docs/design/approvals.md#passkeys */
import type { Instant } from '../../base/clock.ts'
import type { PasskeyId, WorkspaceId } from '../../base/ids.ts'

/** A key pair whose private half a person's device keeps. */
export interface Passkey {
  readonly id: PasskeyId
  readonly workspaceId: WorkspaceId
  /** Identity of the person. */
  readonly operator: string
  readonly name: string
  /** What the device calls it; base64url. */
  readonly credentialId: string
  /** SubjectPublicKeyInfo, base64url. */
  readonly publicKey: string
  /** COSE number: -7 (ES256), -8 (EdDSA) or -257 (RS256). */
  readonly algorithm: number
  /** Signatures that the device says it made; 0 where it does not count. */
  readonly signCount: number
  /** It cannot leave its device (BE is not set). */
  readonly isDeviceBound: boolean
  /** It was copied to another device or an account (BS), when it was used last. */
  readonly isBackedUp: boolean
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
  readonly removedAt: Instant | null
}

/** What a device signed: it can be verified again without us. Members are base64url. */
export interface PasskeyAssertion {
  readonly credentialId: string
  readonly clientDataJson: string
  readonly authenticatorData: string
  readonly signature: string
}

/** An assertion with the challenge that it answers. */
export interface GivenAssertion extends PasskeyAssertion {
  /** Of the server; good once. */
  readonly nonce: string
}

/** What a secret is good for: `decide` is a link, the others are challenges of passkeys. */
export type OneTimePurpose = 'approve' | 'enrol' | 'remove' | 'decide'

/** A secret that is good once, until it expires. */
export interface OneTimeToken {
  /** SHA-256 of the secret, hexadecimal: the only form in which it is kept. */
  readonly hash: string
  readonly workspaceId: WorkspaceId
  readonly purpose: OneTimePurpose
  /** Identity of the person who may use it. */
  readonly operator: string
  /** The task or passkey that it is about, of a link with what its mail showed; null for none. */
  readonly subject: string | null
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly usedAt: Instant | null
}
