/** A run copied as a scenario, and the scenario run as a test. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRefundServer, type RefundServer } from '../../scripts/screens/refund-server.ts'
import { svc } from './recording-io.ts'

let desk: RefundServer

beforeAll(async () => {
  desk = await openRefundServer()
})
afterAll(() => desk.close())

/** Answers the task of a run, and waits for what follows. */
async function decide(run: string, body: object): Promise<void> {
  const { items } = await desk.operator.call('GET /tasks', { query: {} })
  const { userTaskId, sessionId } = items.find(({ runId }) => runId === run)!
  await desk.operator.call('POST /runs/:id/messages', { id: run, body: { userTaskId, ...body } })
  await desk.server.engine.waitForPause({ id: run, sessionId } as never, AbortSignal.timeout(50_000))
}

test.each([
  ['approved', { approved: true }, 'approve":true'],
  ['rejected with a reason', { approved: false, metadata: { 'svc/comment': 'Twice.' } }, 'reject":"Twice."'],
])(
  'a run that was %s passes as its own scenario',
  async (name, body, rule) => {
    const run = await desk.start({ order: 'A-1042', amount: 180 })
    await decide(run, body)
    const { stdout } = await svc(['runs', 'scenario', run, '--name', name], { cwd: desk.directory })
    expect(stdout).toContain(rule)
    const path = join(desk.directory, 'scenarios', `copied-${name.length}.scenario.yaml`)
    mkdirSync(join(desk.directory, 'scenarios'), { recursive: true })
    writeFileSync(path, stdout)
    const tested = await svc(['test', path, '--json'], { cwd: desk.directory })
    expect(JSON.parse(tested.stdout)).toMatchObject({ ok: true, passed: 1, failed: 0 })
    // It does check: another end is not this run's.
    writeFileSync(path, stdout.replace('status: Completed', 'status: Failed'))
    expect((await svc(['test', path], { cwd: desk.directory })).code).toBe(1)
  },
  120_000,
)
