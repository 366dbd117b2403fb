/**
 * A waiting run moves to another version, and lists tell runs by their version, through a whole server.
 * Source: docs/design/steering.md#migrate
 */
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import type { RunStatusBody } from '../../src/spec/api.ts'
import { desk, running, DESK } from './running.ts'
import { snapshotOf } from './fixtures.ts'

const { digest: _, ...own } = desk
const MENDED = snapshotOf(DESK, '1.1.0', { ...own, version: '1.1.0' })

test('the run that waits goes on by the version it was moved to, and each list finds it by that one', async () => {
  const house = await running()
  const { operator, agentId } = house
  const runs: Record<string, string>[] = []
  for (const order of ['A-1', 'A-2']) {
    const { body } = await house.start({ order, amount: 180 })
    await house.until(body['runId']!, 'engine.session.paused')
    runs.push(body)
  }
  const [moved, left] = runs.map((each) => each['runId']!)
  await operator('POST /publish', {
    bundle: { root: DESK, agents: [MENDED], documents: [], closureDigest: digestOf(MENDED.digest) },
  })
  expect(await operator(`POST /runs/${moved}/migrate`, { version: '1.1.0', reason: 'mended' })).toMatchObject({
    runId: moved,
    versionLabel: '1.1.0',
    changed: true,
  })

  const sessions = async (version: string) =>
    (
      await house.get<{ items: { id: string }[]; total: number }>(`/v1/agents/${agentId}/sessions?version=${version}`)
    ).items.map(({ id }) => id)
  const listed = async (version: string) =>
    ((await operator(`GET /runs?version=${version}`)) as { items: { runId: string }[] }).items.map(({ runId }) => runId)
  expect([await sessions('1.1.0'), await sessions('1.0.0')]).toEqual([[runs[0]!['sessionId']], [runs[1]!['sessionId']]])
  expect([await listed('1.1.0'), await listed('1.0.0'), await listed('9.9.9')]).toEqual([[moved], [left], []])

  const { pending } = await house.get<RunStatusBody>(`/v1/runs/${moved}`)
  const { status } = await house.post(`/v1/runs/${moved}/messages`, {
    runId: moved,
    userTaskId: pending![0]!.userTaskId,
    approved: true,
  })
  expect(status).toBe(202)
  await house.until(moved!, 'engine.session.completed')
  expect(await house.get(`/v1/runs/${moved}`)).toMatchObject({ status: 'Completed', versionLabel: '1.1.0' })
})
