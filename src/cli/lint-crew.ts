/** Threads that share the work of a lint. Source: performance, "What works", 7, and goal G15. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import { sameTrace, type Files, type Trace } from '../documents/files.ts'
import { alone, createShare, type Crew, type Order, type Share } from '../documents/lint-parts.ts'
import { mayHoldDocuments, readFiles } from '../documents/load.ts'
import type { PartReport, Round } from '../documents/part.ts'
import { tellLargeRun } from './large-run.ts'
import { optimisingSooner } from './tuning.ts'

/** Files from which on another thread does more than its start costs. */
const WORTH_A_THREAD = 400
const MAX_THREADS = 4
/** What a thread makes lives as long as one part: half of what V8 would hold before it looks costs no time. */
const MAX_YOUNG_MB = 24

/** Parts that a thread reads while V8 is told to optimise sooner: by then it has seen what of the reading costs most. */
const EAGER_PARTS = 4

/** What a round is told with; before the first a helper is told the order. */
export interface Call {
  readonly round: Round
  /** First the number of the next part that nobody has taken, then for each helper whether it has begun. */
  readonly taken: Int32Array
  /** Place of this helper in `taken`. */
  readonly place: number
  /** Where each part is told of as soon as it is linted. */
  readonly ear: MessagePort
}

/** Told to a helper that has something to keep for the next time: it is not asked again. */
export const END = 'end'

export interface Told {
  readonly part: number
  readonly report: PartReport
  /** What was read for it, and for no part before. */
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
  /** How many have not yet loaded their program. */
  const loading = new Int32Array(new SharedArrayBuffer(4))
  const hireAll = (): readonly Helper[] => {
    Atomics.store(loading, 0, most)
    return Array.from({ length: most }, () => hire(() => begin(start, loading)))
  }
  let waiting: readonly Helper[] = []
  let documents = 0
  return {
    sees(path) {
      if (mayHoldDocuments(path) && ++documents === WORTH_A_THREAD) waiting = hireAll()
    },
    crewFor(order, own) {
      const isLarge = order.candidates.length >= WORTH_A_THREAD
      if (!isLarge) return alone(createShare(order, own))
      tellLargeRun()
      const helpers = waiting.length > 0 ? waiting : hireAll()
      waiting = []
      return crewOf(helpers, order, createShare(order, own, eagerReader(loading)))
    },
    close() {
      for (const helper of waiting) void helper.dismiss()
    },
  }
}

/**
 * Reads documents, the first of them while V8 is told to optimise sooner.
 * @param loading how many threads load compiled code, which V8 takes with the flags alone with which it was kept
 */
export function eagerReader(loading: Int32Array): typeof readFiles {
  let left = EAGER_PARTS
  return (...given) => {
    if (left === 0 || Atomics.load(loading, 0) > 0) return readFiles(...given)
    left--
    return optimisingSooner(() => readFiles(...given))
  }
}

function crewOf(all: readonly Helper[], order: Order, own: Share): Crew {
  const seen = new Map<string, Trace>()
  for (const helper of all) helper.prepare(order)
  return {
    seen,
    async run(round) {
      // What is all one part is nothing to share.
      const helpers = all.slice(0, round.parts.length - 1)
      const taken = new Int32Array(new SharedArrayBuffer(4 * (1 + helpers.length)))
      const reports = new Map<number, PartReport>()
      const tell = (part: number, report: PartReport): void => void reports.set(part, report)
      const asked = helpers.map((helper, at) => helper.ask(round, taken, at + 1))
      // Between the parts, when the others still lint: at the end this thread would do it while they have nothing to do.
      const collect = (): void => {
        for (const { told } of asked)
          for (let each = told(); each !== undefined; each = told()) {
            tell(each.part, each.report)
            for (const [path, trace] of each.seen) seen.set(path, sameTrace(trace, seen.get(path)))
          }
      }
      const next = (): number => {
        collect()
        return Atomics.add(taken, 0, 1)
      }
      own.run(round, next, tell)
      // A helper that has not begun is not waited for: nothing is left that it could take.
      for (const [at, { done }] of asked.entries()) if (Atomics.load(taken, at + 1) !== 0) await done
      collect()
      for (const { close } of asked) close()
      // What a helper took with it when it failed.
      const lost = round.parts.flatMap((_, number) => (reports.has(number) ? [] : [number]))
      own.run(round, () => lost.shift() ?? round.parts.length, tell)
      return round.parts.map((_, number) => reports.get(number)!)
    },
    close() {
      return Promise.all(all.map((helper) => helper.dismiss()))
    },
  }
}

/** @param loading is told when the thread has loaded its program */
const beginThread = (start: string, loading: Int32Array): Worker =>
  new Worker(`require(${JSON.stringify(start)}).help()`, {
    eval: true,
    workerData: loading,
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
  ask(round: Round, taken: Int32Array, place: number): Asked
  /** Fulfilled when it has ended as far as anybody has to wait for it. */
  dismiss(): Promise<unknown>
}

interface Asked {
  /** What it has told and nobody has heard yet; undefined when that is nothing. */
  readonly told: () => Told | undefined
  /** Fulfilled when it has told all, or has failed. */
  readonly done: Promise<void>
  readonly close: () => void
}

function hire(begin: () => Worker): Helper {
  const worker = begun(begin)
  let failed = worker === undefined
  // It answers in the order in which it was asked, also those who have not waited for it.
  const open: (() => void)[] = []
  let hasNews = false
  const fail = (): void => {
    failed = true
    for (const done of open.splice(0)) done()
  }
  worker?.on('message', (isNew: boolean) => {
    hasNews = isNew
    open.shift()!()
  })
  worker?.on('error', fail)
  worker?.on('exit', fail)
  return {
    prepare: (order) => worker?.postMessage(order),
    ask(round, taken, place) {
      const { port1, port2 } = new MessageChannel()
      if (!failed) worker?.postMessage({ round, taken, place, ear: port2 } satisfies Call, [port2])
      return {
        told: () => (receiveMessageOnPort(port1) as { readonly message: Told } | undefined)?.message,
        done: failed ? Promise.resolve() : new Promise((resolve) => open.push(resolve)),
        close: () => port1.close(),
      }
    },
    dismiss() {
      if (worker === undefined || failed || !hasNews) return Promise.resolve(void worker?.terminate())
      worker.postMessage(END)
      return once(worker, 'exit')
    },
  }
}
