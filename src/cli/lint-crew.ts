/** Threads that share the work of a lint. Source: performance, "What works", 7, and goal G15. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Files, Trace } from '../documents/files.ts'
import { alone, createShare, type Crew, type Order } from '../documents/lint-parts.ts'
import type { PartReport, Round } from '../documents/part.ts'

/** Files from which on another thread does more than its start costs. */
const WORTH_A_THREAD = 400
const MAX_THREADS = 4
/** What a thread makes lives as long as one part: a quarter of what V8 would hold before it looks costs no time. */
const MAX_YOUNG_MB = 12

/** What a round is told with. */
export interface Call {
  readonly round: Round
  /** First the number of the next part that nobody has taken, then for each helper whether it has begun. */
  readonly taken: Int32Array
  /** Place of this helper in `taken`. */
  readonly place: number
}

export interface Answer {
  readonly reports: readonly (readonly [part: number, report: PartReport])[]
  /** What was read for it. */
  readonly seen: readonly (readonly [path: string, trace: Trace])[]
}

/**
 * This thread and as many more as are worth it; this one alone where no other can be started.
 * @param start the program of the others; this one by default
 */
export function crewFor(
  order: Order,
  own: Files,
  start = join(dirname(fileURLToPath(import.meta.url)), 'start.cjs'),
): Crew {
  const share = createShare(order, own)
  const seen = new Map<string, Trace>()
  const threads = Math.min(availableParallelism(), MAX_THREADS)
  if (order.candidates.length < WORTH_A_THREAD || threads < 2 || !existsSync(start)) return alone(share)
  let helpers: readonly Helper[] = []
  return {
    seen,
    async run(round) {
      // What is all one part is nothing to share.
      const wanted = Math.min(threads, round.parts.length) - 1
      if (helpers.length < wanted)
        helpers = [...helpers, ...Array.from({ length: wanted - helpers.length }, () => hire(start, order))]
      const taken = new Int32Array(new SharedArrayBuffer(4 * (1 + helpers.length)))
      const answers = helpers.map((helper, at) => helper.ask({ round, taken, place: at + 1 }))
      const reports = new Map(share.run(round, () => Atomics.add(taken, 0, 1)))
      for (const [at, answer] of answers.entries()) {
        // A helper that has not begun is not waited for: nothing is left that it could take.
        if (Atomics.load(taken, at + 1) === 0) continue
        const found = await answer
        for (const [number, report] of found?.reports ?? []) reports.set(number, report)
        for (const [path, trace] of found?.seen ?? []) seen.set(path, trace)
      }
      // What a helper took with it when it failed.
      const lost = round.parts.flatMap((_, number) => (reports.has(number) ? [] : [number]))
      for (const [number, report] of share.run(round, () => lost.shift() ?? round.parts.length))
        reports.set(number, report)
      return round.parts.map((_, number) => reports.get(number)!)
    },
    close() {
      for (const helper of helpers) helper.dismiss()
    },
  }
}

/** Undefined where no thread may be started, as under Node's permissions. */
function begin(start: string, order: Order): Worker | undefined {
  try {
    return new Worker(`require(${JSON.stringify(start)}).help()`, {
      eval: true,
      workerData: order,
      resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_ACCESS_DENIED') return undefined
    throw error
  }
}

interface Helper {
  /** Undefined when it failed. */
  ask(call: Call): Promise<Answer | undefined>
  dismiss(): void
}

function hire(start: string, order: Order): Helper {
  const worker = begin(start, order)
  if (worker === undefined) return { ask: () => Promise.resolve(undefined), dismiss: () => undefined }
  worker.unref()
  let failed = false
  const open: ((found: Answer | undefined) => void)[] = []
  worker.on('message', (found: Answer) => open.shift()!(found))
  const fail = (): void => {
    failed = true
    for (const answer of open.splice(0)) answer(undefined)
  }
  worker.on('error', fail)
  worker.on('exit', fail)
  return {
    ask(call) {
      if (failed) return Promise.resolve(undefined)
      worker.postMessage(call)
      return new Promise((resolve) => open.push(resolve))
    },
    dismiss: () => void worker.terminate(),
  }
}
