/** A process that dies where it is told to: at a commit, or as something leaves it or comes back. */
import type { Store } from '../../src/store/store.ts'

export interface Crash {
  /** The border at which the process dies, from 1: commits and sends are counted together. */
  readonly at: number
  /** True when the commit is durable, or the sent thing done, and only its answer is lost. */
  readonly after: boolean
}

export interface Mortal {
  readonly wrap: (store: Store) => Store
  /** Something that leaves the process: a call of a tool or a model. Of a dead process nothing leaves, and nothing comes back. */
  send<T>(work: () => T | Promise<T>): Promise<T>
  isDead(): boolean
  revive(): void
  /** Borders passed so far. */
  borders(): number
}

export function mortal(crashes: readonly Crash[]): Mortal {
  let borders = 0
  let dead = false
  const left = [...crashes].sort((a, b) => a.at - b.at)
  /** True when the process dies at this border. */
  const dies = (): Crash | undefined => {
    borders++
    while (left[0] && left[0].at < borders) left.shift()
    const crash = left[0]
    if (crash?.at !== borders) return undefined
    dead = true
    return crash
  }
  const commit = async <T>(work: () => Promise<T>): Promise<T> => {
    if (dead) throw new Error('dead')
    const crash = dies()
    if (!crash) return work()
    if (crash.after) await work()
    throw new Error('dies')
  }
  const never = <T>(): Promise<T> => new Promise(() => {})
  return {
    wrap: (store) => ({
      ...store,
      start: (...given) => commit(() => store.start(...given)),
      save: (turn) => commit(() => store.save(turn)),
    }),
    async send(work) {
      if (dead) return never()
      const crash = dies()
      if (crash && !crash.after) return never()
      const answer = await work()
      return crash ? never() : answer
    },
    isDead: () => dead,
    revive: () => void (dead = false),
    borders: () => borders,
  }
}
