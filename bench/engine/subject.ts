/** One server process under test, led by its parent: it says where it listens, which runs have ended, and what it has used. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface Ready {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Path of a start, by the number of tools that the run calls. */
  readonly starts: Readonly<Record<string, string>>
}

export interface Used {
  readonly cpuMs: number
  readonly rss: number
  readonly heap: number
  /** Turns saved, and starts. */
  readonly saves: number
  readonly longestStallMs: number
}

export interface Subject {
  saved(): void
  ended(run: string): void
  ready(about: Ready): void
}

export function subject(): Subject {
  let saves = 0
  let ended: string[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('message', (message: 'used' | 'collect') => {
    if (message === 'collect') globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const used: Used = {
      cpuMs: (user + system) / 1000,
      rss,
      heap: heapUsed,
      saves,
      longestStallMs: delay.max / 1e6,
    }
    delay.reset()
    process.send!({ used })
  })
  process.on('disconnect', () => process.exit(0))
  return {
    saved: () => void saves++,
    ended(run) {
      if (ended.push(run) > 1) return
      setImmediate(() => {
        process.send!({ ended })
        ended = []
      })
    },
    ready: (about) => void process.send!({ ready: about }),
  }
}
