/** What a passkey signed is verified against the task as the server has it. Source: docs/design/approvals.md#passkeys */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestOfJson } from '../../src/base/digest.ts'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import {
  PasskeyProblem,
  readCeremony,
  verifyAssertion,
  type ExpectedCeremony,
} from '../../src/server/operator/people/verify-passkey.ts'
import { approvalChallengeText, confirmChallengeText, enrolChallengeText } from '../../src/view/passkey-challenge.ts'
import { describeTaskView } from '../../src/view/task/task-view.ts'
import { cases } from '../cases.ts'
import { readInboxItem } from '../../src/view/task/task-content.ts'
import type { InboxItem } from '../../src/operations/tasks.ts'
import { openWaitingRefund } from './gated-desk.ts'
import { ask } from './running.ts'

const SITE = { origin: 'https://console.acme.example', rpId: 'console.acme.example' }
const [UP, UV, BE, BS] = [1, 4, 8, 16]

const KINDS = [
  ['ES256', -7, generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['EdDSA', -8, generateKeyPairSync('ed25519')],
  ['RS256', -257, generateKeyPairSync('rsa', { modulusLength: 2048 })],
] as const

interface Given {
  readonly type?: string
  readonly text?: string
  readonly origin?: string
  readonly rpId?: string
  readonly flags?: number
  readonly count?: number
  readonly crossOrigin?: boolean
}

/** What a device would send. */
function assertion(privateKey: KeyObject, algorithm: number, given: Given = {}) {
  const { type = 'webauthn.get', text = 'svc.test', origin = SITE.origin, rpId = SITE.rpId } = given
  const { flags = UP | UV, count = 1, crossOrigin = false } = given
  const challenge = createHash('sha256').update(text).digest('base64url')
  const client = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }))
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(count)
  const data = Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), counter])
  const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
  return {
    credentialId: 'AAAA',
    clientDataJson: client.toString('base64url'),
    authenticatorData: data.toString('base64url'),
    signature: sign(algorithm === -8 ? null : 'sha256', signed, privateKey).toString('base64url'),
  }
}

const expected: ExpectedCeremony = { ...SITE, type: 'webauthn.get', challengeText: 'svc.test' }

describe.each(KINDS)('a passkey of kind %s', (_, algorithm, { publicKey: key, privateKey }) => {
  const publicKey = key.export({ format: 'der', type: 'spki' }).toString('base64url')
  const passkey = { publicKey, algorithm, signCount: 0 }

  test('is accepted, and tells what kind of device it is on', () => {
    const report = { signCount: 1, isDeviceBound: true, isBackedUp: false }
    expect(verifyAssertion(passkey, assertion(privateKey, algorithm), expected)).toEqual(report)
    const copied = assertion(privateKey, algorithm, { flags: UP | UV | BE | BS })
    expect(verifyAssertion(passkey, copied, expected)).toEqual({ ...report, isDeviceBound: false, isBackedUp: true })
  })

  test.each<[string, Given, string]>([
    ['another challenge', { text: 'svc.other' }, 'it signed something other than what is asked now'],
    ['another act', { type: 'webauthn.create' }, 'it was used for something else'],
    ['another address', { origin: 'https://evil.example' }, `it was used at another address than ${SITE.origin}`],
    ['a frame of another site', { crossOrigin: true }, `it was used at another address than ${SITE.origin}`],
    ['another site', { rpId: 'evil.example' }, `it belongs to another site than ${SITE.rpId}`],
    ['nobody verified', { flags: UP }, 'the device did not verify who uses it (PIN, finger or face)'],
    ['nobody present', { flags: UV }, 'the device did not verify who uses it (PIN, finger or face)'],
    ['a contradiction', { flags: UP | UV | BS }, 'its data contradicts itself'],
  ])('is refused with %s', (__, given, why) => {
    expect(() => verifyAssertion(passkey, assertion(privateKey, algorithm, given), expected)).toThrow(
      new PasskeyProblem(why),
    )
  })

  test('is refused where its counter does not go on', () => {
    const given = assertion(privateKey, algorithm, { count: 7 })
    expect(verifyAssertion({ ...passkey, signCount: 6 }, given, expected)).toMatchObject({ signCount: 7 })
    for (const signCount of [7, 8])
      expect(() => verifyAssertion({ ...passkey, signCount }, given, expected)).toThrow('its counter went back')
  })

  test('is refused with any byte changed', () => {
    const given = assertion(privateKey, algorithm)
    fc.assert(
      fc.property(
        fc.constantFrom('clientDataJson', 'authenticatorData', 'signature'),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (member, place, change) => {
          const bytes = Buffer.from(given[member as 'signature'], 'base64url')
          bytes[place % bytes.length]! ^= change
          const broken = { ...given, [member]: bytes.toString('base64url') }
          expect(() => verifyAssertion(passkey, broken, expected)).toThrow(PasskeyProblem)
        },
      ),
      { numRuns: cases(200) },
    )
  })
})

