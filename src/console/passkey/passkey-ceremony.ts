/** Asks a passkey of the person to sign, or for a new one. Source: docs/design/approvals.md#passkeys */
import type { JsonObject } from '../../base/json/json.ts'
import type { PasskeyChallenge } from '../../operations/passkeys.ts'
import type { GivenAssertion } from '../../spec/people/passkey.ts'
import type { ShownTask } from '../../spec/task.ts'
import { approvalChallengeText, confirmChallengeText, enrolChallengeText } from '../../view/passkey-challenge.ts'
import { callOperator, RequestError } from '../wire/request.ts'

/** Signs what the card shows and what is answered. */
export async function signApproval(task: ShownTask, view: string, answer: JsonObject): Promise<GivenAssertion> {
  const challenge = await challengeFor('approve', task.id)
  return await sign(challenge, approvalChallengeText(view, answer, challenge.nonce))
}

/** Adds a passkey; one that the person has already confirms it. */
export async function addPasskey(name: string): Promise<void> {
  const challenge = await challengeFor('enrol')
  const { nonce, rpId, operator, credentials } = challenge
  const created = await ask(async () =>
    navigator.credentials.create({
      publicKey: {
        challenge: await sha256(enrolChallengeText(operator, nonce)),
        rp: { id: rpId, name: 'svc' },
        user: { id: await sha256(operator), name: operator, displayName: operator },
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key' as const, alg })),
        excludeCredentials: credentials.map(toDescriptor),
        authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
        attestation: 'none',
      },
    }),
  )
  const response = created.response as AuthenticatorAttestationResponse
  const publicKey = response.getPublicKey()
  if (publicKey === null) throw unused('This browser does not understand the kind of its key.')
  const credentialId = toText(created.rawId)
  const confirm = credentials.length > 0 && (await sign(challenge, confirmChallengeText('enrol', credentialId, nonce)))
  await callOperator('POST /passkeys', {
    body: {
      name,
      nonce,
      credentialId,
      clientDataJson: toText(response.clientDataJSON),
      authenticatorData: toText(response.getAuthenticatorData()),
      publicKey: toText(publicKey),
      algorithm: response.getPublicKeyAlgorithm(),
      ...(confirm && { confirm }),
    },
  })
}

/** Removes one; a passkey of the same person confirms it. */
export async function removePasskey(id: string): Promise<void> {
  const challenge = await challengeFor('remove', id)
  const confirm = await sign(challenge, confirmChallengeText('remove', id, challenge.nonce))
  await callOperator('POST /passkeys/:id/remove', { id, body: { confirm } })
}

async function challengeFor(purpose: 'approve' | 'enrol' | 'remove', subject?: string): Promise<PasskeyChallenge> {
  const body = { purpose, ...(subject !== undefined && { subject }) }
  const challenge = await callOperator('POST /passkeys/challenge', { body })
  if (location.origin !== challenge.origin)
    throw unused(`Passkeys work at ${challenge.origin} only: open the console there.`)
  if (purpose !== 'enrol' && challenge.credentials.length === 0)
    throw unused('You have no passkey yet: add one at Admin, Passkeys.')
  return challenge
}

async function sign({ nonce, rpId, credentials }: PasskeyChallenge, challengeText: string): Promise<GivenAssertion> {
  const signed = await ask(async () =>
    navigator.credentials.get({
      publicKey: {
        challenge: await sha256(challengeText),
        rpId,
        allowCredentials: credentials.map(toDescriptor),
        userVerification: 'required',
      },
    }),
  )
  const { clientDataJSON, authenticatorData, signature } = signed.response as AuthenticatorAssertionResponse
  return {
    credentialId: toText(signed.rawId),
    clientDataJson: toText(clientDataJSON),
    authenticatorData: toText(authenticatorData),
    signature: toText(signature),
    nonce,
  }
}

/** @throws RequestError where the browser has none, or its person leaves it */
async function ask(act: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  if (!('PublicKeyCredential' in globalThis)) throw unused('This browser has no passkeys.')
  try {
    const credential = await act()
    if (credential) return credential as PublicKeyCredential
  } catch (error) {
    if (error instanceof DOMException && error.name === 'InvalidStateError')
      throw unused('This device has a passkey of yours already.')
    // Browsers do not say whether nobody answered or the device refused.
    if (!(error instanceof DOMException)) throw error
  }
  throw unused('No passkey was used, so nothing was sent.')
}

const unused = (message: string): RequestError => new RequestError(400, 'passkey_unused', message)

const sha256 = async (text: string): Promise<ArrayBuffer> =>
  await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))

const toDescriptor = (id: string) => ({ type: 'public-key' as const, id: toBytes(id) })

const toText = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const toBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.codePointAt(0)!)
