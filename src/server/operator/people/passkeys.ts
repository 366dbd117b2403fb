/** Passkeys of people: added, listed, removed, and asked to sign. Source: docs/design/approvals.md#passkeys */
import { randomBytes } from 'node:crypto'
import { hashKey } from '../../../base/api-key.ts'
import { toIsoText, isoOrNull } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import type { PasskeyView } from '../../../operations/passkeys.ts'
import { isProvedPerson } from '../../../spec/people/key.ts'
import type { GivenAssertion, OneTimePurpose, Passkey } from '../../../spec/people/passkey.ts'
import { confirmChallengeText, enrolChallengeText } from '../../../view/passkey-challenge.ts'
import type { OperatorPrincipal } from '../../auth/auth.ts'
import { siteOf } from '../../auth/passkey-site.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { notFoundFailure } from '../find/find.ts'
import type { OperatorAction, OperatorRequest } from './act.ts'
import { PasskeyProblem, readCeremony, readPublicKey, verifyAssertion } from './verify-passkey.ts'

/** Long enough to find a security key. */
const CHALLENGE_MS = 5 * 60_000
/** How long an expired secret is kept, so that whoever comes late reads why it is refused. */
export const EXPIRED_KEPT_MS = 7 * 24 * 3_600_000
/** More than a person has devices. */
const MOST_OF_PERSON = 20

export const listPasskeys: OperatorAction<'GET /passkeys'> = async ({ services, operator }) => {
  const items = (await services.store.passkeys(services.workspace.id)).map((each) => toPasskeyView(each, operator))
  return { items, total: items.length }
}

export const createPasskeyChallenge: OperatorAction<'POST /passkeys/challenge'> = async (request) => {
  const { services, operator, body } = request
  const { store, clock, workspace } = services
  checkPerson(request)
  const { origin, rpId } = siteOf(services)
  const nonce = randomBytes(32).toString('base64url')
  const [createdAt, expiresAt] = [clock.now(), clock.now() + CHALLENGE_MS]
  await store.putOneTimeToken(
    {
      hash: hashKey(nonce),
      workspaceId: workspace.id,
      purpose: body.purpose,
      operator: operator.id,
      subject: body.subject ?? null,
      createdAt,
      expiresAt,
      usedAt: null,
    },
    createdAt - EXPIRED_KEPT_MS,
  )
  const own = await passkeysOf(services, operator)
  const credentials = own.map(({ credentialId }) => credentialId)
  return { nonce, rpId, origin, operator: operator.id, credentials, expiresAt: toIsoText(expiresAt) }
}

export const enrolPasskey: OperatorAction<'POST /passkeys'> = async (request) => {
  const { services, operator, body, act } = request
  const { store, clock, ids, workspace, log } = services
  checkPerson(request)
  const { name, nonce, credentialId, clientDataJson, authenticatorData, publicKey, algorithm, confirm } = body
  const own = await passkeysOf(services, operator)
  if (own.length >= MOST_OF_PERSON) throw refuse(`nobody has more than ${MOST_OF_PERSON}`)
  await useNonce(services, operator, 'enrol', null, nonce)
  return await naming(async () => {
    const challengeText = enrolChallengeText(operator.id, nonce)
    const expected = { ...siteOf(services), type: 'webauthn.create', challengeText } as const
    const report = readCeremony(clientDataJson, authenticatorData, expected)
    if (report.credentialId !== credentialId) throw new PasskeyProblem('its data names another passkey')
    readPublicKey({ publicKey, algorithm })
    // Who signs in as a person, but does not have their device, must not add a device of their own.
    if (own.length > 0) {
      if (confirm?.nonce !== nonce) throw new PasskeyProblem('another one is added with one that you have already')
      await provePasskey(services, operator, confirm, confirmChallengeText('enrol', credentialId, nonce))
    }
    const passkey: Passkey = {
      id: ids.next<'passkey'>(),
      workspaceId: workspace.id,
      operator: operator.id,
      name,
      credentialId,
      publicKey,
      algorithm,
      signCount: report.signCount,
      isDeviceBound: report.isDeviceBound,
      isBackedUp: report.isBackedUp,
      createdAt: clock.now(),
      lastUsedAt: null,
      removedAt: null,
    }
    const added = act('passkey.added', {
      subject: describePasskey(passkey),
      after: { name, isDeviceBound: passkey.isDeviceBound },
      setup: [`passkey ${passkey.id}`],
    })
    await store.recording(added).createPasskey(passkey)
    log.write('info', 'a passkey was added', { operator: operator.id, passkey: passkey.id })
    return toPasskeyView(passkey, operator)
  })
}

