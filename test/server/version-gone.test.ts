/** Verbs for runs whose version is yanked, or no longer stored. Source: docs/design/steering.md#migrate */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { openServer } from '../../src/server/open.ts'
import type { RunStatusBody } from '../../src/spec/api.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { snapshotOf } from './fixtures.ts'
import { ask, caller, closing, desk, DESK, directory, options, publishDesk } from './running.ts'

const { version: _, digest: __, ...same } = desk
const MENDED = snapshotOf(DESK, '1.1.0', same)

/**
 * Runs of version 1.0.0, one that was cancelled and one that waits, beside a deployed 1.1.0.
 * @param withdraw what becomes of 1.0.0 before the server starts again
 */
async function twoRuns(withdraw: 'yank' | 'delete') {
  const data = directory()
  const first = await openServer(options(data))
  const { agentId, secret } = await publishDesk(first.operator)
  const { post, until } = caller(first.url, secret)
  const paused = async (): Promise<string> => {
    const { body } = await post<{ runId: string }>(`/v1/agents/${agentId}/runs`, {
      input: { order: 'A-1042', amount: 180 },
    })
    await until(body.runId, 'engine.session.paused')
    return body.runId
  }
  const [ended, waiting] = [await paused(), await paused()]
  await ask(first.operator, `POST /runs/${ended}/cancel`, {})
  const bundle = { root: DESK, agents: [MENDED], documents: [], closureDigest: digestOf(MENDED.digest) }
  await ask(first.operator, 'POST /publish', { bundle, deploy: true })
  if (withdraw === 'yank')
    await ask(first.operator, 'POST /yank', {
      kind: 'Agent',
      id: DESK,
      version: '1.0.0',
      yanked: true,
      reason: 'pays some orders twice',
    })
  await first.close(0)
  if (withdraw === 'delete') {
    const db = connectSqlite(join(data, 'data.db'), {})
    db.pragma('foreign_keys = off')
    db.prepare("delete from version where label = '1.0.0'").run()
    db.close()
  }
  const server = await openServer(options(data))
  closing(() => server.close(0))
  const calls = caller(server.url, secret)
  /** The answer, or the sentence of the refusal and its remedy. */
  const act = async (line: string, body: object = {}): Promise<unknown> => {
    const [method, path] = line.split(' ') as [string, string]
    const response = await server.operator.fetch(
      new Request(`http://operator.svc${path}`, {
        method,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    )
    const answer = (await response.json()) as { error?: string; code?: string; fix?: string }
    return response.ok ? answer : [answer.code, answer.error]
  }
  const statusOf = async (run: string): Promise<string> => (await calls.get<RunStatusBody>(`/v1/runs/${run}`)).status
  return { ended, waiting, act, statusOf, ...calls }
}

const wider = (version: string): readonly string[] => [
  'version_wider',
  `Version 1.1.0 may do more than ${version}, as far as is known here.`,
]
const YANKED = ['version_yanked', `${DESK}@1.0.0 is yanked (pays some orders twice), so it is not executed unasked.`]

test('what goes on keeps its yanked version, and what begins does not take it unasked', async () => {
  const { ended, waiting, act, statusOf } = await twoRuns('yank')
  expect(await act(`POST /runs/${waiting}/migrate`, { version: '1.0.0' })).toMatchObject({ changed: false })
  expect(await act('POST /runs/fork', { runs: [ended], at: 1 })).toEqual(YANKED)
  expect(await act('POST /runs/fork', { runs: [ended], at: 1, allowYanked: true })).toMatchObject({ total: 1 })
  expect(await act(`POST /runs/${ended}/resume`)).toMatchObject({ runId: ended, versionLabel: '1.0.0' })
  expect(await statusOf(waiting)).toBe('WaitingForHITL')
  // A new run of the same input is one of the deployed version.
  await act(`POST /runs/${ended}/cancel`)
  expect(await act(`POST /runs/${ended}/retry`)).toMatchObject({ retryOf: ended, versionLabel: '1.1.0' })
})

test('a run whose version is gone is not resumed or forked without another one, and the sentence says so', async () => {
  const { ended, waiting, act, statusOf, until } = await twoRuns('delete')
  const gone = ['version_gone', `Version 1.0.0, which run ${ended} executed, is gone.`]
  expect(await act(`POST /runs/${ended}/resume`)).toEqual(gone)
  expect(await act('POST /runs/fork', { runs: [ended], at: 1 })).toEqual(gone)
  expect(await act('POST /runs/dry-fork', { runs: [ended], at: 1 })).toEqual(gone)
  expect(await act(`POST /runs/${ended}/resume`, { version: '1.1.0' })).toEqual(wider('1.0.0'))
  // Nobody can prove that another one may do no more.
  expect(await act(`POST /runs/${waiting}/migrate`, { version: '1.1.0' })).toEqual([
    'version_gone',
    `Version 1.0.0, which run ${waiting} executed, is gone.`,
  ])
  expect(await statusOf(waiting)).toBe('WaitingForHITL')
  expect(await statusOf(ended)).toBe('Cancelled')
  expect(await act('POST /runs/fork', { runs: [ended], at: 1, version: '1.1.0', allowWiden: true })).toMatchObject({
    items: [{ versionLabel: '1.1.0' }],
  })
  expect(await act(`POST /runs/${ended}/resume`, { version: '1.1.0', allowWiden: true })).toMatchObject({
    versionLabel: '1.1.0',
  })
  await until(ended, 'engine.run.resumed')
  await act(`POST /runs/${ended}/cancel`)
  expect(await act(`POST /runs/${ended}/retry`)).toMatchObject({ retryOf: ended, versionLabel: '1.1.0' })
})
