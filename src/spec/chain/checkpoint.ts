/**
 * Checkpoints of a log: size and root of its tree in a signed note, as transparency logs write them (c2sp.org/tlog-checkpoint and
 * c2sp.org/signed-note, Ed25519). Source: docs/design/audit.md#checkpoints
 */
import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'

export interface LogCheckpoint {
  /** Names the log: of which workspace it is. */
  readonly origin: string
  readonly size: number
  /** Base64. */
  readonly root: string
}

/** A public key as a line of text: name, id and key, with `+` between. */
export interface CheckpointKey {
  readonly name: string
  readonly id: string
  readonly publicKey: KeyObject
}

const ED25519 = 1
/** What precedes the 32 bytes of a key in its DER form. */
const DER_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const KEY_BYTES = 32
const ID_BYTES = 4
const SIGNATURE = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/

const rawKey = (publicKey: KeyObject): Buffer =>
  Buffer.concat([Buffer.of(ED25519), publicKey.export({ format: 'der', type: 'spki' }).subarray(DER_PREFIX.length)])

const idOf = (name: string, raw: Buffer): Buffer =>
  createHash('sha256').update(`${name}\n`).update(raw).digest().subarray(0, ID_BYTES)

export function writeKeyLine(name: string, publicKey: KeyObject): string {
  const raw = rawKey(publicKey)
  return `${name}+${idOf(name, raw).toString('hex')}+${raw.toString('base64')}`
}

/** @returns undefined for a line that is no key of Ed25519 */
export function readKeyLine(line: string): CheckpointKey | undefined {
  const [name, id, ...rest] = line.trim().split('+')
  const raw = Buffer.from(rest.join('+'), 'base64')
  if (!name || !id || raw.length !== KEY_BYTES + 1 || raw[0] !== ED25519 || idOf(name, raw).toString('hex') !== id)
    return undefined
  const publicKey = createPublicKey({ key: Buffer.concat([DER_PREFIX, raw.subarray(1)]), format: 'der', type: 'spki' })
  return { name, id, publicKey }
}

const bodyOf = ({ origin, size, root }: LogCheckpoint): string => `${origin}\n${size}\n${root}\n`

export function signCheckpoint(checkpoint: LogCheckpoint, name: string, privateKey: KeyObject): string {
  const body = bodyOf(checkpoint)
  const id = idOf(name, rawKey(createPublicKey(privateKey)))
  const signature = Buffer.concat([id, sign(null, Buffer.from(body), privateKey)])
  return `${body}\n— ${name} ${signature.toString('base64')}\n`
}

export interface SignedCheckpoint extends LogCheckpoint {
  readonly note: string
}

/** Whoever signed it. @returns undefined for what is no checkpoint */
export function parseCheckpoint(note: string): SignedCheckpoint | undefined {
  const end = note.indexOf('\n\n')
  const [origin, size, root, ...more] = note.slice(0, end).split('\n')
  if (end < 0 || !origin || !size || !/^(?:0|[1-9]\d{0,15})$/.test(size) || !root || more.length > 0) return undefined
  return { origin, size: Number(size), root, note }
}

export function isSignedBy({ note }: SignedCheckpoint, keys: readonly CheckpointKey[]): boolean {
  const end = note.indexOf('\n\n')
  const body = Buffer.from(note.slice(0, end + 1))
  return note
    .slice(end + 2)
    .split('\n')
    .some((line) => {
      const [, name, text = ''] = SIGNATURE.exec(line) ?? []
      const bytes = Buffer.from(text, 'base64')
      const id = bytes.subarray(0, ID_BYTES).toString('hex')
      const key = keys.find((each) => each.name === name && each.id === id)
      return key !== undefined && verify(null, body, key.publicKey, bytes.subarray(ID_BYTES))
    })
}
