/** Threads that help a lint, as the one that it began in knows them; what they do is in `lint-helper.ts`. Nothing of the rules is loaded for it. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import type { Trace } from '../documents/files.ts'
import type { Order } from '../documents/lint-parts.ts'
import { mayHoldDocuments } from '../documents/paths.ts'
import type { PartReport, Round } from '../documents/part.ts'

/** Files from which on another thread does more than its start costs. */
export const WORTH_A_THREAD = 400
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

/** Whether V8 has the flags of a lint. A thread begins with the usual ones, with which Node's own code was kept, and loads its program with these. */
const TUNED = 0

export function tellTuned(state: Int32Array): void {
  Atomics.store(state, TUNED, 1)
  Atomics.notify(state, TUNED)
}

/** Threads that begin while the files of a project are still being listed: by the time there is something to do they can do it. */
export interface Reserve {
  /** Told of each file that was found. */
  readonly sees: (path: string) => void
  /** What all threads see of it, at `TUNED`. */
  readonly state: Int32Array
  /** All that are worth it; none where no other thread can be started. Who asks ends them. */
  readonly helpers: () => readonly Helper[]
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
  const state = new Int32Array(new SharedArrayBuffer(4))
  let waiting: readonly Helper[] | undefined
  const hireAll = (): readonly Helper[] => Array.from({ length: most }, () => hire(() => begin(start, state)))
  let documents = 0
  return {
    sees(path) {
      if (mayHoldDocuments(path) && ++documents === WORTH_A_THREAD) waiting = hireAll()
    },
    state,
    helpers() {
      const helpers = waiting ?? hireAll()
      waiting = []
      return helpers
    },
    close() {
      for (const helper of waiting ?? []) void helper.dismiss()
    },
  }
}

const beginThread = (start: string, state: Int32Array): Worker =>
  new Worker(firstSteps(start), {
    eval: true,
    workerData: state,
    resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MB },
  })

/** What its program takes of Node's own comes first, with the usual flags. */
const firstSteps = (start: string): string =>
  `const { workerData } = require('node:worker_threads')
  const { help } = require(${JSON.stringify(start)})
  require('node:crypto')
  Atomics.wait(workerData, ${TUNED}, 0)
  help()`

/** Undefined where no thread may be started, as under Node's permissions, or where the user may have no more of them. */
function begun(begin: () => Worker): Worker | undefined {
  try {
    return begin()
  } catch {
    return undefined
  }
}

export interface Helper {
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
      // Also when it fails: what it would keep is compiled again.
      return new Promise((resolve) => worker.once('exit', resolve))
    },
  }
}
