/** One run after another, and many at once. */
import { performance } from 'node:perf_hooks'
import type { Process } from './process.ts'
import { percentile, type Report } from './report.ts'

export const LATENCY = 'one after another'
export const LOAD = 'under load'

/** Runs before anything is measured, of each number of tools: code that is still being compiled says nothing. */
const WARM = 1000

export async function warm(process: Process): Promise<void> {
  for (const tools of ['0', '3']) await many(process, tools, WARM, 64)
}

export async function latency(process: Process, name: string, report: Report): Promise<void> {
  const note = (figure: string, value: number): void => report.note(LATENCY, figure, name, value)
  note('spawn to listening, ms', process.bootMs)
  note('idle RSS, MiB', (await process.used(true)).rss / 2 ** 20)
  for (const tools of ['0', '1', '3']) {
    const accepted: number[] = []
    const ended: number[] = []
    const before = await process.used()
    for (let n = 0; n < 300; n++) {
      const run = await process.run(tools)
      accepted.push(run.accepted)
      ended.push(await run.ended)
    }
    if (tools === '0') {
      note('POST to 202, p50 ms', percentile(accepted, 0.5))
      note('POST to 202, p99 ms', percentile(accepted, 0.99))
    }
    note(`run with ${tools} tools, p50 ms`, percentile(ended, 0.5))
    note(`run with ${tools} tools, p99 ms`, percentile(ended, 0.99))
    note(`commits of a run with ${tools} tools`, ((await process.used()).saves - before.saves) / 300)
  }
}

export async function load(
  process: Process,
  name: string,
  { runs, at, tools }: { readonly runs: number; readonly at: readonly number[]; readonly tools: readonly string[] },
  report: Report,
): Promise<void> {
  for (const each of tools) {
    const note = (figure: string, value: number): void => report.note(LOAD, `${each} tools, ${figure}`, name, value)
    for (const atOnce of at) {
      const count = atOnce === 1 ? Math.ceil(runs / 4) : runs
      const before = await process.used()
      const from = performance.now()
      const ended = await many(process, each, count, atOnce)
      const seconds = (performance.now() - from) / 1000
      const after = await process.used()
      note(`${atOnce} at once: runs/s`, count / seconds)
      note(`${atOnce} at once: CPU ms a run`, (after.cpuMs - before.cpuMs) / count)
      if (atOnce !== 64) continue
      note('64 at once: p50 ms', percentile(ended, 0.5))
      note('64 at once: p99 ms', percentile(ended, 0.99))
      note('64 at once: longest stall, ms', after.longestStallMs)
    }
  }
  report.note(LOAD, 'RSS after it, MiB', name, (await process.used(true)).rss / 2 ** 20)
}

/** So many runs, so many of them at once; answers how long each took. */
export async function many(process: Process, kind: string, count: number, atOnce: number): Promise<number[]> {
  const ended: number[] = []
  let left = count
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) ended.push(await (await process.run(kind)).ended)
    }),
  )
  return ended
}