test.each([
  ['no data', '', ''],
  ['no JSON', Buffer.from('{').toString('base64url'), 'AAAA'],
  ['a list', Buffer.from('[]').toString('base64url'), 'AAAA'],
])('%s is refused in words', (_, client, data) => {
  expect(() => readCeremony(client, data, expected)).toThrow('its data cannot be read')
})

test('no two acts have one challenge', () => {
  const texts = [
    approvalChallengeText('sha256:a', {}, 'n'),
    approvalChallengeText('sha256:a', {}, 'm'),
    approvalChallengeText('sha256:a', { textValue: 'x' }, 'n'),
    approvalChallengeText('sha256:a', { metadata: { 'svc/arguments': { n: 1 } } }, 'n'),
    approvalChallengeText('sha256:a', { metadata: { 'svc/arguments': { n: 2 } } }, 'n'),
    enrolChallengeText('ana', 'n'),
    confirmChallengeText('enrol', 'ana', 'n'),
    confirmChallengeText('remove', 'ana', 'n'),
  ]
  expect(new Set(texts).size).toBe(texts.length)
})

/** Every leaf of a value, by its path. */
const leavesOf = (
  value: JsonValue,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] =>
  value !== null && typeof value === 'object'
    ? Object.entries(value).flatMap(([key, each]) => leavesOf(each as JsonValue, [...path, key]))
    : [path]

function withLeaf(value: JsonValue, [key, ...rest]: readonly (string | number)[], leaf: JsonValue): JsonValue {
  if (key === undefined) return leaf
  const copy = (Array.isArray(value) ? [...value] : { ...(value as JsonObject) }) as Record<string | number, JsonValue>
  copy[key] = withLeaf(copy[key]!, rest, leaf)
  return copy as JsonValue
}

test('every field that the card shows is signed: whichever changes, the signature is of something else', async () => {
  const refund = await openWaitingRefund('passkey', {}, { approver_role: 'finance', comprehension_required: true })
  const item = await ask<InboxItem>(refund.server.operator, `GET /tasks/${refund.userTaskId}`)
  const shown = describeTaskView(readInboxItem(item))
  const textOf = (view: JsonValue): string => approvalChallengeText(digestOfJson(view), {}, 'nonce')
  const leaves = leavesOf(shown)
  expect(leaves.length).toBeGreaterThan(20)
  fc.assert(
    fc.property(fc.constantFrom(...leaves), fc.oneof(fc.string(), fc.integer(), fc.boolean()), (path, leaf) => {
      const changed = withLeaf(shown, path, leaf)
      expect(textOf(changed) === textOf(shown)).toBe(digestOfJson(changed) === digestOfJson(shown))
    }),
    { numRuns: cases(500) },
  )
  // What the task itself says differently is drawn differently.
  const changes: readonly Partial<InboxItem>[] = [
    { userTaskId: 'other' },
    { runId: 'other' },
    { agent: 'acme.other' },
    { task: { ...item.task!, arguments: { amount: 181 } } },
    { task: { ...item.task!, reason: 'another' } },
    { task: { ...item.task!, approval_proof: 'link' } },
    { task: { ...item.task!, approvals_required: 2 } },
    { task: { ...item.task!, comprehension_required: false } },
    { task: { ...item.task!, tool: { ...item.task!.tool!, side_effect_class: 'read_only' } } },
    { task: { ...item.task!, expires_at: '2027-01-01T00:00:00.000Z' } },
    { people: { ...item.people!, role: 'legal' } },
  ]
  const unseen = changes.filter(
    (change) => textOf(describeTaskView(readInboxItem({ ...item, ...change }))) === textOf(shown),
  )
  expect(unseen).toEqual([])
})

test('only a person who signed in to the console with a credential is asked for a passkey', async () => {
  const { server } = await openWaitingRefund('passkey')
  await expect(ask(server.operator, 'POST /passkeys/challenge', { purpose: 'enrol' })).rejects.toThrow(
    'it belongs to a person, so sign in to the console with your credential',
  )
})
