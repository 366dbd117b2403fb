import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createJobRunner, type BackgroundJob } from '../../src/queue/jobs.ts'

const clock = { now: () => Date.now(), monotonic: () => performance.now() }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A job that writes down how often it ran. */
function counted(name: string, next: () => number | undefined = () => undefined) {
  const seen = { runs: 0 }
  const job: BackgroundJob = {
    name,
    async run() {
      seen.runs++
      return next()
    },
  }
  return { job, seen }
}

function open(jobs: readonly BackgroundJob[], isOurTurn = () => true) {
  const failures: string[] = []
  const failed = ({ name }: BackgroundJob, error: unknown): void => void failures.push(`${name}: ${String(error)}`)
  return { failures, runner: createJobRunner(jobs, { clock, isOurTurn, failed }) }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('jobs run when they are opened, when they asked to, and when they are woken, until they are closed', async () => {
  const often = counted('often', () => Date.now() + 100)
  const once = counted('once')
  const { runner } = open([often.job, once.job])
  await pass(0)
  expect([often.seen.runs, once.seen.runs]).toEqual([1, 1])
  await pass(99)
  expect([often.seen.runs, once.seen.runs]).toEqual([1, 1])
  await pass(1)
  expect([often.seen.runs, once.seen.runs]).toEqual([2, 1])
  runner.wake('once')
  runner.wake('nobody')
  await pass(0)
  expect([often.seen.runs, once.seen.runs]).toEqual([2, 2])
  await runner.close()
  runner.wake('once')
  await pass(10_000)
  expect([often.seen.runs, once.seen.runs]).toEqual([2, 2])
})

test('a job that is due in more than the longest timer of node does not run at once', async () => {
  const yearly = counted('yearly', () => Date.now() + 366 * 86_400_000)
  open([yearly.job])
  await pass(3_600_000)
  expect(yearly.seen.runs).toBe(1)
})

test('a job that fails is told of and tried again after a minute, and does not stop the others', async () => {
  const well = counted('well', () => Date.now() + 1000)
  const rejects: BackgroundJob = { name: 'rejects', run: () => Promise.reject(new Error('no')) }
  const throws: BackgroundJob = {
    name: 'throws',
    run() {
      throw new Error('never')
    },
  }
  const { failures } = open([rejects, throws, well.job])
  await pass(59_999)
  expect(failures.toSorted()).toEqual(['rejects: Error: no', 'throws: Error: never'])
  expect(well.seen.runs).toBe(60)
  await pass(1)
  expect(failures).toHaveLength(4)
})

test('a job never runs twice at the same time, however often it is woken', async () => {
  const ends: (() => void)[] = []
  const job: BackgroundJob = {
    name: 'slow',
    run: () => new Promise((resolve) => ends.push(() => resolve(undefined))),
  }
  const { runner } = open([job])
  await pass(0)
  runner.wake('slow')
  await pass(0)
  expect(ends).toHaveLength(1)
  ends[0]!()
  await pass(0)
  expect(ends).toHaveLength(2)
})

test('of two servers one runs the jobs; the other one begins within a second of its turn', async () => {
  const turn = { of: 'a' }
  const [a, b] = ['a', 'b'].map((name) => {
    const job = counted(name, () => Date.now() + 1000)
    open([job.job], () => turn.of === name)
    return job.seen
  })
  await pass(9500)
  expect([a, b]).toEqual([{ runs: 10 }, { runs: 0 }])
  turn.of = 'b'
  await pass(1000)
  expect([a, b]).toEqual([{ runs: 10 }, { runs: 1 }])
  await pass(4000)
  expect([a, b]).toEqual([{ runs: 10 }, { runs: 5 }])
})

test('a job that hears of the end may finish; one that hangs holds the end up for the grace, and 5 s at most', async () => {
  const heard: string[] = []
  const polite: BackgroundJob = {
    name: 'polite',
    run: (signal) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          heard.push('polite')
          resolve(undefined)
        }),
      ),
  }
  const hanging: BackgroundJob = { name: 'hanging', run: () => new Promise(() => {}) }
  const ended: string[] = []
  const alone = open([polite]).runner
  const [brief, long] = [open([hanging]).runner, open([hanging]).runner]
  await pass(0)
  void alone.close().then(() => ended.push('polite'))
  void brief.close(2000).then(() => ended.push('after the grace'))
  void long.close(60_000).then(() => ended.push('after the longest'))
  await pass(0)
  expect([heard, ended]).toEqual([['polite'], ['polite']])
  await pass(1999)
  expect(ended).toEqual(['polite'])
  await pass(1)
  expect(ended).toEqual(['polite', 'after the grace'])
  await pass(3000)
  expect(ended).toEqual(['polite', 'after the grace', 'after the longest'])
})
