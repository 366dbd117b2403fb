import { Worker } from 'node:worker_threads'
import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { CpuTimeExceeded, withinCpuTime } from '../../src/tools/check/cpu-time.ts'

/** Work of so much processor time, as far as a machine can say. */
const spin = (steps: number): number => {
  let sum = 0
  for (let at = 0; at < steps; at++) sum = (sum * 31 + at) % 1_000_003
  return sum
}

/** Steps that take about so many milliseconds on this machine when nothing else runs. */
function stepsIn(ms: number): number {
  const before = process.cpuUsage()
  spin(2_000_000)
  const { user } = process.cpuUsage(before)
  return Math.round((2_000_000 * ms) / (user / 1000))
}

test('gives what the work gives, and throws what it throws', () => {
  expect(withinCpuTime(60, () => 7)).toBe(7)
  expect(() =>
    withinCpuTime(60, () => {
      throw new RangeError('no')
    }),
  ).toThrow(new RangeError('no'))
})

test('stops work that takes more', () => {
  expect(() =>
    withinCpuTime(60, () => {
      for (;;);
    }),
  ).toThrow(new CpuTimeExceeded('takes more than 60 ms of processor time'))
})

// On Linux alone the time of a thread is told apart from that of its process.
test.runIf(process.platform === 'linux')('is not shortened by others that use the processor', async () => {
  spin(2_000_000)
  const steps = stepsIn(25)
  const busy = Array.from({ length: 3 * availableParallelism() }, () => new Worker('for (;;);', { eval: true }))
  try {
    await Promise.all(busy.map((worker) => new Promise((resolve) => worker.once('online', resolve))))
    for (let time = 0; time < 5; time++) expect(withinCpuTime(60, () => spin(steps))).toBe(spin(steps))
  } finally {
    await Promise.all(busy.map((worker) => worker.terminate()))
  }
})
