/** A worker thread for checks that may take long, so that they do not block the event loop. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { InvalidPlace } from '../../base/failure.ts'

/** One check, as JSON texts: a text is copied to the thread cheaply and creates no objects on this side. */
export interface CheckOrder {
  readonly schema: string
  /** Absent to check only the schema itself. */
  readonly value?: string
}

/** Memory of the thread. A check needs a few times the size of its value, which is at most 1 MiB. */
const MAX_HEAP_MB = 64
const MAX_YOUNG_MB = 8
/** The thread itself limits the CPU time of a check; when that fails, the thread is terminated after this time. */
const MAX_WALL_MS = 30_000
/** An idle thread is terminated, so that it uses no memory of an idle server. */
const IDLE_MS = 10_000
/** Checks that may wait at the same time. */
const MAX_WAITING = 1000

/** A check that was stopped, with the limit that it exceeded. */
export class CheckUnfinished extends Error {}

interface WaitingCheck extends CheckOrder {
  resolve(details: readonly InvalidPlace[]): void
  reject(error: unknown): void
}

class CheckThread {
  readonly #waiting: WaitingCheck[] = []
  #current: WaitingCheck | undefined
  #limit: NodeJS.Timeout | undefined
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined

  /**
   * Runs the checks one after the other.
   * @throws CheckUnfinished with the limit that was exceeded
   */
  check(order: CheckOrder): Promise<readonly InvalidPlace[]> {
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new CheckUnfinished(`more than ${MAX_WAITING} checks are waiting`))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...order, resolve, reject })
      if (!this.#current) this.#next()
    })
  }

  #next(): void {
    this.#current = this.#waiting.shift()
    if (!this.#current) return this.#rest()
    const { schema, value } = this.#current
    clearTimeout(this.#idle)
    this.#worker ??= this.#open()
    this.#worker.ref()
    this.#limit = setTimeout(() => this.#fail(`it takes more than ${MAX_WALL_MS / 1000} seconds`), MAX_WALL_MS)
    this.#worker.postMessage({ schema, ...(value !== undefined && { value }) } satisfies CheckOrder)
  }

  #rest(): void {
    // The thread alone must not keep the process alive.
    this.#worker?.unref()
    this.#idle = setTimeout(() => this.#close(), IDLE_MS)
    this.#idle.unref()
  }

  #open(): Worker {
    const worker = new Worker(workerPath(), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
      // The thread needs no environment and no flags of this process.
      env: {},
      execArgv: [],
    })
    worker.on('message', (details: readonly InvalidPlace[]) => this.#settle((current) => current.resolve(details)))
    worker.on('error', (error: Error & { code?: string }) => {
      if (worker !== this.#worker) return
      const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      this.#fail(isFull ? `it takes more than ${MAX_HEAP_MB} MB of memory` : `the check failed: ${error.message}`)
    })
    return worker
  }

  #settle(how: (current: WaitingCheck) => void): void {
    clearTimeout(this.#limit)
    if (this.#current) how(this.#current)
    this.#next()
  }

  #fail(why: string): void {
    this.#close()
    this.#settle((current) => current.reject(new CheckUnfinished(why)))
  }

  #close(): void {
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
  }
}

const checkThread = new CheckThread()
export const checkInThread = (order: CheckOrder): Promise<readonly InvalidPlace[]> => checkThread.check(order)

/** A build has the file beside the bundle or one level above its chunks; the sources use the last build. */
const PLACES = ['./check-worker.cjs', '../check-worker.cjs', '../../../dist/check-worker.cjs']

function workerPath(): string {
  const found = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((each) => existsSync(each))
  if (found === undefined) throw new Error('The program that checks values is not part of this installation.')
  return found
}
