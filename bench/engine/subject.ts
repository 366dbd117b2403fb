/** One server process under test, led by its parent: it says where it listens, which runs have ended, and what it has used. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface Ready {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Path of a start, by the number of tools that the run calls, or `waits`. */
  readonly starts: Readonly<Record<string, string>>
}

export interface Used {
  readonly cpuMs: number
  readonly rss: number
  /** Turns saved, and starts. */
  readonly saves: number
  readonly longestStallMs: number
}

/** What a parent asks: use so far (after a collection of garbage, if it likes), or to store more runs like the first of a kind. */
export type Asked = { readonly ask: 'used'; readonly collect: boolean } | ({ readonly ask: 'seed' } & Seed)

export interface Seed {
  readonly like: string
  readonly count: number
}

export interface Told {
  readonly ready?: Ready
  readonly ended?: readonly string[]
  readonly used?: Used
  /** An id of one of the runs that were stored. */
  readonly seeded?: string
}

export interface Subject {
  saved(): void
  ended(run: string): void
  ready(about: Ready): void
}

export function subject(seed?: (about: Seed) => Promise<string>): Subject {
  let saves = 0
  let ended: string[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const tell = (told: Told): void => void process.send!(told)
  process.on('message', (asked: Asked) => {
    if (asked.ask === 'seed') return void seed!(asked).then((seeded) => tell({ seeded }))
    if (asked.ask !== 'used') return
    if (asked.collect) globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    tell({
      used: {
        cpuMs: (user + system) / 1000,
        rss: process.memoryUsage.rss(),
        saves,
        longestStallMs: delay.max / 1e6,
      },
    })
    delay.reset()
    // Watching costs two hundredths of a processor, so what is idle is not watched.
    if (asked.collect) delay.disable()
    else delay.enable()
  })
  process.on('disconnect', () => process.exit(0))
  return {
    saved: () => void saves++,
    ended(run) {
      if (ended.push(run) > 1) return
      setImmediate(() => {
        tell({ ended })
        ended = []
      })
    },
    ready: (about) => tell({ ready: about }),
  }
}
