/**
 * Verifies what a passkey signed (Web Authentication Level 3, section 7.2), with Node's own cryptography. Attestation is not asked for: a
 * passkey counts because its owner was signed in when it was added, whoever made the device.
 */
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import type { PasskeySite } from '../../auth/passkey-site.ts'
import type { Passkey, PasskeyAssertion } from '../../../spec/people/passkey.ts'

export interface ExpectedCeremony extends PasskeySite {
  readonly type: 'webauthn.create' | 'webauthn.get'
  /** The text whose SHA-256 is the challenge. */
  readonly challengeText: string
}

/** What a device says of itself and of the person. */
export interface AuthenticatorReport {
  readonly signCount: number
  readonly isDeviceBound: boolean
  readonly isBackedUp: boolean
  /** Of a new passkey; base64url. */
  readonly credentialId?: string
}

/** Why what a device sent does not count. */
export class PasskeyProblem extends Error {}

const [ES256, EDDSA, RS256] = [-7, -8, -257]

/** Bits of the authenticator data: present, verified, may be copied, was copied, has a new credential. */
const [UP, UV, BE, BS, AT] = [0x01, 0x04, 0x08, 0x10, 0x40]

/** Before the counter: the hash of the site, and the flags. */
const HASH_BYTES = 32
/** With the counter. */
const HEAD_BYTES = 37
const AAGUID_BYTES = 16

/** @throws PasskeyProblem */
export function verifyAssertion(
  passkey: Pick<Passkey, 'publicKey' | 'algorithm' | 'signCount'>,
  { clientDataJson, authenticatorData, signature }: PasskeyAssertion,
  expected: ExpectedCeremony,
): AuthenticatorReport {
  const report = readCeremony(clientDataJson, authenticatorData, expected)
  const clientHash = createHash('sha256').update(toBytes(clientDataJson)).digest()
  const signed = Buffer.concat([toBytes(authenticatorData), clientHash])
  const digest = passkey.algorithm === EDDSA ? null : 'sha256'
  if (!verify(digest, signed, readPublicKey(passkey), toBytes(signature)))
    throw new PasskeyProblem('its signature is wrong')
  // Devices that do not count send 0 for ever.
  if ((report.signCount > 0 || passkey.signCount > 0) && report.signCount <= passkey.signCount)
    throw new PasskeyProblem('its counter went back, as if it were copied')
  return report
}

/** Checks what belongs to the ceremony: kind, challenge, site, and that the device verified the person. @throws PasskeyProblem */
export function readCeremony(
  clientDataJson: string,
  authenticatorData: string,
  { type, challengeText, origin, rpId }: ExpectedCeremony,
): AuthenticatorReport {
  const client = readClientData(clientDataJson)
  if (client['type'] !== type) throw new PasskeyProblem('it was used for something else')
  if (client['challenge'] !== createHash('sha256').update(challengeText).digest('base64url'))
    throw new PasskeyProblem('it signed something other than what is asked now')
  if (client['origin'] !== origin || client['crossOrigin'] === true)
    throw new PasskeyProblem(`it was used at another address than ${origin}`)
  const data = toBytes(authenticatorData)
  if (data.length < HEAD_BYTES) throw new PasskeyProblem('its data is too short')
  if (!data.subarray(0, HASH_BYTES).equals(createHash('sha256').update(rpId).digest()))
    throw new PasskeyProblem(`it belongs to another site than ${rpId}`)
  const flags = data[HASH_BYTES]!
  const has = (bit: number): boolean => (flags & bit) !== 0
  if (!has(UP) || !has(UV)) throw new PasskeyProblem('the device did not verify who uses it (PIN, finger or face)')
  if (has(BS) && !has(BE)) throw new PasskeyProblem('its data contradicts itself')
  return {
    signCount: data.readUInt32BE(HASH_BYTES + 1),
    isDeviceBound: !has(BE),
    isBackedUp: has(BS),
    ...(has(AT) && { credentialId: readCredentialId(data) }),
  }
}

/** The public key, of a kind that passkeys have. @throws PasskeyProblem */
export function readPublicKey({ publicKey, algorithm }: Pick<Passkey, 'publicKey' | 'algorithm'>): KeyObject {
  let key: KeyObject
  try {
    key = createPublicKey({ key: toBytes(publicKey), format: 'der', type: 'spki' })
  } catch {
    throw new PasskeyProblem('its public key cannot be read')
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  const bits = details?.modulusLength ?? 0
  const fits =
    (algorithm === ES256 && type === 'ec' && details?.namedCurve === 'prime256v1') ||
    (algorithm === EDDSA && type === 'ed25519') ||
    (algorithm === RS256 && type === 'rsa' && bits >= 2048 && bits <= 8192)
  if (!fits) throw new PasskeyProblem('its public key is of a kind that is not accepted')
  return key
}

function readCredentialId(data: Buffer): string {
  const at = HEAD_BYTES + AAGUID_BYTES
  const length = data.length >= at + 2 ? data.readUInt16BE(at) : 0
  if (length === 0 || data.length < at + 2 + length) throw new PasskeyProblem('its data is too short')
  return data.subarray(at + 2, at + 2 + length).toString('base64url')
}

function readClientData(text: string): JsonObject {
  try {
    const data: unknown = JSON.parse(toBytes(text).toString())
    if (isJsonObject(data)) return data
  } catch {
    // Below.
  }
  throw new PasskeyProblem('its data cannot be read')
}

const toBytes = (text: string): Buffer => Buffer.from(text, 'base64url')
