import { afterEach, expect, test, vi } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import type { Log } from '../../src/base/log.ts'
import { createJobRunner } from '../../src/queue/jobs.ts'
import { describeRefusedTick, scheduleJob, type RefusedTick } from '../../src/server/runtime/schedule.ts'
import { nextTick } from '../../src/server/runtime/ticks.ts'
import { NOW, openFixture } from './fixtures.ts'

const DESK = 'acme.daily-report'

afterEach(() => {
  vi.useRealTimers()
})

/** Writes of the store take turns of the event loop, and no time. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function scheduled(cron: string, timeZone?: string, at = NOW) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const fixture = openFixture()
  fixture.clock.wind(at - NOW)
  await fixture.deploy(DESK)
  const { triggerId } = await fixture.operator('POST /triggers', {
    body: { agent: DESK, type: 'schedule', cron, ...(timeZone && { timeZone }) },
  })
  const { store, engine, workspace, config, clock } = fixture.services
  const told: object[] = []
  const log: Log = { write: (level, message, about) => void (level === 'warn' && told.push({ message, ...about })) }
  const open = () => {
    const jobs = createJobRunner([scheduleJob({ store, engine, workspaceId: workspace.id, config, clock, log })], {
      clock,
      isOurTurn: () => true,
      failed: (job, error) => log.write('error', `${job.name} failed`, { detail: String(error) }),
    })
    return { refresh: () => jobs.wake('schedule'), stop: () => jobs.close() }
  }
  let schedule = open()
  fixture.services.serverState.onTriggersChanged = () => schedule.refresh()
  const wind = async (ms: number) => {
    // The clock first: a timer that fires asks it what is due.
    fixture.clock.wind(ms)
    await vi.advanceTimersByTimeAsync(ms)
    await turns()
  }
  await turns()
  return {
    ...fixture,
    schedule,
    triggerId,
    wind,
    told,
    starts: () => fixture.asked.starts.length,
    /** No server runs for so long. */
    away: async (ms: number) => {
      await schedule.stop()
      fixture.clock.wind(ms)
      schedule = open()
      await turns()
    },
    /** The machine sleeps for so long: its clock goes on, its timers do not. */
    sleep: async (ms: number) => {
      fixture.clock.wind(ms)
      await vi.advanceTimersByTimeAsync(600_000)
      await turns()
    },
  }
}

test('starts a run with an empty input at each tick', async () => {
  const { wind, starts, asked, triggerId, schedule } = await scheduled('*/10 * * * *')
  await wind(599_999)
  expect(starts()).toBe(0)
  await wind(1)
  expect(starts()).toBe(1)
  await wind(600_000)
  expect(starts()).toBe(2)
  expect(asked.starts[0]).toMatchObject({
    triggerType: 'scheduled',
    triggerId,
    triggerName: 'schedule',
    input: {},
    principal: { type: 'schedule', id: triggerId, triggerName: 'schedule' },
  })
  await schedule.stop()
})

test('reads the time of day in the trigger’s time zone', async () => {
  // 10:00 UTC is 11:00 in Berlin, so noon there is an hour away.
  const { wind, starts, schedule } = await scheduled('0 12 * * *', 'Europe/Berlin')
  await wind(3_599_999)
  expect(starts()).toBe(0)
  await wind(1)
  expect(starts()).toBe(1)
  await schedule.stop()
})

test('a tick in the hour that a clock change leaves out comes when that hour would be over, once', async () => {
  // Berlin, 28 March 2027: after 01:59 comes 03:00, which is 01:00 UTC.
  const { wind, starts, schedule } = await scheduled('30 2 * * *', 'Europe/Berlin', Date.UTC(2027, 2, 28, 0, 59))
  await wind(59_999)
  expect(starts()).toBe(0)
  await wind(1)
  expect(starts()).toBe(1)
  await wind(3_600_000)
  expect(starts()).toBe(1)
  await schedule.stop()
})

test('a trigger that was inactive makes up for nothing', async () => {
  const { wind, starts, operator, triggerId, schedule } = await scheduled('*/10 * * * *')
  await operator('PATCH /triggers/:id', { id: triggerId, body: { active: false } })
  await wind(3_600_000)
  await operator('PATCH /triggers/:id', { id: triggerId, body: { active: true } })
  await wind(0)
  expect(starts()).toBe(0)
  await wind(600_000)
  expect(starts()).toBe(1)
  await schedule.stop()
})

test('a start that is refused is logged and the next tick comes', async () => {
  const { wind, starts, doors, schedule } = await scheduled('*/10 * * * *')
  doors.start = () => Promise.reject(new Error('no'))
  await wind(600_000)
  await wind(600_000)
  expect(starts()).toBe(2)
  await schedule.stop()
})

