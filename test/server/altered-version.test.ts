/** An altered version does not run, and holds up nothing else: it is listed, paused and replaced. Source: docs/design/trust.md#what-runs */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { versionIdOf } from '../../src/base/ids.ts'
import { openServer } from '../../src/server/open.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { snapshotOf } from './fixtures.ts'
import { ask, caller, closing, DESK, desk, directory, options, publishDesk, taskOf } from './running.ts'

const { digest: _, id: __, version: ___, ...content } = desk
const versionOf = (version: string): AgentSnapshot => snapshotOf(DESK, version, content)
const OTHER = 'acme.other'
const ORDER = { order: 'A-1', amount: 180 }

/** Says something else, or nothing that can be read as a snapshot. */
const CHANGES = [`replace(snapshot, '"irreversible_action"', '"read_only"')`, `'{}'`]

const publish = (operator: Parameters<typeof ask>[0], root: AgentSnapshot, deploy: boolean) =>
  ask(operator, 'POST /publish', {
    bundle: { root: root.id, agents: [root], documents: [], closureDigest: digestOf(root.digest) },
    deploy,
  })

/** A server whose deployed version of the desk was changed while it was down; a run of it waits for a person. */
async function openAltered(change: string) {
  const data = directory()
  const first = await openServer(options(data))
  const { secret, agentId } = await publishDesk(first.operator)
  await publish(first.operator, snapshotOf(OTHER, '1.0.0', content), true)
  await publish(first.operator, versionOf('1.1.0'), false)
  const before = caller(first.url, secret)
  const { body } = await before.post<{ runId: string }>(`/v1/agents/${agentId}/runs`, { input: ORDER })
  await before.until(body.runId, 'engine.session.paused')
  const task = taskOf(await before.get(`/v1/runs/${body.runId}/conversation`))
  await first.close(0)

  const db = connectSqlite(join(data, 'data.db'), {})
  for (const name of db.prepare<[], string>(`select name from sqlite_schema where type = 'trigger'`).pluck().all())
    db.exec(`drop trigger ${name}`)
  const id = versionIdOf('acme', DESK, desk.digest)
  const snapshot = db.prepare<[string], string>('select snapshot from version where id = ?').pluck().get(id)!
  db.prepare(`update version set snapshot = ${change} where id = ?`).run(id)
  db.close()

  const server = await openServer(options(data))
  closing(() => server.close(0))
  const calls = caller(server.url, secret)
  const operator = (line: string, given?: object) => ask<Record<string, unknown>>(server.operator, line, given)
  const start = () => calls.post<Record<string, string>>(`/v1/agents/${agentId}/runs`, { input: ORDER })
  return { ...calls, operator, start, server, data, snapshot, runId: body.runId, task, secret }
}

test.each(CHANGES)('with %s no run starts, all is listed, and another version takes its place', async (change) => {
  const { operator, start } = await openAltered(change)
  expect(await start()).toMatchObject({ status: 500, body: { code: 'version_altered' } })
  expect(await operator('GET /agents')).toMatchObject({ total: 2 })
  expect(await operator('GET /runs')).toMatchObject({ total: 1 })
  expect(await operator('GET /secrets')).toBeDefined()
  expect(await operator('POST /pauses', { kind: 'agent', name: DESK, paused: true })).toMatchObject({ changed: true })
  expect(await operator('POST /pauses', { kind: 'agent', name: DESK, paused: false })).toMatchObject({ changed: true })
  expect(await operator('POST /deploy', { agent: DESK, version: '1.1.0' })).toMatchObject({ to: '1.1.0' })
  expect(await start()).toMatchObject({ status: 202 })
})

test('nobody deploys it again, by its label, as the newest or by going back', async () => {
  const { operator } = await openAltered(CHANGES[0]!)
  await operator('POST /deploy', { agent: DESK, version: '1.1.0' })
  await expect(operator('POST /deploy', { agent: DESK, version: '1.0.0' })).rejects.toThrow('version_altered')
  await expect(operator('POST /deploy', { agent: DESK, rollback: true })).rejects.toThrow('not_found')
})

test('a run that waits on it is not lost: an answer is refused, and counts once the version is as it was', async () => {
  const { post, get, server, data, snapshot, runId, task, secret } = await openAltered(CHANGES[0]!)
  const answer = { runId, userTaskId: task, approved: true }
  expect(await post(`/v1/runs/${runId}/messages`, answer)).toMatchObject({ body: { code: 'version_altered' } })
  expect(await get(`/v1/runs/${runId}`)).toMatchObject({ status: 'WaitingForHITL' })
  await server.close(0)
  const db = connectSqlite(join(data, 'data.db'), {})
  db.prepare('update version set snapshot = ? where id = ?').run(snapshot, versionIdOf('acme', DESK, desk.digest))
  db.close()
  const mended = await openServer(options(data))
  closing(() => mended.close(0))
  const calls = caller(mended.url, secret)
  expect(await calls.post(`/v1/runs/${runId}/messages`, answer)).toMatchObject({ status: 202 })
  await calls.until(runId, 'engine.session.completed')
})
