/** Threads that share the work of a lint. Source: performance, "What works", 7, and goal G15. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { sameTrace, type Files, type Trace } from '../documents/files.ts'
import { alone, createShare, type Crew, type Order } from '../documents/lint-parts.ts'
import { mayHoldDocuments } from '../documents/load.ts'
import type { PartReport, Round } from '../documents/part.ts'
import { tellLargeRun } from './large-run.ts'

/** Files from which on another thread does more than its start costs. */
const WORTH_A_THREAD = 400
const MAX_THREADS = 4
/** What a thread makes lives as long as one part: half of what V8 would hold before it looks costs no time. */
const MAX_YOUNG_MB = 24

/** What a round is told with; before the first a helper is told the order. */
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

/** Threads that begin while the files of a project are still being listed: by the time there is something to do they can do it. */
export interface Reserve {
  /** Told of each file that was found. */
  readonly sees: (path: string) => void
  /** This thread and as many more as are worth it; this one alone where no other can be started. */
  readonly crewFor: (order: Order, own: Files) => Crew
  /** Ends those that nobody has asked for. */
  close(): void
}

/**
 * @param start the program of the others; this one by default
 * @param begin starts a thread with it, or throws where none may be started
 */
export function createReserve(
  start = join(dirname(fileURLToPath(import.meta.url)), 'start.cjs'),
  begin = beginThread,
): Reserve {
  const most = existsSync(start) ? Math.min(availableParallelism(), MAX_THREADS) - 1 : 0
  const hireAll = (): readonly Helper[] => Array.from({ length: most }, () => hire(() => begin(start)))
  let waiting: readonly Helper[] = []
  let documents = 0
  return {
    sees(path) {
      if (mayHoldDocuments(path) && ++documents === WORTH_A_THREAD) waiting = hireAll()
    },
    crewFor(order, own) {
      if (most === 0 || order.candidates.length < WORTH_A_THREAD) return alone(createShare(order, own))
      const helpers = waiting.length > 0 ? waiting : hireAll()
      waiting = []
      return crewOf(helpers, order, own)
    },
    close() {
      for (const helper of waiting) helper.dismiss()
    },
  }
}

function crewOf(all: readonly Helper[], order: Order, own: Files): Crew {
  tellLargeRun()
  const share = createShare(order, own)
  const seen = new Map<string, Trace>()
  for (const helper of all) helper.prepare(order)
  return {
    seen,
    async run(round) {
      // What is all one part is nothing to share.
      const helpers = all.slice(0, round.parts.length - 1)
      const taken = new Int32Array(new SharedArrayBuffer(4 * (1 + helpers.length)))
      const answers = helpers.map((helper, at) => helper.ask({ round, taken, place: at + 1 }))
      const reports = new Map(share.run(round, () => Atomics.add(taken, 0, 1)))
      for (const [at, answer] of answers.entries()) {
        // A helper that has not begun is not waited for: nothing is left that it could take.
        if (Atomics.load(taken, at + 1) === 0) continue
        const found = await answer
        for (const [number, report] of found?.reports ?? []) reports.set(number, report)
        for (const [path, trace] of found?.seen ?? []) seen.set(path, sameTrace(trace, seen.get(path)))
      }
      // What a helper took with it when it failed.
      const lost = round.parts.flatMap((_, number) => (reports.has(number) ? [] : [number]))
      for (const [number, report] of share.run(round, () => lost.shift() ?? round.parts.length))
        reports.set(number, report)
      return round.parts.map((_, number) => reports.get(number)!)
    },
    close() {
      for (const helper of all) helper.dismiss()
    },
  }
}

const beginThread = (start: string): Worker =>
  new Worker(`require(${JSON.stringify(start)}).help()`, {
    eval: true,
    resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MB },
  })

/** Undefined where no thread may be started, as under Node's permissions, or where the user may have no more of them. */
function begun(begin: () => Worker): Worker | undefined {
  try {
    return begin()
  } catch {
    return undefined
  }
}

interface Helper {
  prepare(order: Order): void
  /** Undefined when it failed. */
  ask(call: Call): Promise<Answer | undefined>
  dismiss(): void
}

function hire(begin: () => Worker): Helper {
  const worker = begun(begin)
  if (worker === undefined)
    return { prepare: () => undefined, ask: () => Promise.resolve(undefined), dismiss: () => undefined }
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
    prepare: (order) => worker.postMessage(order),
    ask(call) {
      if (failed) return Promise.resolve(undefined)
      worker.postMessage(call)
      return new Promise((resolve) => open.push(resolve))
    },
    dismiss: () => void worker.terminate(),
  }
}
