/**
 * Verbs of operators that come in the same moment, in one server and in two that share a database.
 * Source: docs/design/steering.md#retry
 */
import { afterAll, describe, expect, test } from 'vitest'
import type { Conversation, RunStatusBody } from '../../src/spec/api.ts'
import type { RunView } from '../../src/operations/runs.ts'
import { openServer } from '../../src/server/open.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { seeded } from '../e2e/seeded.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { waitUntil } from '../wait-until.ts'
import { ask, closing, running } from './running.ts'
import { openPairLedger, PAYING, requestOf, takeTurns, VERB_PAIRS } from './verb-pairs.ts'

const server = startPostgres()
afterAll(() => server?.stop())

/** Each pair of requests is sent so often: which of the two is first differs. */
const ROUNDS = 6

type Ask = (line: string, body?: unknown) => Promise<unknown>

/** Two ways to the same runs, and a maker of runs that were cancelled while they waited for an approval. */
async function openDesk(store?: string, given: Parameters<typeof running>[0] = {}) {
  const house = await running({ ...given, ...(store !== undefined && { store }) })
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
  const open = async (given: Parameters<typeof running>[0] = {}) => {
    if (place === PLACES[0]) return openDesk(undefined, given)
    const url = server!.url(`races_${++databases}`)
    await migrateDatabase(url)
    return openDesk(url, given)
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

  test('of any two verbs on one run each is done or says why not, and nothing is doubled, lost or unapproved', async () => {
    const { tools, arrivals } = await openPairLedger()
    const { house, other } = await open({ snapshot: PAYING, config: { tools } })
    const random = seeded(20_261_128)
    type Task = { readonly userTaskId: string; readonly runId: string; readonly tool: string }
    const runs = async () => ((await house.operator('GET /runs?take=500')) as { items: RunView[] }).items
    const tasks = async () => ((await house.operator('GET /tasks?take=500')) as { items: Task[] }).items

    const isQuiet = async () =>
      ((await house.operator('GET /runs?status=Running&take=1')) as { items: RunView[] }).items.length === 0

    const problems: string[] = []
    const play = async (pair: (typeof VERB_PAIRS)[number], isCancelled: boolean): Promise<void> => {
      const { body } = await house.start({ order: 'A-1' })
      const { runId, sessionId } = body as { runId: string; sessionId: string }
      await house.until(runId, 'engine.user_task.created')
      if (isCancelled) await house.operator(`POST /runs/${runId}/cancel`, {})
      const calls = (await house.operator(`GET /runs/${runId}/calls`)) as { items: { toolCallId: string }[] }
      const about = { runId, sessionId, toolCallId: calls.items[0]!.toolCallId }
      const [one, two] = (random() < 0.5 ? pair : pair.toReversed()).map((verb) => requestOf(verb, about))
      const delays = [Math.floor(random() * 6), Math.floor(random() * 6)]
      const settled = await Promise.allSettled([
        takeTurns(delays[0]!).then(() => house.operator(...one!)),
        takeTurns(delays[1]!).then(() => other(...two!)),
      ])
      for (const each of settled) {
        if (each.status === 'fulfilled') continue
        const { code, error } = JSON.parse((each.reason as Error).message) as { code?: string; error?: string }
        if (code === undefined || code === 'internal' || !error)
          problems.push(`${pair.join(' and ')}: ${String(each.reason)}`)
      }
    }
    const rounds = VERB_PAIRS.flatMap((pair) => [false, true].map((isCancelled) => () => play(pair, isCancelled)))
    for (let at = 0; at < rounds.length; at += 14) await Promise.all(rounds.slice(at, at + 14).map((round) => round()))
    expect(problems).toEqual([])

    // Each first run paid once, by itself; nothing else left without a person.
    const byTool = (name: string) => [...arrivals].filter(([key]) => key.startsWith(`acme.${name} `))
    await waitUntil(isQuiet)
    expect([byTool('pay').length, byTool('refunds'), byTool('pay_back')]).toEqual([rounds.length, [], []])

    const first = byTool('pay').map(([key]) => key.split(':', 2).join(':'))
    const approved = new Set<string>()
    for (;;) {
      const pending = await tasks()
      if (pending.length === 0) break
      for (const { runId, userTaskId, tool } of pending) {
        await other(`POST /runs/${runId}/messages`, { userTaskId, approved: true })
        approved.add(`${tool} svc:${runId}`)
      }
      await waitUntil(isQuiet)
    }
    expect(approved.size).toBeGreaterThan(rounds.length)
    // An approval that another call of the same kind overtook is asked for once more.
    expect([...arrivals.keys()].map((key) => key.split(':', 2).join(':')).toSorted()).toEqual(
      [...first, ...approved].toSorted(),
    )
    expect([...arrivals].filter(([, times]) => times !== 1)).toEqual([])
    const stuck = (await runs()).filter(
      ({ status }) => !['Completed', 'Failed', 'Cancelled', 'Halted'].includes(status),
    )
    expect(stuck).toEqual([])
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
