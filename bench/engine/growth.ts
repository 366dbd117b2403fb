/** The same questions to a store of few and of many runs, asked in turns. */
import { join } from 'node:path'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { many, warm } from './load.ts'
import type { Process } from './process.ts'
import { percentile, type Report } from './report.ts'

export const GROWTH = 'stored runs'

/** How often each question is asked. */
const TIMES = 200

/** @param spawn opens the process on the directory of that name, new or not */
export async function growth(
  spawn: (stored: number) => Promise<Process>,
  directoryOf: (stored: number) => string,
  sizes: readonly number[],
  report: Report,
): Promise<void> {
  for (const stored of sizes) {
    const process = await spawn(stored)
    await (
      await process.run('0')
    ).ended
    await process.seed('0', stored - 1)
    await process.kill()
    report.note(GROWTH, 'KiB a run', String(stored), bytesIn(join(directoryOf(stored), 'data.db')) / 1024 / stored)
  }
  const subjects = await Promise.all(
    sizes.map(async (stored) => {
      // Twice: the first start after a kill also has a log to read.
      await (await spawn(stored)).kill()
      const process = await spawn(stored)
      await warm(process)
      return { stored, process, ...(await process.run('0')) }
    }),
  )
  /** Each process in turn, so that what else the machine does meets all alike. */
  const ask = async (
    figure: string,
    times: number,
    question: (subject: (typeof subjects)[number]) => Promise<number>,
  ): Promise<void> => {
    const took = subjects.map((): number[] => [])
    for (let n = 0; n < times; n++) for (const [at, each] of subjects.entries()) took[at]!.push(await question(each))
    for (const [at, { stored }] of subjects.entries())
      report.note(GROWTH, figure, String(stored), percentile(took[at]!, 0.5))
  }
  for (const { stored, process } of subjects)
    report.note(GROWTH, 'spawn to listening, ms', String(stored), process.bootMs)
  await ask('status, p50 ms', TIMES, async ({ process, runId }) => (await process.get(`/v1/runs/${runId}`)).ms)
  await ask(
    'timeline, p50 ms',
    TIMES,
    async ({ process, runId }) => (await process.get(`/v1/runs/${runId}/conversation`)).ms,
  )
  const page = (process: Process): string => `/v1/agents/${process.agentOf('0')}/sessions?take=50`
  await ask('first page, p50 ms', TIMES, async ({ process }) => (await process.get(page(process))).ms)
  await ask(
    'deepest page, p50 ms',
    5,
    async ({ process, stored }) => (await process.get(`${page(process)}&skip=${Math.max(0, stored - 50)}`)).ms,
  )
  await ask('POST to 202, p50 ms', TIMES, async ({ process }) => {
    const run = await process.run('0')
    await run.ended
    return run.accepted
  })
  for (const { stored, process } of subjects) {
    const before = await process.used()
    await many(process, '3', 1000, 64)
    const after = await process.used()
    report.note(GROWTH, '3 tools, 64 at once: CPU ms a run', String(stored), (after.cpuMs - before.cpuMs) / 1000)
    report.note(GROWTH, '3 tools, 64 at once: longest stall, ms', String(stored), after.longestStallMs)
    await process.kill()
  }
}

function bytesIn(file: string): number {
  const db = connectSqlite(file, { readonly: true })
  const pages = db.pragma('page_count', { simple: true }) as number
  db.close()
  return pages * 4096
}
