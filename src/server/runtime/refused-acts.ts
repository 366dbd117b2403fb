/**
 * Records acts that the server refused. Whoever is refused must not fill the disk: the first refusal is recorded at once, equal ones
 * within a minute by one more record that counts them, and beyond a number of records an hour all that are left by one.
 * Source: docs/design/audit.md#refusals
 */
import type { Log } from '../../base/log.ts'
import { systemTimers, type QueueTimers } from '../../queue/timers.ts'
import type { NewAct } from '../../spec/people/act.ts'
import type { ActStore } from '../../store/act-store.ts'

const MINUTE_MS = 60_000
/** Records an hour, before refusals are only counted. */
const MOST_AN_HOUR = 120
/** Different refusals that are counted at once. */
const MOST_AT_ONCE = 1000

export interface RefusedActs {
  /** Never rejects: a refusal is answered, whether it can be recorded or not. */
  record(act: NewAct): Promise<void>
  /** Records what was only counted until now. */
  close(): Promise<void>
}

interface RefusedActsParts {
  readonly store: Pick<ActStore, 'addAct'>
  readonly log: Log
  readonly timers?: QueueTimers
}

export function createRefusedActs({ store, log, timers = systemTimers }: RefusedActsParts): RefusedActs {
  /** Repetitions of this minute, by what makes two refusals equal. */
  let repeated = new Map<string, { readonly act: NewAct; readonly counted: number }>()
  let [hour, recorded] = [-1, 0]
  let timer: unknown

  const add = (act: NewAct): Promise<void> =>
    store
      .addAct(act)
      .catch((error: unknown) => log.write('warn', 'a refused act could not be recorded', { detail: String(error) }))

  /** @param first what the first one counts: 0 where it has a record of its own */
  const count = (key: string, act: NewAct, first = 0): void => {
    const known = repeated.get(key)
    repeated.set(key, { act, counted: known ? known.counted + 1 : first })
    timer ??= timers.set(() => void flush(), MINUTE_MS)
  }

  async function flush(): Promise<void> {
    timers.clear(timer)
    timer = undefined
    const ended = repeated
    repeated = new Map()
    for (const { act, counted } of ended.values()) if (counted > 0) await add({ ...act, counted })
  }

  return {
    async record(act) {
      const now = Math.floor(act.at / (60 * MINUTE_MS))
      if (now !== hour) [hour, recorded] = [now, 0]
      const key = JSON.stringify([act.kind, act.by, act.channel, act.address, act.subject, act.refused])
      if (repeated.has(key)) return count(key, act)
      if (recorded >= MOST_AN_HOUR || repeated.size >= MOST_AT_ONCE) return count(OTHERS, { ...act, ...OF_MANY }, 1)
      recorded++
      count(key, act)
      await add(act)
    },
    close: flush,
  }
}

const OTHERS = 'others'
const OF_MANY = {
  by: 'unknown:',
  keyId: null,
  address: null,
  subject: 'of many',
  sessionId: null,
  runId: null,
} as const
