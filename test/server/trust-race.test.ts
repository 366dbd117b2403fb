/** A version that is replaced while somebody deploys it again needs a signature like any other. Source: docs/design/trust.md#deployments */
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { agentIdOf, workspaceIdOf, type VersionId } from '../../src/base/ids.ts'
import { readTrustDocument } from '../../src/spec/trust/trust-document.ts'
import { writeTrust } from '../../src/spec/trust/statement.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { envelopeOf, newKeyPair, trustValue } from '../spec/trust/makers.ts'
import { aTrust } from '../store/makers.ts'
import { NOW, openFixture, snapshotOf, versionOf, WORKSPACE } from './fixtures.ts'

const DESK = 'acme.desk'

/** 1.0.0 is deployed and 1.1.0 published, where deployments have to be signed. */
async function desk() {
  const store = openSqlite(':memory:', { clock: { now: () => NOW, monotonic: () => NOW } })
  let meanwhile: (() => Promise<unknown>) | undefined
  // It is asked for once the agent was read.
  const trust: typeof store.trust = async (workspaceId) => {
    const act = meanwhile
    meanwhile = undefined
    await act?.()
    return store.trust(workspaceId)
  }
  const fixture = openFixture({ store: { ...store, trust } })
  await fixture.deploy(DESK)
  const next = snapshotOf(DESK, '1.1.0')
  const bundle = { root: DESK, agents: [next], documents: [], closureDigest: digestOf(next.digest) }
  await fixture.operator('POST /publish', { body: { bundle } })
  const pair = newKeyPair()
  const value = trustValue({ ana: pair }, { require: { deployment: 'signed' } })
  const envelope = envelopeOf(writeTrust(value, readTrustDocument(value)), pair)
  await fixture.operator('POST /trust', { body: { envelope } })
  const deploy = (id: VersionId) => store.deploy(agentIdOf(WORKSPACE, DESK), id, NOW, 'ben')
  return {
    /** Another process deploys 1.1.0, with a signature that it has checked. */
    deployNext: () => deploy(versionOf(DESK, '1.1.0')),
    during: (act: () => Promise<unknown>) => (meanwhile = act),
    deployAgain: () => fixture.operator('POST /deploy', { body: { agent: DESK, version: '1.0.0' } }),
    deployed: async () => (await store.agent(agentIdOf(WORKSPACE, DESK)))?.deployedVersionId,
  }
}

test('deploying what is deployed needs no signature, and changes nothing', async () => {
  const { deployAgain, deployed } = await desk()
  await deployAgain()
  expect(await deployed()).toBe(versionOf(DESK, '1.0.0'))
})

test('what was replaced needs one', async () => {
  const { deployNext, deployAgain, deployed } = await desk()
  await deployNext()
  await expect(deployAgain()).rejects.toThrow('"code":"trust_refused"')
  expect(await deployed()).toBe(versionOf(DESK, '1.1.0'))
})

test('what is replaced after its deployment was checked is not deployed again without one', async () => {
  const { during, deployNext, deployAgain, deployed } = await desk()
  during(deployNext)
  await deployAgain()
  expect(await deployed()).toBe(versionOf(DESK, '1.1.0'))
})

test.each(['POST /publish', 'POST /deploy'] as const)(
  'what another trust document judged is refused: %s',
  async (route) => {
    const store = openSqlite(':memory:', { clock: { now: () => NOW, monotonic: () => NOW } })
    let meanwhile: (() => Promise<unknown>) | undefined
    // It is installed once everything was checked.
    const recording: typeof store.recording = (act) => {
      const writes = store.recording(act)
      const first = async (): Promise<void> => void (await meanwhile?.())
      return {
        ...writes,
        publish: async (...given) => (await first(), writes.publish(...given)),
        deploy: async (...given) => (await first(), writes.deploy(...given)),
      }
    }
    const fixture = openFixture({ store: { ...store, recording } })
    await fixture.deploy(DESK)
    const [next, later] = ['1.1.0', '1.2.0'].map((version) => {
      const agent = snapshotOf(DESK, version)
      return { bundle: { root: DESK, agents: [agent], documents: [], closureDigest: digestOf(agent.digest) } }
    })
    await fixture.operator('POST /publish', { body: next! })
    const pair = newKeyPair()
    const value = trustValue({ ana: pair }, { require: { publication: 'signed', deployment: 'signed' } })
    const trust = readTrustDocument(value)
    const installed = {
      ...aTrust(1),
      workspaceId: workspaceIdOf(WORKSPACE),
      digest: trust.digest,
      envelope: envelopeOf(writeTrust(value, trust), pair),
    }
    meanwhile = () => store.installTrust(installed, undefined)
    const body = route === 'POST /publish' ? later! : { agent: DESK, version: '1.1.0' }
    await expect(fixture.operator(route, { body })).rejects.toThrow('another trust document was installed meanwhile')
  },
)
