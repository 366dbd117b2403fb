/** What operators set up, each with an act that names its rows: a row of each noun that acts cover. */
import { digestOf } from '../../src/base/digest.ts'
import { agentIdOf, versionIdOf } from '../../src/base/ids.ts'
import type { NewAct } from '../../src/spec/people/act.ts'
import type { SetupName } from '../../src/spec/people/setup-name.ts'
import { writeDeployment, writeTrust } from '../../src/spec/trust/statement.ts'
import { readTrustDocument } from '../../src/spec/trust/trust-document.ts'
import type { Store } from '../../src/store/store.ts'
import { aDeploymentOf, envelopeOf, newKeyPair, trustValue } from '../spec/trust/makers.ts'
import {
  aConsoleSession,
  aKey,
  anAttestation,
  anOperatorKey,
  aPasskey,
  aPublication,
  aSnapshot,
  aTrigger,
  aTrust,
  AGENT,
  NOW,
  WORKSPACE,
} from './makers.ts'

/** An agent of its own, which no session has. */
const CLERK = agentIdOf('main', 'pay.clerk')

/** How many acts that takes. */
export const SETUP_ACTS = 17

export async function setUpEverything(
  store: Store,
  anAct: (subject: string, about: Partial<NewAct>) => NewAct,
): Promise<void> {
  const recording = (...setup: SetupName[]) => store.recording(anAct(setup.join(', '), { setup }))
  const [first, second] = ['1.0.0', '2.0.0'].map((version) => aSnapshot('pay.clerk', version)) as [
    ReturnType<typeof aSnapshot>,
    ReturnType<typeof aSnapshot>,
  ]
  const idOf = ({ digest }: typeof first) => versionIdOf('main', 'pay.clerk', digest)
  const document = { kind: 'Tool', id: 'pay.send', version: '1.0.0' } as const
  const written = { ...document, digest: first.digest, document: { kind: 'Tool' }, isYanked: false }
  const name: SetupName = `document Tool pay.send 1.0.0`
  const root = newKeyPair()
  const value = trustValue({ root }, { grants: [{ who: ['root'], may: ['deploy'], in: 'pay.*' }] })
  const trust = readTrustDocument(value)
  const installed = { ...aTrust(1), digest: trust.digest, envelope: envelopeOf(writeTrust(value, trust), root) }
  const statement = aDeploymentOf('pay.clerk', { version: '2.0.0', snapshot: second.digest, from: '1.0.0' })
  const envelope = envelopeOf(writeDeployment(statement), root)
  const signed = anAttestation('deployed', { digest: digestOf(envelope), subject: second.digest, envelope })
  await recording(`version ${idOf(first)}`, `version ${idOf(second)}`, name).publish(
    aPublication([first, second], { documents: [written] }),
  )
  await recording(name).setDocumentYanked(WORKSPACE, document, true, 'Pays twice.')
  await recording(`version ${idOf(first)}`).setYanked(idOf(first), true, 'Too generous.')
  await recording('trust 1').installTrust(installed, undefined)
  const deployment = [`agent ${CLERK}`, `deployments ${CLERK}`] as const
  await recording(...deployment).deploy(CLERK, idOf(first), NOW, 'operator:ana', 'The first.')
  await recording(...deployment, `attestation ${signed.digest}`).deploy(
    CLERK,
    idOf(second),
    NOW + 1,
    'operator:ana',
    undefined,
    {
      signed: { attestation: signed, from: idOf(first) },
    },
  )
  const [trigger, key, credential, passkey] = [aTrigger(), aKey('shop'), anOperatorKey('ana'), aPasskey('phone')]
  await recording(`trigger ${trigger.id}`).createTrigger({ ...trigger, agentId: AGENT })
  await recording(`trigger ${trigger.id}`).updateTrigger({ ...trigger, ratePerMinute: 9 })
  await recording(`key ${key.id}`).createKey(key)
  await recording(`key ${key.id}`).revokeKey(key.id, NOW + 2)
  await recording(`credential ${credential.id}`).createOperatorKey(credential)
  await recording(`passkey ${passkey.id}`).createPasskey(passkey)
  const session = aConsoleSession('ana', { provider: { issuer: 'https://login.acme.example' } as never, signIn: 'one' })
  await recording(`sign-ins ${session.operator}`).createConsoleSession(session)
  await recording(`sign-ins ${session.operator}`).endConsoleSession(session.id, NOW + 3)
  const standing = { name: 'small refunds', isRevoked: true, at: NOW, by: 'operator:ana', reason: 'Enough.' }
  await recording('standing small refunds').setStandingRevoked(WORKSPACE, standing)
  const pause = { kind: 'tool', name: 'pay.send', at: NOW, by: 'operator:ana', reason: null } as const
  await recording('pause tool pay.send').setPaused(WORKSPACE, { ...pause, isPaused: true })
  await recording('pause tool pay.send').setPaused(WORKSPACE, { ...pause, isPaused: false, at: NOW + 4 })
}
