/** Keys, trust documents and signed statements for tests. */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { digestOf } from '../../../src/base/digest.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { digestOfClosure } from '../../../src/spec/snapshot.ts'
import { preAuthEncoding, writeEnvelope, type DsseSignature } from '../../../src/spec/trust/dsse.ts'
import { sshString } from '../../../src/spec/trust/ssh-wire.ts'
import { toSigningKey, writeSigningKey, type SigningKey } from '../../../src/spec/trust/signing-key.ts'
import type { DeploymentStatement, PublicationStatement, StatedMember } from '../../../src/spec/trust/statement.ts'

export interface KeyPair {
  readonly privateKey: KeyObject
  readonly key: SigningKey
  /** As `trust.yaml` has it. */
  readonly line: string
  readonly sign: (payload: Buffer) => DsseSignature
}

export function newKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = toSigningKey(publicKey)
  return {
    privateKey,
    key,
    line: writeSigningKey(key),
    sign: (payload) => ({
      keyId: key.fingerprint,
      signature: sign(null, preAuthEncoding(payload), privateKey),
    }),
  }
}

export const envelopeOf = (payload: Buffer, ...signers: readonly Pick<KeyPair, 'sign'>[]): string =>
  writeEnvelope({ payload, signatures: signers.map((each) => each.sign(payload)) })

/** A signature of OpenSSH over bytes, by a key or, with flags, by a hardware key. */
export function sshSignature(
  bytes: Buffer,
  { privateKey, key }: Pick<KeyPair, 'privateKey' | 'key'>,
  about: { readonly namespace?: string; readonly flags?: number; readonly hashName?: 'sha256' | 'sha512' } = {},
): Buffer {
  const { namespace = 'svc', flags, hashName = 'sha512' } = about
  const head = [sshString(namespace), sshString(''), sshString(hashName)]
  const signed = Buffer.concat([Buffer.from('SSHSIG'), ...head, sshString(createHash(hashName).update(bytes).digest())])
  const sha256 = (content: string | Buffer): Buffer => createHash('sha256').update(content).digest()
  const counter = flags === undefined ? Buffer.alloc(0) : Buffer.from([flags, 0, 0, 0, 9])
  const message = flags === undefined ? signed : Buffer.concat([sha256(key.application ?? ''), counter, sha256(signed)])
  const inner = Buffer.concat([sshString(key.type), sshString(sign(null, message, privateKey)), counter])
  return Buffer.concat([
    Buffer.from('SSHSIG'),
    Buffer.from([0, 0, 0, 1]),
    sshString(key.blob),
    ...head,
    sshString(inner),
  ])
}

export const memberOf = (id: string, about: Partial<StatedMember> = {}): StatedMember => ({
  kind: 'Agent',
  id,
  version: '1.0.0',
  digest: digestOf(id),
  isKnown: false,
  ...about,
})

export function aPublicationOf(
  members: readonly StatedMember[],
  about: Partial<PublicationStatement> = {},
): PublicationStatement {
  const agents = members.filter(({ kind }) => kind === 'Agent')
  const documents = members.filter(({ kind }) => kind !== 'Agent')
  return {
    name: `${agents[0]?.id}@${agents[0]?.version}`,
    closure: digestOfClosure(agents[0]?.id, agents, documents),
    manifest: null,
    members,
    widens: false,
    compiler: '1.0.0',
    source: null,
    signedAt: '2026-11-30T00:00:00.000Z',
    ...about,
  }
}

export const aDeploymentOf = (agent: string, about: Partial<DeploymentStatement> = {}): DeploymentStatement => ({
  agent,
  version: '1.0.0',
  snapshot: digestOf(agent),
  action: 'deploy',
  from: null,
  revision: 1,
  widens: false,
  reason: null,
  expires: null,
  signedAt: '2026-11-30T00:00:00.000Z',
  ...about,
})

/** A document as YAML reads it. @param keys by name; all of them are roots */
export const trustValue = (
  keys: Readonly<Record<string, Pick<KeyPair, 'line'>>>,
  { metadata = {}, ...spec }: { readonly metadata?: JsonObject } & JsonObject = {},
): JsonObject => ({
  apiVersion: 'svc/v1',
  kind: 'Trust',
  metadata: { name: 'acme', version: 1, ...metadata },
  spec: {
    roots: { threshold: 1, keys: Object.keys(keys) },
    keys: Object.entries(keys).map(([id, { line }]) => ({ id, ssh: line })),
    grants: [{ who: Object.keys(keys), may: ['publish', 'deploy'], in: 'acme.*' }],
    ...spec,
  },
})