test.each([
  ['the database is away', fail('store_unreachable', { database: 'db', why: 'gone' })],
  ['the server ends', fail('shutting_down')],
])('while %s a tick stays due, and nothing is told of it', async (_, failure) => {
  const { wind, starts, doors, asked, told, schedule } = await scheduled('*/10 * * * * *')
  doors.start = () => Promise.reject(failure)
  await wind(10_000)
  // It is tried again each second, meanwhile with the next tick.
  for (let second = 0; second < 12; second++) await wind(1000)
  delete doors.start
  const before = starts()
  await wind(1000)
  const ticks = asked.starts.slice(before).map(({ idempotency }) => idempotency!.key.split(' ')[2])
  expect(ticks).toEqual([NOW + 10_000, NOW + 20_000].map(String))
  expect(told).toEqual([])
  await schedule.stop()
})

test('the log says why a start was refused, and not where in the program', async () => {
  const { wind, told, doors, triggerId, schedule } = await scheduled('*/10 * * * *')
  doors.start = () => Promise.reject(fail('plan_limit_exceeded', { limit: 'runs_per_day', value: 6 }))
  await wind(600_000)
  expect(told).toEqual([
    {
      message: 'scheduled start refused',
      at: expect.any(String),
      triggerId,
      trigger: 'schedule',
      code: 'plan_limit_exceeded',
      detail: "The workspace's plan allows 6 (runs_per_day).",
    },
  ])
  expect(describeRefusedTick(told[0] as RefusedTick)).toBe(
    "schedule schedule started nothing at 2026-11-20T10:10:00.000Z: The workspace's plan allows 6 (runs_per_day).",
  )
  await schedule.stop()
})

test('ticks that were missed while no server ran are told once, and not made up for', async () => {
  const { wind, away, starts, told, triggerId } = await scheduled('*/10 * * * *')
  await wind(600_000)
  await away(35 * 60_000)
  expect(starts()).toBe(1)
  const missed = {
    message: 'scheduled ticks missed',
    triggerId,
    trigger: 'schedule',
    missed: 3,
    first: '2026-11-20T10:20:00.000Z',
    last: '2026-11-20T10:40:00.000Z',
  }
  expect(told).toEqual([missed])
  await away(0)
  expect(told).toEqual([missed])
  await wind(300_000)
  expect(starts()).toBe(2)
})

test('a tick of a moment ago is missed all the same by a server that comes after it', async () => {
  const { wind, away, starts, told } = await scheduled('*/10 * * * *')
  await wind(600_000)
  await away(600_000 + 1000)
  expect(starts()).toBe(1)
  expect(told).toMatchObject([{ missed: 1, first: '2026-11-20T10:20:00.000Z', last: '2026-11-20T10:20:00.000Z' }])
})

test('a store that keeps nothing does not stop a schedule', async () => {
  const { wind, starts, services } = await scheduled('*/10 * * * *')
  vi.spyOn(services.store, 'markTicks').mockRejectedValue(new Error('full'))
  await wind(600_000)
  await wind(600_000)
  expect(starts()).toBe(2)
})

test('ticks that a machine slept through do not pile up when it wakes', async () => {
  const { wind, sleep, starts, told } = await scheduled('*/10 * * * *')
  await sleep(3 * 3600_000 + 120_000)
  expect(starts()).toBe(0)
  expect(told).toMatchObject([{ message: 'scheduled ticks missed', missed: 18 }])
  await wind(480_000)
  expect(starts()).toBe(1)
})

test.each([
  // 02:30 does not exist on that day, and exists twice on the other.
  ['spring', '30 2 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']],
  ['autumn', '30 2 * * *', '2026-10-24T12:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
  [
    'autumn, each hour',
    '0 * * * *',
    '2026-10-24T23:30Z',
    ['2026-10-25T00:00:00.000Z', '2026-10-25T01:00:00.000Z', '2026-10-25T02:00:00.000Z'],
  ],
])('a day on which the clocks change has each tick once: %s', (_, cron, since, ticks) => {
  const trigger = { cron, timeZone: 'Europe/Berlin' }
  let at = Date.parse(since)
  expect(ticks.map(() => new Date((at = nextTick(trigger, at))).toISOString())).toEqual(ticks)
})

test('a trigger from a backup starts nothing until it is released, and makes up for nothing then', async () => {
  const { wind, away, starts, told, triggerId, schedule, services } = await scheduled('*/10 * * * *')
  const { store } = services
  const held = { sessions: [], triggers: [triggerId as never] }
  const restored = vi.spyOn(store, 'restored').mockResolvedValue(held)
  await away(0)
  await wind(3_600_000)
  expect(starts()).toBe(0)
  restored.mockRestore()
  services.serverState.onTriggersChanged!()
  await turns()
  expect([starts(), told]).toEqual([0, []])
  await wind(600_000)
  expect(starts()).toBe(1)
  await schedule.stop()
})

