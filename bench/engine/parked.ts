/** What runs cost that wait for a person, each with a timer. */
import { many } from './load.ts'
import type { Process } from './process.ts'
import { percentile, type Report } from './report.ts'

export const PARKED = 'runs that wait'
const EMPTY = 'none'

/** @param spawn opens the process on a directory of that name, new or not */
export async function parked(
  spawn: (directory: string) => Promise<Process>,
  count: number,
  report: Report,
): Promise<void> {
  const first = await spawn('full')
  await (
    await first.run('waits')
  ).ended
  await first.seed('waits', count - 1)
  await first.kill()
  const empty = await spawn('empty')
  await empty.kill()
  for (const [directory, name] of [
    ['empty', EMPTY],
    ['full', String(count)],
  ] as const) {
    const note = (figure: string, value: number): void => report.note(PARKED, figure, name, value)
    const process = await spawn(directory)
    note('spawn to listening, ms', process.bootMs)
    await new Promise((resolve) => setTimeout(resolve, 500))
    const idle = await process.used(true)
    note('RSS, MiB', idle.rss / 2 ** 20)
    await new Promise((resolve) => setTimeout(resolve, 2000))
    note('CPU ms of an idle second', ((await process.used()).cpuMs - idle.cpuMs) / 2)
    await many(process, '0', 300, 16)
    const accepted: number[] = []
    for (let n = 0; n < 100; n++) {
      const run = await process.run('waits')
      accepted.push(run.accepted)
      await run.ended
    }
    note('POST to 202, p50 ms', percentile(accepted, 0.5))
    await process.kill()
  }
}

/** What a process grows by with each run that comes to wait while it serves, and with each that ends. */
export async function growing(spawn: () => Promise<Process>, counts: readonly number[], report: Report): Promise<void> {
  for (const [kind, what] of [
    ['waits', 'that come to wait'],
    ['0', 'that end'],
  ] as const) {
    const process = await spawn()
    await many(process, kind, 1000, 50)
    let before = (await process.used(true)).rss
    for (const count of counts) {
      await many(process, kind, count, 50)
      const { rss } = await process.used(true)
      report.note(PARKED, `RSS after more runs ${what}, MiB more`, String(count), (rss - before) / 2 ** 20)
      before = rss
    }
    await process.kill()
  }
}
