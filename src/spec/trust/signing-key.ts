/** Public keys that people and pipelines have already: Ed25519 as OpenSSH or PEM writes them. Source: docs/design/trust.md#keys */
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import { readSshWire, sshString } from './ssh-wire.ts'

/** The second kind lives in a hardware key, which signs what it was asked together with its own counter. */
const KEY_TYPES = ['ssh-ed25519', 'sk-ssh-ed25519@openssh.com'] as const
type KeyType = (typeof KEY_TYPES)[number]

export interface SigningKey {
  readonly type: KeyType
  readonly publicKey: KeyObject
  /** As OpenSSH encodes it. */
  readonly blob: Buffer
  /** For which a hardware key was made, `ssh:` as a rule; null for others. */
  readonly application: string | null
  /** `SHA256:` and 43 characters, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string
}

/** What precedes the 32 bytes of a key in its DER form. */
const DER_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const KEY_BYTES = 32
/** A hardware key signs only after a touch, unless it was made not to ask for one. */
const USER_PRESENT = 0x01

/** @param text a line `ssh-ed25519 AAAA… comment`, or a public key in PEM @returns undefined for any other text */
export function readSigningKey(text: string): SigningKey | undefined {
  const trimmed = text.trim()
  if (trimmed.startsWith('-----BEGIN PUBLIC KEY-----')) return readPem(trimmed)
  const [type, base64 = ''] = trimmed.split(/\s+/)
  const blob = Buffer.from(base64, 'base64')
  if (blob.toString('base64') !== base64 || trimmed.includes('\n')) return undefined
  const key = readKeyBlob(blob)
  return key?.type === type ? key : undefined
}

function readPem(text: string): SigningKey | undefined {
  try {
    const publicKey = createPublicKey(text)
    return publicKey.asymmetricKeyType === 'ed25519' ? toSigningKey(publicKey) : undefined
  } catch {
    return undefined
  }
}

/** The public half of a key pair. */
export function toSigningKey(publicKey: KeyObject): SigningKey {
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(DER_PREFIX.length)
  const blob = Buffer.concat([sshString('ssh-ed25519'), sshString(raw)])
  return { type: 'ssh-ed25519', publicKey, blob, application: null, fingerprint: fingerprintOf(blob) }
}

export const writeSigningKey = ({ type, blob }: SigningKey): string => `${type} ${blob.toString('base64')}`

const fingerprintOf = (blob: Buffer): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`

function readKeyBlob(blob: Buffer): SigningKey | undefined {
  try {
    const wire = readSshWire(blob)
    const name = wire.text()
    const type = KEY_TYPES.find((each) => each === name)
    const raw = wire.string()
    const application = type === 'sk-ssh-ed25519@openssh.com' ? wire.text() : null
    if (type === undefined || raw.length !== KEY_BYTES || !wire.atEnd()) return undefined
    const publicKey = createPublicKey({ key: Buffer.concat([DER_PREFIX, raw]), format: 'der', type: 'spki' })
    return { type, publicKey, blob, application, fingerprint: fingerprintOf(blob) }
  } catch {
    return undefined
  }
}

/** How a signature begins that `ssh-keygen -Y sign` made; one of a PEM key has no beginning. Source: github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig */
const MAGIC = Buffer.from('SSHSIG')
/** For what `ssh-keygen -Y sign` was asked: a signature for a commit or a mail is none for svc. */
export const SSH_NAMESPACE = 'svc'
const HASHES = ['sha256', 'sha512'] as const

/** True where the key signed these bytes: as they are, or as `ssh-keygen -Y sign -n svc` does. */
export function isSignature(signature: Buffer, bytes: Buffer, key: SigningKey): boolean {
  try {
    if (signature.subarray(0, MAGIC.length).equals(MAGIC)) return isSshSignature(signature, bytes, key)
    // A hardware key never signs bytes as they are.
    return key.application === null && verify(null, bytes, key.publicKey, signature)
  } catch {
    return false
  }
}

/** The key that a signature of `ssh-keygen -Y sign` names; undefined for one of another kind than Ed25519. */
export function keyOfSshSignature(signature: Buffer): SigningKey | undefined {
  const wire = readSshWire(signature)
  wire.bytes(MAGIC.length)
  wire.uint32()
  return readKeyBlob(wire.string())
}

function isSshSignature(signature: Buffer, bytes: Buffer, key: SigningKey): boolean {
  const wire = readSshWire(signature)
  wire.bytes(MAGIC.length)
  if (wire.uint32() !== 1) return false
  const [blob, namespace, reserved, hashName] = [wire.string(), wire.text(), wire.string(), wire.text()]
  const inner = readSshWire(wire.string())
  const algorithm = HASHES.find((each) => each === hashName)
  const isFitting = blob.equals(key.blob) && namespace === SSH_NAMESPACE && reserved.length === 0 && wire.atEnd()
  if (!isFitting || algorithm === undefined || inner.text() !== key.type) return false
  const raw = inner.string()
  const signed = Buffer.concat([
    MAGIC,
    sshString(namespace),
    sshString(reserved),
    sshString(hashName),
    sshString(createHash(algorithm).update(bytes).digest()),
  ])
  if (key.application === null) return inner.atEnd() && verify(null, signed, key.publicKey, raw)
  const about = inner.bytes(5)
  if (!inner.atEnd() || ((about[0] ?? 0) & USER_PRESENT) === 0) return false
  const sha256 = (content: string | Buffer): Buffer => createHash('sha256').update(content).digest()
  return verify(null, Buffer.concat([sha256(key.application), about, sha256(signed)]), key.publicKey, raw)
}
