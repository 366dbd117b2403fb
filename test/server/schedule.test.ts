import { afterEach, expect, test, vi } from 'vitest'
import { createSchedule } from '../../src/server/schedule.ts'
import { NOW, openHouse } from './fixtures.ts'

const DESK = 'acme.daily-report'

afterEach(() => {
  vi.useRealTimers()
})

async function scheduled(cron: string, timeZone?: string, at = NOW) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const house = openHouse()
  house.clock.wind(at - NOW)
  await house.deploy(DESK)
  const { triggerId } = await house.operator('POST /triggers', {
    body: { agent: DESK, type: 'schedule', cron, ...(timeZone && { timeZone }) },
  })
  const { store, engine, workspace, config, clock, log } = house.services
  const schedule = createSchedule({ store, engine, workspaceId: workspace.id, config, clock, log })
  house.services.about.onTriggers = () => schedule.refresh()
  const wind = async (ms: number) => {
    // The clock first: a timer that fires asks it what is due.
    house.clock.wind(ms)
    await vi.advanceTimersByTimeAsync(ms)
  }
  await vi.advanceTimersByTimeAsync(0)
  return { ...house, schedule, triggerId, wind, starts: () => house.asked.starts.length }
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
