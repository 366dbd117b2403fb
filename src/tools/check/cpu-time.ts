/** Limits the CPU time of synchronous work. */
import { readFileSync } from 'node:fs'
import { createContext, Script } from 'node:vm'

/** The work was stopped because it used up its CPU time. */
export class CpuTimeExceeded extends Error {}

/** Attempts for work that was interrupted before it used its CPU time, and the longest wall time of one attempt. */
const MAX_ATTEMPTS = 4
const MAX_WALL_MS = 5000

/**
 * Runs synchronous work until this thread has spent `cpuMs` on it. Only wall time can interrupt a script, so work that was
 * interrupted while other programs had the CPU is restarted with more wall time. The work must therefore have no effects and
 * leave no half-finished state behind.
 * @throws CpuTimeExceeded
 */
export function withinCpuTime<T>(cpuMs: number, work: () => T): T {
  let wallMs = cpuMs
  for (let attempt = 1; ; attempt++) {
    const before = threadCpuMs()
    try {
      return runWithTimeout(Math.min(wallMs, MAX_WALL_MS), work)
    } catch (error) {
      if ((error as { code?: unknown })?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      const spentMs = threadCpuMs() - before
      if (spentMs >= 0.9 * cpuMs || attempt === MAX_ATTEMPTS)
        throw new CpuTimeExceeded(`takes more than ${cpuMs} ms of processor time`)
      // Scales the wall time by the share of the CPU that this attempt got, plus half.
      wallMs = Math.ceil((1.5 * cpuMs * wallMs) / Math.max(1, spentMs))
    }
  }
}

/** Linux counts CPU time per thread. Other systems count that of the whole process, which is never less. */
function threadCpuMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}

let sandbox: { context: { work?: () => unknown }; script: Script } | undefined

function runWithTimeout<T>(timeout: number, work: () => T): T {
  sandbox ??= { context: createContext({}), script: new Script('work()') }
  sandbox.context.work = work
  try {
    return sandbox.script.runInContext(sandbox.context, { timeout }) as T
  } finally {
    delete sandbox.context.work
  }
}
