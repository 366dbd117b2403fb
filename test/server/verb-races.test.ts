/**
 * Verbs of operators that come in the same moment, in one server and in two that share a database.
 * Source: docs/design/steering.md#retry
 */
import { afterAll, describe, expect, test } from 'vitest'
import type { Conversation, RunStatusBody } from '../../src/spec/api.ts'
import type { RunView } from '../../src/spec/operator/runs.ts'
import { openServer } from '../../src/server/open.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { ask, closing, running } from './running.ts'

const server = startPostgres()
afterAll(() => server?.stop())

/** Each pair of requests is sent so often: which of the two is first differs. */
const ROUNDS = 6

type Ask = (line: string, body?: unknown) => Promise<unknown>

/** Two ways to the same runs, and a maker of runs that were cancelled while they waited for an approval. */
async function openDesk(store?: string) {
  const house = await running(store === undefined ? {} : { store })
  let other: Ask = house.operator
  if (store !== undefined) {
    const second = await openServer(house.opened)
    closing(() => second.close())
    other = (line, body) => ask(second.operator, line, body)
  }
  const cancelledRun = async (): Promise<string> => {
    const { body } = await house.start({ order: 'A-1', amount: 180 })
    const run = body['runId']!
    await house.until(run, 'engine.session.paused')
    await house.operator(`POST /runs/${run}/cancel`, {})
    return run
  }
  /** Both at once: the answers, and the codes of those that were refused. */
  const both = async (one: readonly [string, unknown], two: readonly [string, unknown]) => {
    const settled = await Promise.allSettled([house.operator(...one), other(...two)])
    return settled.map((each) =>
      each.status === 'fulfilled' ? each.value : (JSON.parse((each.reason as Error).message) as { code: string }).code,
    )
  }
  const repeats = async (run: string): Promise<readonly RunView[]> => {
    const { items } = (await house.operator('GET /runs?take=200')) as { items: RunView[] }
    return items.filter(({ retryOf, forkOf }) => [retryOf, forkOf].includes(run))
  }
  return { house, other, cancelledRun, both, repeats }
}

/** A server of its own in memory, or two servers that share a database. */
const PLACES = ['one server on SQLite', ...(server ? ['two servers on PostgreSQL'] : [])]

describe.each(PLACES)('%s', (place) => {
  let databases = 0
  const open = async () => {
    if (place === PLACES[0]) return openDesk()
    const url = server!.url(`races_${++databases}`)
    await migrateDatabase(url)
    return openDesk(url)
  }

  test('what one server pauses the other holds, and goes on with once the pause is over', async () => {
    const { house, other } = await open()
    const pause = { kind: 'tool', name: 'acme.orders.lookup' } as const
    await other('POST /pauses', { ...pause, paused: true })
    const run = (await house.start({ order: 'A-1', amount: 180 })).body['runId']!
    await house.until(run, 'engine.run.paused')
    expect((await house.get<RunStatusBody>(`/v1/runs/${run}`)).hold).toMatchObject({ reason: 'paused' })
    await other('POST /pauses', { ...pause, paused: false })
    await house.until(run, 'engine.user_task.created')
    expect((await house.get<RunStatusBody>(`/v1/runs/${run}`)).status).toBe('WaitingForHITL')
  })

  test('of a resumption and a retry one is done, and the other is told why it is not', async () => {
    const { cancelledRun, both, repeats } = await open()
    for (let round = 0; round < ROUNDS; round++) {
      const run = await cancelledRun()
      const resume = [`POST /runs/${run}/resume`, {}] as const
      const retry = [`POST /runs/${run}/retry`, {}] as const
      const answers = await (round % 2 === 0 ? both(resume, retry) : both(retry, resume))
      const refused = answers.filter((each) => typeof each === 'string')
      const made = await repeats(run)
      expect([refused, made.length]).toEqual(made.length > 0 ? [['run_not_resumable'], 1] : [['run_not_ended'], 0])
    }
  })

  test('of two resumptions one is done', async () => {
    const { house, cancelledRun, both } = await open()
    const run = await cancelledRun()
    const resume = [`POST /runs/${run}/resume`, {}] as const
    const answers = await both(resume, resume)
    expect(answers.filter((each) => typeof each === 'string')).toEqual(['run_not_ended'])
    const { items } = await house.get<Conversation>(`/v1/runs/${run}/conversation`)
    expect(items.filter(({ type }) => type === 'RunResumed')).toHaveLength(1)
  })

  test('a cancellation beside a resumption comes before it and changes nothing, or after it and ends the run', async () => {
    const { house, cancelledRun, both } = await open()
    for (let round = 0; round < ROUNDS; round++) {
      const run = await cancelledRun()
      const cancel = [`POST /runs/${run}/cancel`, {}] as const
      const resume = [`POST /runs/${run}/resume`, {}] as const
      const answers = await (round % 2 === 0 ? both(resume, cancel) : both(cancel, resume))
      expect(answers.filter((each) => typeof each === 'string')).toEqual([])
      const { items } = await house.get<Conversation>(`/v1/runs/${run}/conversation`)
      const acts = items.flatMap(({ type }) => (type === 'RunResumed' || type === 'RunCompleted' ? [type] : []))
      const { status } = await house.get<RunStatusBody>(`/v1/runs/${run}`)
      expect(acts).toEqual(['RunCompleted', 'RunResumed', ...(status === 'Cancelled' ? ['RunCompleted'] : [])])
    }
  })

  test('of two retries one is done', async () => {
    const { cancelledRun, both, repeats } = await open()
    const run = await cancelledRun()
    const retry = [`POST /runs/${run}/retry`, {}] as const
    const answers = await both(retry, retry)
    expect(answers.filter((each) => typeof each === 'string')).toEqual(['run_not_repeatable'])
    expect(await repeats(run)).toHaveLength(1)
  })

  test('of two forks with one idempotency key one is made, and both answers name it', async () => {
    const { cancelledRun, both, repeats } = await open()
    const run = await cancelledRun()
    const body = { runs: [run], at: 1, idempotencyKey: 'once' }
    const fork = ['POST /runs/fork', body] as const
    const answers = (await both(fork, fork)) as { items: RunView[] }[]
    expect(new Set(answers.map(({ items }) => items[0]!.runId))).toEqual(
      new Set((await repeats(run)).map(({ runId }) => runId)),
    )
    expect(await repeats(run)).toHaveLength(1)
    const [again, another] = await both(fork, ['POST /runs/fork', { ...body, at: 2 }])
    expect([(again as { items: RunView[] }).items[0]!.runId, another]).toEqual([
      answers[0]!.items[0]!.runId,
      'idempotency_key_reused',
    ])
  })
})
