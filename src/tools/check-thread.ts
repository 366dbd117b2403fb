/** A thread that checks what may take long, so that nobody else waits for it. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { InvalidPlace } from '../base/failure.ts'

/** One check as texts: they cross to the thread in one copy, and leave no objects here. */
export interface CheckOrder {
  readonly schema: string
  /** Absent where only the schema is in question. */
  readonly value?: string
}

/** Memory of the thread. A check needs a few times its value, which is at most 1 MiB. */
const MAX_HEAP_MB = 64
const MAX_YOUNG_MB = 8
/** The thread stops a check by its processor time; one that did not is ended with its thread. */
const MAX_WALL_MS = 30_000
/** An idle thread is ended, so that a server at rest holds no memory for it. */
const IDLE_MS = 10_000
/** Checks that wait at once. */
const MAX_WAITING = 1000

/** Why a check came to no end. */
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
   * Checks one order after the other.
   * @throws CheckUnfinished with the bound that was exceeded
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
    // A process that has nothing else to do may end.
    this.#worker?.unref()
    this.#idle = setTimeout(() => this.#close(), IDLE_MS)
    this.#idle.unref()
  }

  #open(): Worker {
    const worker = new Worker(program(), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
      // It needs none of what the process was started with.
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

/** Beside the bundle, or above its chunks; for the sources, where they were built last. */
const PLACES = ['./check-worker.cjs', '../check-worker.cjs', '../../dist/check-worker.cjs']

function program(): string {
  const found = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((each) => existsSync(each))
  if (found === undefined) throw new Error('The program that checks values is not part of this installation.')
  return found
}
