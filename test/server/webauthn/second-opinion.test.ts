/**
 * A second opinion on what svc accepts of passkeys: the package @simplewebauthn/server, on genuine and on changed ceremonies. Whatever
 * svc accepts, the package accepts. Source: docs/design/approvals.md#passkeys
 */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { readCeremony, readPublicKey, verifyAssertion } from '../../../src/server/operator/people/verify-passkey.ts'
import { cases } from '../../cases.ts'

const isInstalled = existsSync(join(import.meta.dirname, 'node_modules'))

const SITE = { origin: 'https://console.acme.example', rpId: 'console.acme.example' }
const TEXT = 'svc.approval.v1 a card'
const [UP, UV, BE, BS, AT] = [1, 4, 8, 16, 64]
const ID = Buffer.from('a credential of ana')

const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest()
const CHALLENGE = sha256(TEXT).toString('base64url')

/** What of the package is used. */
interface Verifier {
  verifyAuthenticationResponse(options: object): Promise<{
    verified: boolean
    authenticationInfo: { newCounter: number; credentialDeviceType: string; credentialBackedUp: boolean }
  }>
  verifyRegistrationResponse(options: object): Promise<{
    verified: boolean
    registrationInfo: { credential: { id: string }; credentialDeviceType: string; credentialBackedUp: boolean }
  }>
}

interface Ceremony {
  readonly client: Buffer
  readonly data: Buffer
  readonly signature: Buffer
}

const KINDS = [
  ['ES256', -7, generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['EdDSA', -8, generateKeyPairSync('ed25519')],
  ['RS256', -257, generateKeyPairSync('rsa', { modulusLength: 2048 })],
] as const

/** The public key as devices write it (RFC 9053). */
function toCose(algorithm: number, key: KeyObject): Buffer {
  const { x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' })
  const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
  const part = (text: string): Buffer => Buffer.from(text, 'base64url')
  if (algorithm === -7) return Buffer.concat([hex('a5 01 02 03 26 20 01 21 58 20'), part(x), hex('22 58 20'), part(y)])
  if (algorithm === -8) return Buffer.concat([hex('a4 01 01 03 27 20 06 21 58 20'), part(x)])
  return Buffer.concat([hex('a4 01 03 03 39 01 00 20 59 01 00'), part(n), hex('21 43'), part(e)])
}

const clientOf = (type: string, more: object = {}): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge: CHALLENGE, origin: SITE.origin, crossOrigin: false, ...more }))

function dataOf(flags: number, count: number, rpId = SITE.rpId, rest: Buffer = Buffer.alloc(0)): Buffer {
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(count)
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter, rest])
}

/** `{fmt: "none", attStmt: {}, authData}`. */
const toAttestation = (data: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
    Buffer.from([data.length >> 8, data.length & 255]),
    data,
  ])

