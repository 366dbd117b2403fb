/**
 * Runs of a development server that are recorded, played, or asked of another model.
 * Source: docs/design/models-and-tools.md#record-and-replay
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { openServer, type ServerOptions } from '../../src/server/open.ts'
import type { Conversation, RunStatusBody, StartRunResponse } from '../../src/spec/api.ts'
import type { RehearsalOptions } from '../../src/operations/runs.ts'
import { ask, caller, closing, DESK, directory, options, publishDesk, taskOf } from './running.ts'

const input = { order: 'A-1042', amount: 180 }

async function open(given: Partial<ServerOptions> = {}, data = directory()) {
  const server = await openServer({ ...options(data), development: true, ...given })
  closing(() => server.close())
  const { secret } = await publishDesk(server.operator)
  const { until } = caller(server.url, secret)
  const operator = <T>(line: string, body?: unknown): Promise<T> => ask(server.operator, line, body)
  const read = (runId: string) => operator<RunStatusBody>(`GET /v1/runs/${runId}`)
  return {
    data,
    server,
    read,
    start: (rehearsal: RehearsalOptions) =>
      operator<StartRunResponse>('POST /runs', { agent: DESK, input, rehearsal }).then(({ runId }) => runId),
    /** Waits for the approval, gives it, and answers with how the run ended. */
    approve: async (runId: string): Promise<RunStatusBody> => {
      const paused = await until(runId, 'engine.session.paused')
      const userTaskId = taskOf(await operator<Conversation>(`GET /v1/runs/${runId}/conversation`))
      await operator(`POST /runs/${runId}/messages`, { userTaskId, approved: true })
      await until(runId, 'engine.session.completed', paused)
      return read(runId)
    },
    until,
  }
}

const NEVER = { config: { tools: { 'acme.*': { mock: [{ result: { never: 'asked' } }] } } } }

test('one run is recorded, and another is played from its file without a tool', async () => {
  const first = await open()
  const file = join(dirname(first.data), 'refund.ndjson')
  const recorded = await first.approve(await first.start({ record: file }))
  expect(recorded).toMatchObject({ status: 'Completed', output: { refunded: 180 } })
  const kinds = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { kind: string }).kind)
  expect(kinds).toEqual(['model', 'tool', 'model', 'tool', 'model'])

  const second = await open(NEVER)
  const played = await second.approve(await second.start({ replay: file }))
  expect(played).toMatchObject({ status: 'Completed', output: { refunded: 180 } })
})

test('a run that is played goes on from its recording after a restart, never from the real tools', async () => {
  const first = await open()
  const file = join(dirname(first.data), 'refund.ndjson')
  await first.approve(await first.start({ record: file }))
  const runId = await first.start({ replay: file })
  await first.until(runId, 'engine.session.paused')
  await first.server.close()

  const second = await open(NEVER, first.data)
  expect(await second.approve(runId)).toMatchObject({ status: 'Completed', output: { refunded: 180 } })
  await second.server.close()
  await open({}, first.data)
  expect(readdirSync(join(first.data, 'rehearsals'))).toEqual([])
})

test('another model is asked for one run, and the next has its own again', async () => {
  const { start, until, read, approve } = await open()
  const other = await start({ model: 'auto/any' })
  await until(other, 'engine.session.paused')
  expect(await read(other)).toMatchObject({ status: 'WaitingForHITL' })
  expect(await approve(await start({}))).toMatchObject({ status: 'Completed', output: { refunded: 180 } })
})

test.each([
  [{ model: 'gpt' }, 'validation_failed'],
  [{ model: 'auto/any', replay: '/no/such/recording' }, 'not_found'],
  [{ model: 'somebody/else' }, 'provider_not_configured'],
])('%j starts nothing', async (rehearsal, code) => {
  const { start, data } = await open()
  await expect(start(rehearsal)).rejects.toThrow(`"code":"${code}"`)
  expect(existsSync(join(data, 'rehearsals')) ? readdirSync(join(data, 'rehearsals')) : []).toEqual([])
})

test('a recording replaces an earlier one, and no other file', async () => {
  const { start, data, until } = await open()
  const file = join(dirname(data), 'bundle.yaml')
  writeFileSync(file, 'kind: Bundle\n')
  await expect(start({ record: file })).rejects.toThrow('Line 1 of the recording is not a recorded exchange.')
  expect(readFileSync(file, 'utf8')).toBe('kind: Bundle\n')
  const tape = join(dirname(data), 'refund.ndjson')
  for (let round = 0; round < 2; round++) await until(await start({ record: tape }), 'engine.session.paused')
  expect(readFileSync(tape, 'utf8').trim().split('\n')).toHaveLength(3)
})

test('a server for shared use rehearses nothing', async () => {
  const { start } = await open({ development: false })
  await expect(start({ model: 'auto/any' })).rejects.toThrow('Only svc dev')
})
