/** Envelopes, keys and statements: what counts as signed, and that nothing passes for something else. */
import { execFileSync, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { preAuthEncoding, readEnvelope, writeEnvelope } from '../../../src/spec/trust/dsse.ts'
import { isSignature, keyOfSshSignature, readSigningKey } from '../../../src/spec/trust/signing-key.ts'
import { sshString } from '../../../src/spec/trust/ssh-wire.ts'
import { readStatement, writeDeployment, writePublication, writeTrust } from '../../../src/spec/trust/statement.ts'
import { readTrustDocument } from '../../../src/spec/trust/trust-document.ts'
import { TrustProblem } from '../../../src/spec/trust/trust-problem.ts'
import { openSigned } from '../../../src/spec/trust/verify-signed.ts'
import { removeDirectory } from '../../remove-directory.ts'
import { aDeploymentOf, aPublicationOf, envelopeOf, memberOf, newKeyPair, sshSignature, trustValue } from './makers.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-sign-'))
afterAll(() => removeDirectory(root))
const NOW = Date.UTC(2026, 10, 30)
const BYTES = preAuthEncoding(Buffer.from('{"what":"is signed"}'))

/** What a check refuses, as `step: why`. */
function refusal(check: () => unknown): string {
  try {
    check()
    return 'passed'
  } catch (error) {
    if (error instanceof TrustProblem) return `${error.step}: ${error.message}`
    throw error
  }
}

test('what a key signs is the type and the payload, each with its length, as DSSE says', () => {
  expect(preAuthEncoding(Buffer.from('hello world')).toString()).toBe(
    'DSSEv1 28 application/vnd.in-toto+json 11 hello world',
  )
})

test('an envelope is read as it was written', () => {
  const [ana, bo] = [newKeyPair(), newKeyPair()]
  const payload = Buffer.from('{"ä":1}')
  const envelope = { payload, signatures: [ana.sign(payload), bo.sign(payload)] }
  expect(readEnvelope(writeEnvelope(envelope))).toEqual(envelope)
})

test('what is no envelope is refused with its place', () => {
  const good = JSON.parse(envelopeOf(Buffer.from('{}'), newKeyPair())) as Record<string, unknown>
  const [signature] = good['signatures'] as { sig: string }[]
  const of = (changes: object): string => refusal(() => readEnvelope(JSON.stringify({ ...good, ...changes })))
  expect([
    refusal(() => readEnvelope('no')),
    of({ payload: undefined }),
    of({ payload: 'e30' }),
    of({ payloadType: 'text/plain' }),
    of({ signatures: [] }),
    of({ signatures: [signature, signature] }),
    of({ signatures: [{ ...signature, more: 1 }] }),
    of({ signatures: Array.from({ length: 17 }, () => signature) }),
    of({ more: 1 }),
    refusal(() => readEnvelope('['.repeat(100))),
    refusal(() => readEnvelope(' '.repeat(1024 * 1024 + 1))),
  ]).toEqual([
    'envelope: must be JSON',
    'envelope: must have the member payload',
    'envelope: /payload must be base64',
    'envelope: /payloadType must be application/vnd.in-toto+json',
    'envelope: /signatures must have an item',
    'envelope: /signatures has a key twice',
    'envelope: /signatures/0/more is no member that svc knows',
    'envelope: /signatures must have at most 16 items',
    'envelope: /more is no member that svc knows',
    'envelope: must have at most 16 levels',
    'envelope: it has more than 1048576 bytes',
  ])
})

describe('a statement of one type is none of another', () => {
  const ana = newKeyPair()
  const value = trustValue({ ana })
  const trust = readTrustDocument(value)
  const payloads = {
    publication: writePublication(aPublicationOf([memberOf('acme.desk')])),
    deployment: writeDeployment(aDeploymentOf('acme.desk')),
    trust: writeTrust(value, trust),
  }
  const kinds = Object.keys(payloads) as (keyof typeof payloads)[]

  test.each(kinds.flatMap((made) => kinds.map((asked) => [made, asked] as const)))('%s as %s', (made, asked) => {
    const text = envelopeOf(payloads[made], ana)
    const found = refusal(() => openSigned(text, asked, trust, NOW))
    const refused = `statement: its ${asked} statement is not one: /predicateType must be svc:${asked}/v1`
    expect(found).toBe(made === asked ? 'passed' : refused)
  })

  test('and one whose type was changed is signed no longer', () => {
    const payload = Buffer.from(payloads.publication.toString().replace('publication/v1', 'deployment/v1'))
    const signature = ana.sign(payloads.publication)
    const text = writeEnvelope({ payload, signatures: [signature] })
    expect(refusal(() => openSigned(text, 'deployment', trust, NOW))).toBe(
      'signature: the signature of ana is not one over this content',
    )
  })

  test('each is read as it was written', () => {
    expect(readStatement(payloads.publication, 'publication')).toEqual(aPublicationOf([memberOf('acme.desk')]))
    expect(readStatement(payloads.deployment, 'deployment')).toEqual(aDeploymentOf('acme.desk'))
    expect(readStatement(payloads.trust, 'trust').digest).toBe(trust.digest)
  })
})

