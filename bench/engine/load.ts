/** One run after another, and many at once. */
import { performance } from 'node:perf_hooks'
import { PIECES } from './model.ts'
import type { Process } from './process.ts'
import { percentile, type Report } from './report.ts'

export const LATENCY = 'one after another'
export const LOAD = 'under load'
export const READ = 'with a reader'

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

/** Pairs of batches, one without and one with readers: what else the machine does changes less within a pair than between pairs. */
const PAIRS = 8

/** CPU of runs whose stream is read to its end and whose result is then asked for, beside runs that nobody reads. */
export async function readers(process: Process, name: string, runs: number, report: Report): Promise<void> {
  const note = (figure: string, value: number): void => report.note(READ, figure, name, value)
  const cpuOf = async (kind: string, count: number, atOnce: number, isRead: boolean): Promise<number> => {
    const before = await process.used()
    await many(process, kind, count, atOnce, isRead)
    return ((await process.used()).cpuMs - before.cpuMs) / count
  }
  const count = Math.ceil(runs / PAIRS)
  for (const tools of ['0', '3']) {
    await many(process, tools, WARM / 2, 64, true)
    const pairs: { readonly alone: number; readonly read: number }[] = []
    while (pairs.length < PAIRS)
      pairs.push({ alone: await cpuOf(tools, count, 64, false), read: await cpuOf(tools, count, 64, true) })
    const middle = (value: (pair: (typeof pairs)[number]) => number): number => percentile(pairs.map(value), 0.5)
    note(
      `${tools} tools: CPU ms a run without one`,
      middle(({ alone }) => alone),
    )
    note(
      `${tools} tools: CPU ms a run`,
      middle(({ read }) => read),
    )
    note(
      `${tools} tools: x without one`,
      middle(({ alone, read }) => read / alone),
    )
  }
  const plain = await cpuOf('0', TALKING * 4, TALKING, false)
  const alone = await cpuOf('pieces', TALKING, TALKING, false)
  const read = await cpuOf('pieces', TALKING, TALKING, true)
  note('CPU us a piece of text, to receive', ((alone - plain) / PIECES) * 1000)
  note('CPU us a piece of text, a reader', ((read - alone) / PIECES) * 1000)
}

/** Runs at once whose model sends `PIECES` pieces of text. */
const TALKING = 50

/** So many runs, so many of them at once; answers how long each took. */
export async function many(
  process: Process,
  kind: string,
  count: number,
  atOnce: number,
  isRead = false,
): Promise<number[]> {
  const ended: number[] = []
  let left = count
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) {
        const run = await process.run(kind)
        if (isRead) {
          await process.get(`/v1/runs/${run.runId}/stream`, kind)
          await process.get(`/v1/runs/${run.runId}`, kind)
        }
        ended.push(await run.ended)
      }
    }),
  )
  return ended
}