describe.skipIf(!isInstalled)('with node scripts/tools.js test/server/webauthn', () => {
  let library: Verifier
  beforeAll(async () => {
    const path = createRequire(join(import.meta.dirname, 'package.json')).resolve('@simplewebauthn/server')
    library = ((await import(pathToFileURL(path).href)) as { default: Verifier }).default
  })

  const text = (bytes: Buffer): string => bytes.toString('base64url')
  const shared = {
    expectedChallenge: CHALLENGE,
    expectedOrigin: SITE.origin,
    expectedRPID: SITE.rpId,
    requireUserVerification: true,
  }
  const envelope = { id: text(ID), rawId: text(ID), type: 'public-key', clientExtensionResults: {} }

  describe.each(KINDS)('a passkey of kind %s', (_, algorithm, { publicKey: key, privateKey }) => {
    const cose = toCose(algorithm, key)
    const publicKey = text(key.export({ format: 'der', type: 'spki' }))

    const signed = (client: Buffer, data: Buffer): Ceremony => ({
      client,
      data,
      signature: sign(algorithm === -8 ? null : 'sha256', Buffer.concat([data, sha256(client)]), privateKey),
    })

    /** What svc makes of a ceremony; undefined where it refuses. */
    function ours({ client, data, signature }: Ceremony, signCount: number) {
      try {
        const given = {
          credentialId: text(ID),
          clientDataJson: text(client),
          authenticatorData: text(data),
          signature: text(signature),
        }
        const expected = { ...SITE, type: 'webauthn.get', challengeText: TEXT } as const
        return verifyAssertion({ publicKey, algorithm, signCount }, given, expected)
      } catch {
        return undefined
      }
    }

    async function theirs({ client, data, signature }: Ceremony, signCount: number) {
      try {
        const { verified, authenticationInfo: info } = await library.verifyAuthenticationResponse({
          ...shared,
          response: {
            ...envelope,
            response: { clientDataJSON: text(client), authenticatorData: text(data), signature: text(signature) },
          },
          credential: { id: text(ID), publicKey: cose, counter: signCount },
        })
        if (!verified) return undefined
        return {
          signCount: info.newCounter,
          isDeviceBound: info.credentialDeviceType === 'singleDevice',
          isBackedUp: info.credentialBackedUp,
        }
      } catch {
        return undefined
      }
    }

    test.each([
      ['bound to a device', UP | UV, 1, 0],
      ['copied to an account', UP | UV | BE | BS, 8, 7],
      ['that may be copied', UP | UV | BE, 8, 7],
      ['that does not count', UP | UV, 0, 0],
    ])('both accept one %s, and say the same of it', async (__, flags, count, before) => {
      const given = signed(clientOf('webauthn.get'), dataOf(flags, count))
      const report = { signCount: count, isDeviceBound: (flags & BE) === 0, isBackedUp: (flags & BS) !== 0 }
      expect([ours(given, before), await theirs(given, before)]).toEqual([report, report])
    })

    /** Signed by the device all the same: what is wrong is not the signature. */
    test.each<[string, Buffer, Buffer, number]>([
      ['another act', clientOf('webauthn.create'), dataOf(UP | UV, 1), 0],
      ['another challenge', clientOf('webauthn.get', { challenge: 'AAAA' }), dataOf(UP | UV, 1), 0],
      ['no challenge', clientOf('webauthn.get', { challenge: undefined }), dataOf(UP | UV, 1), 0],
      ['another origin', clientOf('webauthn.get', { origin: 'https://evil.example' }), dataOf(UP | UV, 1), 0],
      ['another site', clientOf('webauthn.get'), dataOf(UP | UV, 1, 'evil.example'), 0],
      ['nobody verified', clientOf('webauthn.get'), dataOf(UP, 1), 0],
      ['nobody present', clientOf('webauthn.get'), dataOf(UV, 1), 0],
      ['a copy that may be none', clientOf('webauthn.get'), dataOf(UP | UV | BS, 1), 0],
      ['a counter that stays', clientOf('webauthn.get'), dataOf(UP | UV, 7), 7],
      ['a counter that goes back', clientOf('webauthn.get'), dataOf(UP | UV, 6), 7],
      ['a counter that is gone', clientOf('webauthn.get'), dataOf(UP | UV, 0), 7],
      ['data that is cut', clientOf('webauthn.get'), dataOf(UP | UV, 1).subarray(0, 36), 0],
      ['no JSON', Buffer.from('{"type":'), dataOf(UP | UV, 1), 0],
    ])('both refuse one with %s', async (__, client, data, before) => {
      const given = signed(client, data)
      expect([ours(given, before), await theirs(given, before)]).toEqual([undefined, undefined])
    })

    test('svc alone refuses one that a frame of another site asked for', async () => {
      const given = signed(clientOf('webauthn.get', { crossOrigin: true }), dataOf(UP | UV, 1))
      expect([ours(given, 0), await theirs(given, 0)]).toMatchObject([undefined, { signCount: 1 }])
    })

    test('svc refuses one with any byte changed, lost or added; so does the package, but behind a signature', async () => {
      const whole = signed(clientOf('webauthn.get'), dataOf(UP | UV, 1))
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('client', 'data', 'signature'),
          fc.nat(),
          fc.integer({ min: 1, max: 255 }),
          fc.constantFrom('change', 'cut', 'add'),
          async (member, place, byte, how) => {
            const bytes = Buffer.from(whole[member as keyof Ceremony])
            bytes[place % bytes.length]! ^= byte
            const cut = how === 'cut' ? bytes.subarray(0, place % bytes.length) : bytes
            const changed = how === 'add' ? Buffer.concat([whole[member as keyof Ceremony], Buffer.from([byte])]) : cut
            const given = { ...whole, [member]: changed }
            const isBehind = member === 'signature' && how === 'add'
            const others = isBehind ? undefined : await theirs(given, 0)
            expect([ours(given, 0), others]).toEqual([undefined, undefined])
          },
        ),
        { numRuns: cases(200) },
      )
    })

    /** A new passkey: the key in `cose`, behind its id. */
    const created = Buffer.concat([Buffer.alloc(16), Buffer.from([0, ID.length]), ID, cose])
    const newData = dataOf(UP | UV | AT, 0, SITE.rpId, created)

    function oursOfNew(client: Buffer, data: Buffer) {
      try {
        const expected = { ...SITE, type: 'webauthn.create', challengeText: TEXT } as const
        const report = readCeremony(text(client), text(data), expected)
        readPublicKey({ publicKey, algorithm })
        // As `enrolPasskey` does: the id that the page sends is that in the data.
        return report.credentialId === text(ID) ? report : undefined
      } catch {
        return undefined
      }
    }

    async function theirsOfNew(client: Buffer, data: Buffer) {
      try {
        const { verified, registrationInfo: info } = await library.verifyRegistrationResponse({
          ...shared,
          response: {
            ...envelope,
            response: { clientDataJSON: text(client), attestationObject: text(toAttestation(data)) },
          },
        })
        return verified && info.credential.id === text(ID) ? info : undefined
      } catch {
        return undefined
      }
    }

    test('both accept a new one, and say the same of it', async () => {
      const client = clientOf('webauthn.create')
      expect(oursOfNew(client, newData)).toEqual({
        signCount: 0,
        isDeviceBound: true,
        isBackedUp: false,
        credentialId: text(ID),
      })
      expect(await theirsOfNew(client, newData)).toMatchObject({
        credential: { id: text(ID), counter: 0 },
        credentialDeviceType: 'singleDevice',
        credentialBackedUp: false,
      })
    })

    test('svc accepts no changed new one that the package refuses', async () => {
      // The key itself comes from the browser as SubjectPublicKeyInfo; nothing behind the id is read.
      const read = newData.length - cose.length
      await fc.assert(
        fc.asyncProperty(fc.boolean(), fc.nat(), fc.integer({ min: 1, max: 255 }), async (isClient, place, change) => {
          const [client, data] = [clientOf('webauthn.create'), Buffer.from(newData)]
          if (isClient) client[place % client.length]! ^= change
          else data[place % read]! ^= change
          const isTooMuch = oursOfNew(client, data) !== undefined && !(await theirsOfNew(client, data))
          expect(isTooMuch).toBe(false)
        }),
        { numRuns: cases(200) },
      )
    })
  })
})
