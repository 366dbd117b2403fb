/**
 * What a request reads does not grow with the session: a conversation goes on for thousands of runs. With `ROWS_READ=10,1000,10000` the
 * test prints the figures for these lengths.
 */
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { SessionId } from '../../src/base/ids.ts'
import { openServer } from '../../src/server/open.ts'
import type { StartRunResponse } from '../../src/spec/api.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { bucketUrl } from '../bucket.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { countPostgresRows, countSqliteRows, lengthenSession, rowsOf } from './rows-read.ts'
import { ask, caller, closing, directory, options, publishDesk, taskOf } from './running.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())
countPostgresRows()
vi.mock('../../src/store/sqlite/database/connect.ts', async (load) => {
  const { connectSqlite, ...others } = await load<typeof import('../../src/store/sqlite/database/connect.ts')>()
  return {
    ...others,
    connectSqlite: (...given: Parameters<typeof connectSqlite>) => countSqliteRows(connectSqlite(...given)),
  }
})

const LENGTHS = (process.env['ROWS_READ'] ?? '250,1000').split(',').map(Number)
const MARGIN = 200
/** Milliseconds of each request, for the figures. */
const took = new WeakMap<object, Record<string, number>>()
/** It lists the runs beside its items. */
const WITH_RUNS = 'GET conversation, with up to 4,000 runs'
let databases = 0

/** Rows that each request reads of a session with so many earlier runs. */
async function measure(kind: 'sqlite' | 'postgres', length: number): Promise<Record<string, number>> {
  const dataDirectory = directory()
  const url = kind === 'postgres' ? postgres!.url(`rows_${++databases}`) : undefined
  if (url !== undefined) await migrateDatabase(url)
  const base = options(url === undefined ? dataDirectory : undefined)
  const opened =
    url === undefined ? base : { ...base, store: url, config: { ...base.config, storage: { url: await bucketUrl() } } }
  const first = await openServer(opened)
  const { agentId, secret } = await publishDesk(first.operator)
  const earlier = caller(first.url, secret)
  const start = async (calls: typeof earlier, more: object = {}) => {
    const { body } = await calls.post<StartRunResponse>(`/v1/agents/${agentId}/runs`, {
      // So long that the model is not given all earlier messages of the shortest session.
      input: { order: 'A-1 '.repeat(2000), amount: 180 },
      ...more,
    })
    return body
  }
  const approve = async (calls: typeof earlier, runId: string, task: string) => {
    await calls.post(`/v1/runs/${runId}/messages`, { runId, userTaskId: task, approved: true })
    await calls.until(runId, 'engine.session.completed')
  }
  const { runId, sessionId } = await start(earlier)
  await earlier.until(runId, 'engine.user_task.created')
  await approve(earlier, runId, taskOf(await earlier.get(`/v1/runs/${runId}/conversation`)))
  await first.close()
  const store =
    url === undefined ? openSqlite(join(dataDirectory, 'data.db'), { clock: systemClock }) : await openPostgres({ url })
  await lengthenSession(store, sessionId as SessionId, length)
  await store.close()

  const server = await openServer(opened)
  closing(() => server.close())
  const calls = caller(server.url, secret)
  const operator = (line: string) => ask<unknown>(server.operator, line)
  const more = { sessionId }
  // The newest run of a session is read whole, and the one that was lengthened is not the last of its rows.
  const second = await start(calls, more)
  await calls.until(second.runId, 'engine.user_task.created')
  await approve(calls, second.runId, await waitingTask(calls))
  const found: Record<string, number> = {}
  const read = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const begun = performance.now()
    found[name] = await rowsOf(work)
    took.set(found, { ...took.get(found), [name]: Math.round(performance.now() - begun) })
  }
  let third = second
  let task = ''
  await read('POST start, to its task', async () => {
    third = await start(calls, more)
    await calls.until(third.runId, 'engine.user_task.created')
  })
  const run = third.runId
  await read('GET tasks', async () => (task = await waitingTask(calls)))
  await read('GET run that waits', () => calls.get(`/v1/runs/${run}`))
  await read('POST message, to the end', () => approve(calls, run, task))
  await read('GET run', () => calls.get(`/v1/runs/${run}`))
  await read('GET stream', () => calls.events(run))
  await read('GET stream that begins anew', () => calls.events(run, 0))
  await read('GET stream of the first run', () => calls.events(runId))
  const { events } = await calls.events(run)
  await read('GET stream after its end', () => calls.events(run, events.at(-1)!.id))
  await read('POST message to an ended run', () => calls.post(`/v1/runs/${runId}/messages`, { runId, text: 'hello' }))
  await read('POST cancel of an ended run', () => calls.post(`/v1/runs/${runId}/cancel`, {}))
  await read('GET task', () => calls.get(`/v1/tasks/${task}`))
  await read('GET session', () => calls.get(`/v1/sessions/${sessionId}`))
  await read('GET sessions', () => calls.get(`/v1/agents/${agentId}/sessions`))
  await read('operator: session', () => operator(`GET /sessions/${sessionId}`))
  await read('operator: outline', () => operator(`GET /runs/${run}/outline?take=100`))
  await read('operator: outline of the first run', () => operator(`GET /runs/${runId}/outline?take=100`))
  await read('operator: decisions', () => operator(`GET /decisions?run=${run}&take=50&values=ref`))
  await read('operator: calls', () => operator(`GET /runs/${run}/calls`))
  await read('operator: tasks', () => operator(`GET /tasks`))
  await read(WITH_RUNS, () => calls.get(`/v1/runs/${run}/conversation?take=20`))
  return found
}

function print(kind: string, found: readonly Record<string, number>[]): void {
  const lines = Object.keys(found[0]!).map(
    (name) => `${name.padEnd(42)} ${found.map((each) => `${each[name]} (${took.get(each)![name]} ms)`).join('  ')}`,
  )
  process.stdout.write([`Rows on ${kind} at ${LENGTHS.join(', ')} runs`, ...lines, ''].join('\n'))
}

async function waitingTask(calls: ReturnType<typeof caller>): Promise<string> {
  const { items } = await calls.get<{ items: { user_task_id: string }[] }>('/v1/tasks?status=pending')
  return items[0]!.user_task_id
}

test.skipIf(!postgres).each(['sqlite', 'postgres'] as const)(
  'on %s no request reads more of a longer session',
  async (kind) => {
    const found: Record<string, number>[] = []
    for (const length of LENGTHS) found.push(await measure(kind, length))
    if (process.env['ROWS_READ'] !== undefined) print(kind, found)
    const [shortest, longest] = [found[0]!, found.at(-1)!]
    // The server reads a few rows in the background meanwhile.
    const growing = Object.entries(longest).filter(
      ([name, rows]) => name !== WITH_RUNS && rows > shortest[name]! + MARGIN,
    )
    expect(growing).toEqual([])
  },
  240_000,
)
