import '../long-lived.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHANNELS, openHostileWorld, type Channel, type HostileWorld } from './bounds/channels.ts'
import { LARGEST_VALUE_BYTES, hostileCase } from './bounds/hostile.ts'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { cases } from '../cases.ts'

/** Processor time of the server's main thread from a question for its health to the answer. */
const MAX_HEALTH_MS = 100
/** Resident memory while a value is served, above what was resident before; the server has served a large value in every way. */
const MAX_GROWTH_MIB = 64

/** `SVC_BOUNDS_CASES=1000 npx vitest run test/server/bounds.test.ts` tries many; `SVC_TEST_SEED` makes them others. */
const CASES = Number(process.env['SVC_BOUNDS_CASES'] ?? cases(36))
const SEED = Number(process.env['SVC_TEST_SEED'] ?? 20_261_121)
const MS_PER_CASE = 5000

/** As many values as are accepted, but some for what surrounds them. */
const LARGE = Array.from({ length: 99_900 }, () => ({}))

// Processor time of one thread and the peak of resident memory are known on Linux alone.
describe.runIf(process.platform === 'linux')('nobody waits for what others send', () => {
  let world: HostileWorld

  async function measure(channel: Channel, schema: JsonObject, value: JsonValue) {
    const send = await world.prepare(channel, schema, value)
    await world.served.watch()
    await send()
    return world.served.report()
  }

  beforeAll(async () => {
    world = await openHostileWorld()
    // Code is slow when it runs for the first time, and memory that was in use once is kept.
    for (const channel of [...CHANNELS, ...CHANNELS]) await measure(channel, { type: 'object' }, LARGE)
  })
  afterAll(() => world.close())

  test.each(CHANNELS)('while 99,900 accepted objects come by %s', async (channel) => {
    const { longestMs, failed, peakMiB, residentMiB } = await measure(channel, { type: 'object' }, LARGE)
    expect(failed).toBe(0)
    expect(longestMs).toBeLessThan(MAX_HEALTH_MS)
    expect(peakMiB - residentMiB).toBeLessThan(MAX_GROWTH_MIB)
  })

  test(
    `while ${CASES} generated values are checked against generated schemas`,
    async () => {
      const faults: object[] = []
      for (let at = 0; at < CASES; at++) {
        const channel = CHANNELS[at % CHANNELS.length]!
        const { seed, about, schema, value } = hostileCase(SEED + at, LARGEST_VALUE_BYTES)
        const { longestMs, answers, failed, peakMiB, residentMiB } = await measure(channel, schema, value)
        const growthMiB = peakMiB - residentMiB
        if (answers === 0 || failed > 0 || longestMs >= MAX_HEALTH_MS || growthMiB >= MAX_GROWTH_MIB)
          faults.push({ seed, channel, about, longestMs, growthMiB, failed })
      }
      expect(faults).toEqual([])
    },
    30_000 + CASES * MS_PER_CASE,
  )

  test('while a person edits arguments into a megabyte of brackets', async () => {
    const value = Array.from(
      { length: LARGEST_VALUE_BYTES / 50 },
      () => JSON.parse('['.repeat(24) + ']'.repeat(24)) as JsonValue,
    )
    expect((await measure('message', { type: 'object' }, value)).longestMs).toBeLessThan(MAX_HEALTH_MS)
  })
})
