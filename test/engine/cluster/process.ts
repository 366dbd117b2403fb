/** A virtual process of a cluster: it crashes and freezes, its requests to the store are slow, and their replies get lost. */
import type { Clock } from '../../../src/base/clock.ts'
import type { SessionId } from '../../../src/base/ids.ts'
import type { SessionHint } from '../../../src/store/lease.ts'
import type { Store } from '../../../src/store/store.ts'
import type { World } from './world.ts'

export interface VirtualProcess {
  readonly name: string
  readonly store: Store
  /** Its own clock, which may be wrong. */
  readonly clock: Clock
  /** Sets its clock: how far it is ahead of the store's from now on. */
  setClock(aheadMs: number): void
  /** Asks the store for its time. */
  storeTime(): Promise<number>
  /** Waits while the process is frozen, and for ever once it has crashed. */
  pass(): Promise<void>
  isAwake(): boolean
  isUp(): boolean
  /** True once it has asked the store far more than a history takes, as a loop does that waits for nothing. */
  isEndless(): boolean
  /** @param isSuspended its monotonic clock stands still meanwhile, as where the whole machine sleeps */
  freeze(isSuspended?: boolean): void
  thaw(): void
  crash(): void
  hint(hint: SessionHint): void
}

export interface Faults {
  /** How often a request is slow, and how often the reply of a write gets lost. */
  slow: number
  lostReply: number
  lostHint: number
}

/** Writes whose reply may get lost. */
const WRITES: ReadonlySet<PropertyKey> = new Set(['start', 'save', 'claim', 'claimOne', 'renew', 'release'])

/** A process asks the store a few hundred times in a history. */
const MOST_REQUESTS = 20_000

/** @param tellOthers passes a hint to the other processes */
export function createProcess(
  name: string,
  world: World,
  shared: Store,
  faults: Faults,
  tellOthers: (from: VirtualProcess, sessions: readonly SessionId[]) => void,
): VirtualProcess {
  let state: 'up' | 'frozen' | 'down' = 'up'
  let waiting: (() => void)[] = []
  let hints: SessionHint[] = []
  let wakeHints: (() => void) | undefined
  let asked = 0
  let aheadMs = 0
  /** For how long it was suspended, and since when it is. */
  let suspendedMs = 0
  let suspendedSince: number | undefined
  const { chance } = world

  async function pass(): Promise<void> {
    if (state === 'up') return
    if (state === 'down') return new Promise(() => {})
    await new Promise<void>((resolve) => waiting.push(resolve))
    return pass()
  }

  async function request(method: PropertyKey, work: () => unknown): Promise<unknown> {
    // Time would stand still, and no test could end it.
    if (++asked > MOST_REQUESTS) throw new Error('The store was asked without end.')
    await pass()
    if (chance.often(faults.slow)) await world.after(chance.int(1, 4))
    await pass()
    // What has left for the store is done there, whatever becomes of the process meanwhile.
    const value: unknown = await work()
    if (chance.often(faults.slow)) await world.after(chance.int(1, 4))
    await pass()
    if (WRITES.has(method) && chance.often(faults.lostReply)) throw new Error('The connection broke.')
    return value
  }

  async function* followHints(signal: AbortSignal): AsyncGenerator<SessionHint> {
    while (!signal.aborted) {
      await pass()
      const next = hints.shift()
      if (next) yield next
      else await new Promise<void>((resolve) => (wakeHints = resolve))
    }
  }

  const store = new Proxy(shared, {
    get(target, method) {
      const found = Reflect.get(target, method) as unknown
      if (typeof found !== 'function') return found
      if (method === 'hints') return followHints
      // No history restores a backup, so a process asks once and learns nothing: it draws no chance.
      if (method === 'lastRestore') return async () => undefined
      return (...given: unknown[]) =>
        request(method, async () => {
          const value: unknown = await found.apply(target, given)
          if (method === 'save' && value === undefined) tellOthers(self, [(given[0] as Update).session.id])
          if (method === 'release') tellOthers(self, (given[1] as readonly { sessionId: SessionId }[]).map(idOf))
          return value
        })
    },
  })

  const self: VirtualProcess = {
    name,
    store,
    clock: {
      now: () => world.now() + aheadMs,
      monotonic: () => (suspendedSince ?? world.now()) - suspendedMs,
    },
    setClock: (ms) => void (aheadMs = ms),
    storeTime: () => request('time', () => world.now()) as Promise<number>,
    pass,
    isAwake: () => state === 'up',
    isUp: () => state !== 'down',
    isEndless: () => asked > MOST_REQUESTS,
    freeze(isSuspended = false) {
      if (state !== 'up') return
      state = 'frozen'
      if (isSuspended) suspendedSince = world.now()
    },
    thaw() {
      if (state !== 'frozen') return
      state = 'up'
      if (suspendedSince !== undefined) suspendedMs += world.now() - suspendedSince
      suspendedSince = undefined
      for (const wake of waiting.splice(0)) wake()
    },
    crash() {
      state = 'down'
      waiting = []
      hints = []
    },
    hint(hint) {
      if (state === 'down' || chance.often(faults.lostHint)) return
      hints.push(hint)
      wakeHints?.()
    },
  }
  return self
}

interface Update {
  readonly session: { readonly id: SessionId }
}

const idOf = ({ sessionId }: { readonly sessionId: SessionId }): SessionId => sessionId