test('a key counts until it ends or is revoked, and not when nobody knows it', () => {
  const [ana, stranger] = [newKeyPair(), newKeyPair()]
  const at = (about: object): string => {
    const keys = [{ id: 'ana', ssh: ana.line, ...about }]
    const trust = readTrustDocument(trustValue({ ana }, { keys }))
    return refusal(() =>
      openSigned(envelopeOf(writeDeployment(aDeploymentOf('acme.desk')), ana), 'deployment', trust, NOW),
    )
  }
  const trust = readTrustDocument(trustValue({ ana }))
  const foreign = envelopeOf(writeDeployment(aDeploymentOf('acme.desk')), ana, stranger)
  expect([
    at({}),
    at({ not_after: '2026-12-01' }),
    at({ not_after: '2026-11-30' }),
    at({ revoked_at: '2026-11-29T23:59:59Z' }),
    at({ revoked_at: '2026-11-30T00:00:01Z' }),
    refusal(() => openSigned(foreign, 'deployment', trust, NOW)),
  ]).toEqual([
    'passed',
    'passed',
    'key: the key ana was good until 2026-11-30T00:00:00.000Z',
    'key: the key ana was revoked at 2026-11-29T23:59:59.000Z',
    'passed',
    `key: nobody knows the key ${stranger.key.fingerprint}`,
  ])
})

test('a public key is read as OpenSSH and as PEM, and another kind of key is not', () => {
  const { publicKey } = generateKeyPairSync('ed25519')
  const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
  const line = `ssh-ed25519 ${readSigningKey(pem)!.blob.toString('base64')}`
  expect(readSigningKey(`${line} ana@laptop\n`)?.fingerprint).toBe(readSigningKey(pem)?.fingerprint)
  expect(readSigningKey(rsa.export({ format: 'pem', type: 'spki' }) as string)).toBeUndefined()
  expect(readSigningKey('ssh-rsa AAAA')).toBeUndefined()
  expect(readSigningKey(line.replace('ssh-ed25519', 'sk-ssh-ed25519@openssh.com'))).toBeUndefined()
  expect(readSigningKey(`${line}A`)).toBeUndefined()
})

describe('with ssh-keygen', () => {
  const path = join(root, 'key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path])
  const key = readSigningKey(readFileSync(`${path}.pub`, 'utf8'))!
  const signed = (namespace: string, ...more: readonly string[]): Buffer => {
    const args = ['-Y', 'sign', '-q', '-n', namespace, ...more, '-f', path]
    const { stdout } = spawnSync('ssh-keygen', args, { input: BYTES })
    return Buffer.from(stdout.toString().replace(/-----[^\n]*-----/g, ''), 'base64')
  }
  /** Whether ssh-keygen itself accepts a signature. */
  const accepts = (signature: Buffer, bytes: Buffer, line: string): boolean => {
    writeFileSync(join(root, 'allowed'), `ana ${line}\n`)
    const armored = `-----BEGIN SSH SIGNATURE-----\n${signature.toString('base64').replace(/.{1,70}/g, '$&\n')}-----END SSH SIGNATURE-----\n`
    writeFileSync(join(root, 'sig'), armored)
    const args = ['-Y', 'verify', '-f', join(root, 'allowed'), '-I', 'ana', '-n', 'svc', '-s', join(root, 'sig')]
    return spawnSync('ssh-keygen', args, { input: bytes }).status === 0
  }

  test('its signatures are good, for svc and for nothing else', () => {
    const signature = signed('svc')
    expect(keyOfSshSignature(signature)?.fingerprint).toBe(key.fingerprint)
    expect(execFileSync('ssh-keygen', ['-l', '-f', path]).toString()).toContain(key.fingerprint)
    expect([
      isSignature(signature, BYTES, key),
      isSignature(signed('svc', '-O', 'hashalg=sha256'), BYTES, key),
      isSignature(signed('git'), BYTES, key),
      isSignature(signature, Buffer.concat([BYTES, Buffer.from(' ')]), key),
      isSignature(signature, BYTES, newKeyPair().key),
    ]).toEqual([true, true, false, false, false])
  })

  test('ours are good for it, and both refuse each changed byte', () => {
    const pair = newKeyPair()
    const signature = sshSignature(BYTES, pair)
    expect(accepts(signature, BYTES, pair.line)).toBe(true)
    expect(isSignature(signature, BYTES, pair.key)).toBe(true)
    for (let at = 0; at < signature.length; at++) {
      const changed = Buffer.from(signature)
      changed[at]! ^= 1 << (at % 8)
      // A program is slow to start, so it is asked about some.
      const theirs = at % 25 === 0 && accepts(changed, BYTES, pair.line)
      expect([at, isSignature(changed, BYTES, pair.key), theirs]).toEqual([at, false, false])
    }
    expect(isSignature(Buffer.concat([signature, Buffer.from([0])]), BYTES, pair.key)).toBe(false)
  })

  test('a hardware key signs with its counter, and only after a touch', () => {
    const pair = newKeyPair()
    const raw = pair.key.blob.subarray(-32)
    const blob = Buffer.concat([sshString('sk-ssh-ed25519@openssh.com'), sshString(raw), sshString('ssh:')])
    const line = `sk-ssh-ed25519@openssh.com ${blob.toString('base64')}`
    const hardware = { privateKey: pair.privateKey, key: readSigningKey(line)! }
    const [touched, untouched] = [1, 0].map((flags) => sshSignature(BYTES, hardware, { flags })) as [Buffer, Buffer]
    expect([isSignature(touched, BYTES, hardware.key), accepts(touched, BYTES, line)]).toEqual([true, true])
    // ssh-keygen itself does not ask for the touch here.
    expect([isSignature(untouched, BYTES, hardware.key), accepts(untouched, BYTES, line)]).toEqual([false, true])
    // As they are, it signs nothing.
    expect(isSignature(pair.sign(Buffer.from('{}')).signature, preAuthEncoding(Buffer.from('{}')), hardware.key)).toBe(
      false,
    )
    expect(isSignature(pair.sign(Buffer.from('{}')).signature, preAuthEncoding(Buffer.from('{}')), pair.key)).toBe(true)
  })
})