/** A person proves it with a passkey of theirs. Whoever is on the machine of the server removes any, since a device may be lost. */
export const removePasskey: OperatorAction<'POST /passkeys/:id/remove'> = async ({
  services,
  operator,
  consoleSession,
  id,
  body,
  act,
}) => {
  const { store, clock, workspace, log } = services
  const found = (await store.passkeys(workspace.id)).find((each) => each.id === id)
  if (!found) throw notFoundFailure('passkey')
  if (operator.proof !== 'local' || consoleSession !== undefined) {
    const { confirm } = body
    if (found.operator !== operator.id) throw refuse('it belongs to somebody else')
    if (!confirm) throw refuse('it is removed with a passkey of the same person')
    await useNonce(services, operator, 'remove', id, confirm.nonce)
    await naming(() => provePasskey(services, operator, confirm, confirmChallengeText('remove', id, confirm.nonce)))
  }
  const removed = act('passkey.removed', {
    subject: describePasskey(found),
    before: { name: found.name },
    setup: [`passkey ${found.id}`],
  })
  await store.recording(removed).removePasskey(found.id, clock.now())
  log.write('info', 'a passkey was removed', { operator: found.operator, passkey: found.id, by: operator.id })
  return toPasskeyView(found, operator)
}

const describePasskey = ({ id, operator }: Passkey): string => `passkey ${id} of ${operator}`

/** Verifies what a passkey of a person signed, and keeps its counter. @throws PasskeyProblem */
export async function provePasskey(
  services: ServerServices,
  operator: OperatorPrincipal,
  given: GivenAssertion,
  challengeText: string,
): Promise<Passkey> {
  const passkey = (await passkeysOf(services, operator)).find((each) => each.credentialId === given.credentialId)
  if (!passkey) throw new PasskeyProblem('it is none of yours')
  const report = verifyAssertion(passkey, given, { ...siteOf(services), type: 'webauthn.get', challengeText })
  // A device does not become another one.
  if (report.isDeviceBound !== passkey.isDeviceBound)
    throw new PasskeyProblem('its data contradicts what it was added with')
  const { signCount, isBackedUp } = report
  await services.store.usePasskey(passkey.id, { signCount, isBackedUp, at: services.clock.now() })
  return passkey
}

/** Uses a challenge up. @throws Failure `passkey_refused` where it is not for this person and purpose, was used or has expired */
export async function useNonce(
  { store, clock, workspace }: ServerServices,
  operator: OperatorPrincipal,
  purpose: OneTimePurpose,
  subject: string | null,
  nonce: string,
): Promise<void> {
  const hash = hashKey(nonce)
  const token = await store.oneTimeToken(hash)
  const isTheirs =
    token?.workspaceId === workspace.id &&
    token.purpose === purpose &&
    token.operator === operator.id &&
    token.subject === subject
  if (!isTheirs) throw refuse('its challenge is for something else')
  if (!(await store.useOneTimeToken(hash, clock.now())))
    throw refuse('its challenge was used before, or is older than five minutes')
}

/** Words what is wrong with a passkey as a failure. */
export async function naming<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof PasskeyProblem)) throw error
    throw refuse(error.message)
  }
}

const refuse = (why: string) => fail('passkey_refused', { why })

/** A passkey belongs to a person who has shown who they are. @throws Failure `passkey_refused` */
function checkPerson({ operator, consoleSession }: Pick<OperatorRequest, 'operator' | 'consoleSession'>): void {
  if (consoleSession === undefined || !isProvedPerson(operator))
    throw refuse(
      'it belongs to a person, so sign in to the console with your credential (svc keys create --operator --email YOU)',
    )
}

const passkeysOf = async (
  { store, workspace }: ServerServices,
  { id }: OperatorPrincipal,
): Promise<readonly Passkey[]> => (await store.passkeys(workspace.id)).filter(({ operator }) => operator === id)

const toPasskeyView = (passkey: Passkey, you: OperatorPrincipal): PasskeyView => ({
  passkeyId: passkey.id,
  operator: passkey.operator,
  name: passkey.name,
  isDeviceBound: passkey.isDeviceBound,
  isBackedUp: passkey.isBackedUp,
  createdAt: toIsoText(passkey.createdAt),
  lastUsedAt: isoOrNull(passkey.lastUsedAt),
  isYours: passkey.operator === you.id,
})
