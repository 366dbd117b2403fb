/** Deployments that end: no run starts on one after its end, and those that began go on. Source: docs/design/trust.md#deployments */
import { expect, test } from 'vitest'
import type { ActView } from '../../src/operations/acts.ts'
import type { OperatorList } from '../../src/operations/schema.ts'
import type { DeploymentView } from '../../src/operations/versions.ts'
import { createManualClock } from '../engine/bench.ts'
import { DESK, running } from './running.ts'

const DAY = 24 * 3_600_000
const ORDER = { order: 'A-1', amount: 180 }
const iso = (at: number): string => new Date(at).toISOString()

async function openDesk() {
  const clock = createManualClock()
  const desk = await running({ clock })
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
