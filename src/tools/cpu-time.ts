/** Stops synchronous work by the processor time that it takes. */
import { readFileSync } from 'node:fs'
import { createContext, Script } from 'node:vm'

/** The work was stopped. */
export class CpuTimeExceeded extends Error {}

/** How often work that was stopped before its time is begun again, and how long one attempt may last. */
const MAX_ATTEMPTS = 4
const MAX_WALL_MS = 5000

/**
 * Runs synchronous work until this thread has spent `cpuMs` on it. Only wall time can interrupt a script, so work that was
 * interrupted while other programs had the processor is begun again with more of it: it must have no effects, and
 * leave nothing behind that is half done.
 * @throws CpuTimeExceeded
 */
export function withinCpuTime<T>(cpuMs: number, work: () => T): T {
  let wallMs = cpuMs
  for (let attempt = 1; ; attempt++) {
    const before = threadCpuMs()
    try {
      return interruptedAfter(Math.min(wallMs, MAX_WALL_MS), work)
    } catch (error) {
      if ((error as { code?: unknown })?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      const spentMs = threadCpuMs() - before
      if (spentMs >= 0.9 * cpuMs || attempt === MAX_ATTEMPTS)
        throw new CpuTimeExceeded(`takes more than ${cpuMs} ms of processor time`)
      // As much again as the share of the processor that this attempt got lets expect.
      wallMs = Math.ceil((1.5 * cpuMs * wallMs) / Math.max(1, spentMs))
    }
  }
}

/** Linux counts for each thread. Elsewhere the whole process is counted, which is never less. */
function threadCpuMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}

let sandbox: { context: { work?: () => unknown }; script: Script } | undefined

function interruptedAfter<T>(timeout: number, work: () => T): T {
  sandbox ??= { context: createContext({}), script: new Script('work()') }
  sandbox.context.work = work
  try {
    return sandbox.script.runInContext(sandbox.context, { timeout }) as T
  } finally {
    delete sandbox.context.work
  }
}
