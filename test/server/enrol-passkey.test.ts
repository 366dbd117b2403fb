/** Who may add and remove a passkey, whatever page asks. Source: docs/design/approvals.md#passkeys */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import type { PasskeyChallenge, PasskeyView } from '../../src/operations/passkeys.ts'
import type { RunningServer } from '../../src/server/open.ts'
import { confirmChallengeText, enrolChallengeText } from '../../src/view/passkey-challenge.ts'
import { openWithConsole, signedIn } from '../console/browser-session.ts'
import { ask } from './running.ts'

const [VERIFIED, WITH_CREDENTIAL] = [0x05, 0x45]

const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest()

/** A device that does what it is asked. */
function openDevice() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  const credentialId = id.toString('base64url')
  let count = 0
  const respond = (type: string, text: string, { origin, rpId }: PasskeyChallenge) => {
    const challenge = sha256(text).toString('base64url')
    const client = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
    const isNew = type === 'webauthn.create'
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(++count)
    const data = Buffer.concat([
      sha256(rpId),
      Buffer.from([isNew ? WITH_CREDENTIAL : VERIFIED]),
      counter,
      ...(isNew ? [Buffer.alloc(16), Buffer.from([0, id.length]), id] : []),
    ])
    return { client, data, clientDataJson: client.toString('base64url'), authenticatorData: data.toString('base64url') }
  }
  return {
    credentialId,
    create(challenge: PasskeyChallenge, name: string) {
      const text = enrolChallengeText(challenge.operator, challenge.nonce)
      const { clientDataJson, authenticatorData } = respond('webauthn.create', text, challenge)
      const spki = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')
      const of = { clientDataJson, authenticatorData, publicKey: spki, algorithm: -7 }
      return { name, nonce: challenge.nonce, credentialId, ...of }
    },
    confirm(challenge: PasskeyChallenge, purpose: 'enrol' | 'remove', subject: string) {
      const text = confirmChallengeText(purpose, subject, challenge.nonce)
      const { client, data, clientDataJson, authenticatorData } = respond('webauthn.get', text, challenge)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey).toString('base64url')
      return { credentialId, clientDataJson, authenticatorData, signature, nonce: challenge.nonce }
    },
  }
}

async function personAt(server: RunningServer, email: string) {
  const { secret } = await ask<{ secret: string }>(server.operator, 'POST /operator-keys', { email })
  const { send } = await signedIn(server, secret)
  return {
    send: async (line: string, body: unknown) => (await send(line, { body })).body as Record<string, string>,
    challenge: async (purpose: string, subject?: string) =>
      (await send('POST /passkeys/challenge', { body: { purpose, ...(subject !== undefined && { subject }) } }))
        .body as unknown as PasskeyChallenge,
  }
}

const listOf = async (server: RunningServer) =>
  (await ask<{ items: PasskeyView[] }>(server.operator, 'GET /passkeys')).items

const why = (reason: string) => ({ code: 'passkey_refused', error: `The passkey does not count: ${reason}.` })

test('the first passkey needs the signed-in person, each further one a passkey of the same person', async () => {
  const server = await openWithConsole()
  const [ana, bo] = [await personAt(server, 'ana@acme.example'), await personAt(server, 'bo@acme.example')]
  const [laptop, phone, stolen] = [openDevice(), openDevice(), openDevice()]
  expect(await ana.send('POST /passkeys', laptop.create(await ana.challenge('enrol'), 'laptop'))).toMatchObject({
    operator: 'ana@acme.example',
    name: 'laptop',
    isDeviceBound: true,
    isYours: true,
  })
  expect(await bo.send('POST /passkeys', stolen.create(await bo.challenge('enrol'), 'of bo'))).toMatchObject({
    name: 'of bo',
  })

  const needed = 'another one is added with one that you have already'
  expect(await ana.send('POST /passkeys', phone.create(await ana.challenge('enrol'), 'phone'))).toMatchObject(
    why(needed),
  )
  const foreign = await ana.challenge('enrol')
  const byBo = { ...phone.create(foreign, 'phone'), confirm: stolen.confirm(foreign, 'enrol', phone.credentialId) }
  expect(await ana.send('POST /passkeys', byBo)).toMatchObject(why('it is none of yours'))
  const swapped = await ana.challenge('enrol')
  const forOther = { ...phone.create(swapped, 'phone'), confirm: laptop.confirm(swapped, 'enrol', 'another') }
  expect(await ana.send('POST /passkeys', forOther)).toMatchObject(
    why('it signed something other than what is asked now'),
  )

  const own = await ana.challenge('enrol')
  const confirmed = { ...phone.create(own, 'phone'), confirm: laptop.confirm(own, 'enrol', phone.credentialId) }
  expect(await ana.send('POST /passkeys', confirmed)).toMatchObject({ name: 'phone' })
  expect(await ana.send('POST /passkeys', confirmed)).toMatchObject(
    why('its challenge was used before, or is older than five minutes'),
  )
  expect((await listOf(server)).map(({ name }) => name)).toEqual(['laptop', 'of bo', 'phone'])
})

test('a passkey is removed with one of the same person, or on the machine of the server', async () => {
  const server = await openWithConsole()
  const [ana, bo] = [await personAt(server, 'ana@acme.example'), await personAt(server, 'bo@acme.example')]
  const [laptop, ofBo] = [openDevice(), openDevice()]
  await ana.send('POST /passkeys', laptop.create(await ana.challenge('enrol'), 'laptop'))
  await bo.send('POST /passkeys', ofBo.create(await bo.challenge('enrol'), 'of bo'))
  const [first, second] = await listOf(server)
  const path = `POST /passkeys/${first!.passkeyId}/remove`
  expect(await ana.send(path, {})).toMatchObject(why('it is removed with a passkey of the same person'))
  const theirs = await bo.challenge('remove', first!.passkeyId)
  expect(await bo.send(path, { confirm: ofBo.confirm(theirs, 'remove', first!.passkeyId) })).toMatchObject(
    why('it belongs to somebody else'),
  )
  const another = await ana.challenge('remove', second!.passkeyId)
  expect(await ana.send(path, { confirm: laptop.confirm(another, 'remove', first!.passkeyId) })).toMatchObject(
    why('its challenge is for something else'),
  )
  expect(await listOf(server)).toHaveLength(2)
  const own = await ana.challenge('remove', first!.passkeyId)
  expect(await ana.send(path, { confirm: laptop.confirm(own, 'remove', first!.passkeyId) })).toMatchObject({
    name: 'laptop',
  })
  await ask(server.operator, `POST /passkeys/${second!.passkeyId}/remove`, {})
  expect(await listOf(server)).toEqual([])
})