test.each([
  {
    what: 'a tick between the creation of a trigger and the first pass of a server that shares its database',
    afterMs: 70_000,
    starts: 1,
  },
  { what: 'no tick of a trigger that is older, such as one that was inactive', afterMs: 130_000, starts: 0 },
])('starts the run of $what', async ({ afterMs, starts }) => {
  const fixture = openFixture()
  await fixture.deploy(DESK)
  await fixture.operator('POST /triggers', { body: { agent: DESK, type: 'schedule', cron: '* * * * *' } })
  const { store, engine, workspace, config, clock } = fixture.services
  const log: Log = { write: () => undefined }
  const job = scheduleJob({ store, engine, workspaceId: workspace.id, config, clock, log, isShared: true })
  fixture.clock.wind(afterMs)
  await job.run(new AbortController().signal)
  expect(fixture.asked.starts.length).toBe(starts)
  await job.run(new AbortController().signal)
  expect(fixture.asked.starts.length).toBe(starts)
})

test('however many ticks were missed, the one that is due comes', async () => {
  const { sleep, starts, told, asked, schedule } = await scheduled('* * * * * *')
  await sleep(3_600_000)
  for (let at = 0; at < 10; at++) await turns()
  const started = asked.starts.map(({ idempotency }) => Number(idempotency!.key.split(' ')[2]))
  // All of the last 90 s.
  expect(started).toEqual(Array.from({ length: 91 }, (_, at) => NOW + 3_600_000 - 90_000 + at * 1000))
  expect(told).toMatchObject([{ message: 'scheduled ticks missed', missed: 1000 }])
  expect(told[0]).not.toHaveProperty('last')
  expect(starts()).toBe(91)
  await schedule.stop()
})

/** What a start asks for, and schedules by the input with which they start it. */
const CONTRACT = {
  type: 'object',
  required: ['order', 'amount'],
  properties: { order: { type: 'string' }, amount: { type: 'number' } },
}

test.each([
  ['no input', undefined, '/input/order is required. /input/amount is required.'],
  ['an empty one', {}, '/input/order is required. /input/amount is required.'],
  ['one that lacks a field', { order: 'A-1' }, '/input/amount is required.'],
  ['one of another type', { order: 'A-1', amount: '40' }, '/input/amount must be number.'],
])('a schedule with %s that its agent refuses is not made, and not changed to it', async (_, input, why) => {
  const { operator, deploy } = openFixture()
  await deploy(DESK, '1.0.0', { inputContract: CONTRACT })
  const schedule = { agent: DESK, type: 'schedule', cron: '0 9 * * *' }
  const create = (given: object) => operator('POST /triggers', { body: { ...schedule, ...given } })
  await expect(create(input === undefined ? {} : { input })).rejects.toThrow(
    `The input does not match the input contract of ${DESK}. ${why}`,
  )
  const right = { order: 'A-1', amount: 40 }
  const { triggerId, ...made } = await create({ input: right })
  expect(made).toMatchObject({ input: right, inputProblem: null, refused: null })
  if (input === undefined) return
  await expect(operator('PATCH /triggers/:id', { id: triggerId, body: { input } })).rejects.toThrow(why)
  const changed = await operator('PATCH /triggers/:id', { id: triggerId, body: { input: { order: 'A-2', amount: 1 } } })
  expect(changed).toMatchObject({ input: { order: 'A-2', amount: 1 } })
})

test('an input belongs to a schedule alone, and a deployment that refuses it is told where the schedule is', async () => {
  const { operator, deploy } = openFixture()
  await deploy(DESK)
  await expect(operator('POST /triggers', { body: { agent: DESK, type: 'api', input: {} } })).rejects.toThrow(
    'belongs to a schedule trigger',
  )
  const made = await operator('POST /triggers', { body: { agent: DESK, type: 'schedule', cron: '0 9 * * *' } })
  expect(made).toMatchObject({ input: null, inputProblem: null })
  await deploy(DESK, '2.0.0', { inputContract: CONTRACT })
  const { items } = await operator('GET /triggers', { query: { agent: DESK } })
  expect(items).toMatchObject([
    {
      inputProblem: `The input does not match the input contract of ${DESK}. /input/order is required. /input/amount is required.`,
    },
  ])
})

test('a schedule starts its runs with its input, and shows the last refusal until a tick starts one', async () => {
  const { wind, asked, doors, operator, triggerId, schedule } = await scheduled('*/10 * * * *')
  const input = { order: 'A-1', amount: 40 }
  await operator('PATCH /triggers/:id', { id: triggerId, body: { input } })
  const refused = async () => (await operator('GET /triggers', { query: {} })).items[0]!.refused
  doors.start = () =>
    Promise.reject(
      fail(
        'input_contract_violation',
        { agent: DESK },
        { details: [{ path: '/input/amount', message: 'is required' }] },
      ),
    )
  await wind(600_000)
  const expected = {
    at: '2026-11-20T10:10:00.000Z',
    code: 'input_contract_violation',
    message: `The input does not match the input contract of ${DESK}. /input/amount is required.`,
  }
  expect(await refused()).toEqual(expected)
  // A change of the trigger keeps it.
  await operator('PATCH /triggers/:id', { id: triggerId, body: { maxConcurrentRuns: 3 } })
  expect(await refused()).toEqual(expected)
  delete doors.start
  await wind(600_000)
  expect(asked.starts.at(-1)!.input).toEqual(input)
  expect(await refused()).toBeNull()
  await schedule.stop()
})
