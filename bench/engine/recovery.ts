/** Killed with so many completions out: the time from the spawn until each was asked for again. */
import { performance } from 'node:perf_hooks'
import type { Model } from './model.ts'
import type { Process } from './process.ts'
import type { Report } from './report.ts'

export const RECOVERY = 'killed with open runs'

export async function recovery(
  spawn: () => Promise<Process>,
  name: string,
  openRuns: number,
  model: Model,
  report: Report,
): Promise<void> {
  model.hang(true)
  const first = await spawn()
  const before = model.asked()
  for (let n = 0; n < openRuns; n += 50) await Promise.all(Array.from({ length: 50 }, () => first.run('0')))
  while (model.asked() < before + openRuns) await new Promise(setImmediate)
  await first.kill()
  const asked = model.asked()
  const from = performance.now()
  const second = await spawn()
  while (model.asked() < asked + openRuns) await new Promise((resolve) => setTimeout(resolve, 1))
  report.note(RECOVERY, `${openRuns} runs: spawn until all are asked again, ms`, name, performance.now() - from)
  const { cpuMs } = await second.used()
  report.note(RECOVERY, `${openRuns} runs: CPU ms of it`, name, cpuMs)
  await second.kill()
  model.hang(false)
}
