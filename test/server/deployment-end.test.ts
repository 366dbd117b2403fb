/** Deployments that end: no run starts on one after its end, and those that began go on. Source: docs/design/trust.md#deployments */
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { versionIdOf } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { ActView } from '../../src/operations/acts.ts'
import type { OperatorList } from '../../src/operations/schema.ts'
import type { DeploymentView } from '../../src/operations/versions.ts'
import { createManualClock } from '../engine/bench.ts'
import { snapshotOf } from './fixtures.ts'
import { DESK, running, scripted } from './running.ts'

const DAY = 24 * 3_600_000
const ORDER = { order: 'A-1', amount: 180 }
const iso = (at: number): string => new Date(at).toISOString()

async function openDesk(given: Parameters<typeof running>[0] = {}) {
  const clock = createManualClock()
  const desk = await running({ clock, ...given })
  const deploy = (body: object) => desk.operator('POST /deploy', { agent: DESK, version: '1.0.0', ...body })
  return { ...desk, clock, deploy, end: clock.now() + 30 * DAY }
}

test('at its end no run starts, the error says what to do, and those that began go on', async () => {
  const { clock, deploy, start, until, end } = await openDesk()
  expect(await deploy({ expiresAt: iso(end) })).toMatchObject({ from: '1.0.0', to: '1.0.0', expiresAt: iso(end) })
  clock.set(end - 1)
  const begun = await start(ORDER)
  expect(begun.status).toBe(202)
  clock.set(end)
  const refused = await start(ORDER)
  expect([refused.status, refused.body['code'], refused.body['error']]).toEqual([
    409,
    'deployment_expired',
    `The deployment of ${DESK}@1.0.0 ended at ${iso(end)}: no run starts on it any more.`,
  ])
  await until(begun.body['runId']!, 'engine.session.paused')
  expect(await deploy({ expiresAt: iso(end + DAY) })).toMatchObject({ expiresAt: iso(end + DAY) })
  expect((await start(ORDER)).status).toBe(202)
})

/** A session of a version that has an end, which is replaced by one that has none. */
async function openReplaced() {
  const { digest: _, id: __, version: ___, ...content } = scripted([{ say: 'Done.' }])
  const desk = await openDesk({ snapshot: scripted([{ say: 'Done.' }]), trigger: { allowOlderVersions: true } })
  const { start, deploy, until, end, operator, agentId, clock } = desk
  await deploy({ expiresAt: iso(end) })
  const { body: begun } = await start()
  await until(begun['runId']!, 'engine.session.completed')
  const next = snapshotOf(DESK, '2.0.0', { ...content, purpose: 'Later.' })
  const bundle = { root: DESK, agents: [next], documents: [], closureDigest: digestOf(next.digest) }
  await operator('POST /publish', { bundle, deploy: true })
  clock.set(end)
  const named = {
    sessionId: begun['sessionId'],
    versionId: versionIdOf('acme', DESK, scripted([{ say: 'Done.' }]).digest),
  }
  const byOperator = () => operator(`POST /v1/agents/${agentId}/runs`, { ...named, input: {} })
  /** Once its run has ended, so that the session may go on. */
  const goOn = async (more: object) => {
    const { status, body } = await start({}, more)
    if (status === 202) await until(body['runId']!, 'engine.session.completed')
    return [status, body['code']]
  }
  return { ...desk, named, byOperator, goOn }
}

test('no key goes on with a version whose time is over, though another one took its place', async () => {
  const { goOn, named, byOperator, deploy, until } = await openReplaced()
  expect(await goOn(named)).toEqual([409, 'deployment_expired'])
  expect(await goOn({ sessionId: named.sessionId })).toEqual([202, undefined])
  await until(String((await byOperator())['runId']), 'engine.session.completed')
  await deploy({})
  await deploy({ version: '2.0.0' })
  expect(await goOn(named)).toEqual([202, undefined])
})

test('a start that is repeated after the end gets its first answer', async () => {
  const { server, secret, agentId, deploy, end, clock } = await openDesk()
  await deploy({ expiresAt: iso(end) })
  const headers = { 'x-api-key': secret, 'content-type': 'application/json' }
  const begin = async (key: string) => {
    const body = JSON.stringify({ input: ORDER })
    const given = { method: 'POST', headers: { ...headers, 'idempotency-key': key }, body }
    const response = await fetch(`${server.url}/v1/agents/${agentId}/runs`, given)
    return [response.status, (await response.json()) as JsonObject] as const
  }
  clock.set(end - 1)
  const first = await begin('one')
  clock.set(end)
  expect(await begin('one')).toEqual([first[0], { ...first[1], duplicateDelivery: true }])
  expect(await begin('two')).toMatchObject([409, { code: 'deployment_expired' }])
})

test('each end is a deployment and an act, and only one that is asked for changes it', async () => {
  const { deploy, operator, end } = await openDesk()
  await deploy({ expiresAt: iso(end) })
  await deploy({})
  await deploy({ expiresAt: iso(end) })
  await deploy({ expiresAt: null })
  const { items } = (await operator(`GET /deployments?agent=${DESK}`)) as unknown as OperatorList<DeploymentView>
  expect(items.map(({ versionLabel, from, expiresAt }) => [versionLabel, from, expiresAt])).toEqual([
    ['1.0.0', '1.0.0', null],
    ['1.0.0', '1.0.0', iso(end)],
    ['1.0.0', null, null],
  ])
  const acts = (await operator('GET /acts?kind=version.deployed')) as unknown as OperatorList<ActView>
  expect(acts.items.map(({ before, after }) => [before, after])).toEqual([
    [{ version: '1.0.0', expiresAt: iso(end) }, { version: '1.0.0' }],
    [{ version: '1.0.0' }, { version: '1.0.0', expiresAt: iso(end) }],
    [null, { version: '1.0.0' }],
  ])
})

test.each(['yesterday', '2001-01-01', ''])('"%s" is no end of a deployment', async (expiresAt) => {
  const { deploy } = await openDesk()
  await expect(deploy({ expiresAt })).rejects.toThrow('must be a time to come')
})
