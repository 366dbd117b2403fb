/** Programs and people that start runs, answer and approve, at any server that answers. */
import { setTimeout as after } from 'node:timers/promises'
import { customer, ENDED } from '../e2e/customer.ts'
import type { Access } from '../e2e/program.ts'

export interface StartedRun {
  readonly idempotencyKey: string
  readonly runId: string
}

export interface Customers {
  readonly accepted: readonly StartedRun[]
  /** How often somebody was told that something could not be done, or was told nothing in time. */
  readonly errors: readonly string[]
  /** Starts no more runs, and resolves when all that were accepted have ended, or `withinMs` are over. @returns the open ones, and starts that were never accepted */
  finish(withinMs: number): Promise<readonly string[]>
}

export interface CustomerOptions {
  readonly urls: () => readonly string[]
  readonly access: Access
  readonly random: () => number
  /** Runs that are open at a time. */
  readonly atOnce: number
}

/** A server that does not answer for so long is left. */
const PATIENCE_MS = 3000
const PAUSE_MS = 60

export function openCustomers({ urls, access, random, atOnce }: CustomerOptions): Customers {
  const accepted: StartedRun[] = []
  const ended = new Set<string>()
  /** What a lane was told last, by its number, and starts that nobody ever accepted. */
  const lastErrors = new Map<number, string>()
  const refused: string[] = []
  const errors: string[] = []
  const over = new AbortController()
  const givenUp = new AbortController()

  /** Asks servers in turn until one answers. What was asked before may have been done. */
  async function atAnyServer<T>(
    lane: number,
    ask: (server: ReturnType<typeof customer>) => Promise<T>,
  ): Promise<T | undefined> {
    while (!givenUp.signal.aborted) {
      const all = urls()
      const url = all[Math.floor(random() * all.length)]
      if (url !== undefined) {
        try {
          return await ask(customer({ url }, access, AbortSignal.timeout(PATIENCE_MS)))
        } catch (error) {
          // The next one is asked.
          const message = error instanceof Error ? error.message : String(error)
          lastErrors.set(lane, message)
          errors.push(message)
        }
      }
      await after(PAUSE_MS)
    }
    return undefined
  }

  async function live(lane: number): Promise<void> {
    for (let count = 0; !over.signal.aborted; count++) {
      const idempotencyKey = `lane-${lane}-${count}`
      const runId = await atAnyServer(lane, (server) => server.start(idempotencyKey))
      if (runId === undefined) {
        refused.push(`${idempotencyKey}: ${lastErrors.get(lane)}`)
        return
      }
      accepted.push({ idempotencyKey, runId })
      while (!givenUp.signal.aborted) {
        const run = await atAnyServer(lane, (server) => server.help(runId))
        if (run && ENDED.has(run.status)) break
        await after(PAUSE_MS + random() * PAUSE_MS)
      }
      if (!givenUp.signal.aborted) ended.add(runId)
    }
  }

  const lanes = Promise.all(Array.from({ length: atOnce }, (_, lane) => live(lane)))
  return {
    accepted,
    errors,
    async finish(withinMs) {
      over.abort()
      const timer = setTimeout(() => givenUp.abort(), withinMs)
      await lanes
      clearTimeout(timer)
      return [...refused, ...accepted.flatMap(({ runId }) => (ended.has(runId) ? [] : [runId]))]
    },
  }
}
