/**
 * One-time codes with which a browser signs in to the console: made for whoever asks through the operator channel, valid for
 * a minute, kept in memory and only as a hash. Source: docs/design/console.md#signing-in
 */
import { createApiKeySecret, hashKey } from '../../base/api-key.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import type { KeyId } from '../../base/ids.ts'
import { dropOldest } from '../../base/values/collections.ts'

/** The person who signs in with a code. */
export interface SignInIdentity {
  readonly operator: string
  /** The credential that asked for the code; null for the local identity. */
  readonly keyId: KeyId | null
}

export interface SignInCodes {
  create(identity: SignInIdentity): { readonly code: string; readonly expiresAt: Instant }
  /** Takes the code, so that nobody else can. Undefined for a code that is unknown, used or too old. */
  redeem(code: string): SignInIdentity | undefined
}

const VALID_MS = 60_000
/** The oldest are dropped first. */
const MAX_CODES = 100

export function createSignInCodes(clock: Clock): SignInCodes {
  const codes = new Map<string, SignInIdentity & { readonly expiresAt: Instant }>()
  return {
    create(identity) {
      const code = createApiKeySecret().slice('svc_'.length)
      const expiresAt = clock.now() + VALID_MS
      codes.set(hashKey(code), { ...identity, expiresAt })
      dropOldest(codes, MAX_CODES)
      return { code, expiresAt }
    },
    redeem(code) {
      const hash = hashKey(code)
      const found = codes.get(hash)
      codes.delete(hash)
      return found && found.expiresAt > clock.now() ? { operator: found.operator, keyId: found.keyId } : undefined
    },
  }
}
