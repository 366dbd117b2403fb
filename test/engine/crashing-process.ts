/** A process that crashes at given points: at a commit, or when it sends an effect or receives its outcome. */
import type { Store } from '../../src/store/store.ts'

export interface Crash {
  /** Number of the commit or send at which the process crashes, from 1; both are counted together. */
  readonly at: number
  /** True if the commit is durable, or the effect was performed, and only the answer is lost. */
  readonly after: boolean
}

export interface CrashingProcess {
  readonly wrap: (store: Store) => Store
  /** Performs an effect: a call of a tool or a model. A crashed process sends nothing, and receives nothing. */
  send<T>(work: () => T | Promise<T>): Promise<T>
  hasCrashed(): boolean
  restart(): void
  /** Commits and sends so far. */
  steps(): number
}

export function createCrashingProcess(crashes: readonly Crash[]): CrashingProcess {
  let steps = 0
  let crashed = false
  const left = [...crashes].sort((a, b) => a.at - b.at)
  /** Counts a commit or send; returns the crash that happens at it. */
  const countStep = (): Crash | undefined => {
    steps++
    while (left[0] && left[0].at < steps) left.shift()
    const crash = left[0]
    if (crash?.at !== steps) return undefined
    crashed = true
    return crash
  }
  const commit = async <T>(work: () => Promise<T>): Promise<T> => {
    if (crashed) throw new Error('crashed')
    const crash = countStep()
    if (!crash) return work()
    if (crash.after) await work()
    throw new Error('crashes')
  }
  const never = <T>(): Promise<T> => new Promise(() => {})
  return {
    wrap: (store) => ({
      ...store,
      start: (...given) => commit(() => store.start(...given)),
      save: (...given) => commit(() => store.save(...given)),
      setPaused: (...given) => commit(() => store.setPaused(...given)),
    }),
    async send(work) {
      if (crashed) return never()
      const crash = countStep()
      if (crash && !crash.after) return never()
      const answer = await work()
      return crash ? never() : answer
    },
    hasCrashed: () => crashed,
    restart: () => void (crashed = false),
    steps: () => steps,
  }
}
