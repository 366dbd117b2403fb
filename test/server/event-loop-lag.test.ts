/** When a process counts as late with what it does. Source: docs/design/several-processes.md#life-of-a-process */
import { expect, test } from 'vitest'
import { watchEventLoop } from '../../src/server/runtime/event-loop-lag.ts'

test('a process is behind while its timers are late by more than 100 ms on the average of a second', () => {
  let now = 0
  let due: (() => void) | undefined
  const lag = watchEventLoop(
    { monotonic: () => now },
    { set: (callback) => (due = callback), clear: () => (due = undefined) },
  )
  const look = (lateMs: number, times = 1): number => {
    for (let n = 0; n < times; n++) {
      now += 100 + lateMs
      due!()
    }
    return lag.meanMs()
  }
  expect(look(0, 20)).toBe(0)
  expect([look(500), lag.isBehind()]).toEqual([50, false])
  expect([look(600), lag.isBehind()]).toEqual([110, true])
  expect([look(0, 8), lag.isBehind()]).toEqual([60, false])
  // Late before its own timer could tell.
  now += 100 + 700
  expect([lag.meanMs(), lag.isBehind()]).toEqual([130, true])
  lag.close()
  expect(due).toBeUndefined()
})
