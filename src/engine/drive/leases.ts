/**
 * The leases that this process holds: for which sessions it may perform effects, and until when. Times are measured from before
 * a request to the store was sent, so a lease never seems longer here than it is there.
 * Source: docs/design/several-processes.md#lease-and-epoch
 */
import type { StoreClock } from '../../base/clock.ts'
import type { SessionId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { systemTimers, type QueueTimers } from '../../queue/timers.ts'
import {
  DEFAULT_LEASE_TIMES,
  type LeaseHolder,
  type LeaseTimes,
  type SessionLease,
  type WorkerId,
} from '../../store/lease.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { ClusterStore } from '../../store/cluster-store.ts'

/** Sessions claimed with one statement. */
const CLAIMED_AT_ONCE = 100

/** Small corrections of the wall clock are less than the margin of a lease. */
const SET_BACK_MS = 1000

/** A process that lags claims one session per this time, so that none waits for ever when every process lags. */
const CLAIM_WHILE_BEHIND_MS = 10_000

export interface LeaseEvents {
  /** The session was claimed by `claimAll` or found to be ours: its work is to be continued. */
  claimed(id: SessionId): void
  /** Another process has the session, or has changed it. */
  changed(id: SessionId): void
}

export interface SessionLeases {
  /** Epoch of the lease of a session; undefined where this process has none. */
  epochOf(id: SessionId): number | undefined
  /** Sessions of which this process has the lease. */
  all(): readonly SessionId[]
  count(): number
  /** For a save: by the holder of the lease of this epoch, or by a worker that takes the session. */
  holderOf(epoch: number | undefined): LeaseHolder
  /** Records a lease that the store gave. @param askedAt from `now`, before the store was asked */
  keep(lease: SessionLease, askedAt: LeaseStart): void
  /** A session was read or saved, and has this version. */
  sawVersion(id: SessionId, version: number): void
  /** Forgets the lease of this epoch, but not one taken since. */
  drop(id: SessionId, epoch: number | undefined): void
  /** False once this process is to claim no more, and while its clock differs from that of the store. */
  mayClaim(): boolean
  /** False while this process holds its maximum, or lags, and so leaves free sessions to others. */
  hasRoom(): boolean
  /** Takes a session with work in flight that nobody holds. */
  claimOne(id: SessionId): Promise<boolean>
  /** Takes all that can be taken and that this process has room for, and resolves with their number. */
  claimAll(): Promise<number>
  /** True while an effect of the lease of this epoch may leave. */
  mayLeave(id: SessionId, epoch: number): boolean
  now(): LeaseStart
  /** Stops claiming; sessions that a claim under way still gets are given back. */
  claimNoMore(): void
  /** Gives the lease of a session back, so that another process goes on with it at once. */
  giveBack(id: SessionId): void
  /** Stops renewing, and gives back every lease except those of sessions for which `isKept` is true. */
  close(isKept: (id: SessionId) => boolean): Promise<void>
}

/** The moment from which a lease lasts. The wall clock counts the time for which the machine was suspended. */
export interface LeaseStart {
  readonly monotonic: number
  readonly wall: number
}

interface HeldLease {
  readonly epoch: number
  readonly since: LeaseStart
  readonly version: number | undefined
}

export interface LeaseParts {
  readonly store: ClusterStore
  readonly clock: StoreClock
  readonly log: Log
  readonly worker: WorkerId
  readonly leaseTimes?: LeaseTimes
  readonly maxClaimed?: number
  readonly isBehind?: () => boolean
  readonly timers?: QueueTimers
}

export function createLeases(
  {
    store,
    clock,
    log,
    worker,
    leaseTimes = DEFAULT_LEASE_TIMES,
    maxClaimed = Infinity,
    isBehind = () => false,
    timers = systemTimers,
  }: LeaseParts,
  events: LeaseEvents,
): SessionLeases {
  const { ttlMs, marginMs } = leaseTimes
  const held = new Map<SessionId, HeldLease>()
  /** Leases that only the store knows of, as after a lost reply; seen in two renewals, none is still on its way to us. */
  let strangers = new Map<SessionId, number>()
  let timer: unknown
  let closed = false
  let claims = true
  /** Monotonic. */
  let claimedAt = -Infinity
  /** Leases that wait to be given back: those that gather meanwhile share a statement. */
  let returned: SessionLease[] = []
  let returning: Promise<void> | undefined

  const now = (): LeaseStart => ({ monotonic: clock.monotonic(), wall: clock.wall() })

  const mayClaim = (): boolean => claims && clock.mayDecide()

  function scheduleRenewal(): void {
    if (timer !== undefined || closed) return
    timer = timers.set(() => {
      timer = undefined
      if (held.size > 0 || strangers.size > 0) void renewAll().finally(scheduleRenewal)
    }, ttlMs / 3)
  }

  async function renewAll(): Promise<void> {
    const before = new Map(held)
    const since = now()
    try {
      const renewed = await store.renew(worker, ttlMs)
      if (closed) return
      const unknown = new Map<SessionId, number>()
      for (const { sessionId, epoch, version } of renewed) {
        const lease = held.get(sessionId)
        if (lease?.epoch === epoch) {
          held.set(sessionId, { epoch, since, version: lease.version })
          if (lease.version !== undefined && version > lease.version) events.changed(sessionId)
        } else if (!lease && strangers.get(sessionId) === epoch) {
          held.set(sessionId, { epoch, since, version: undefined })
          events.claimed(sessionId)
        } else if (!lease) unknown.set(sessionId, epoch)
      }
      strangers = unknown
      const found = new Set(renewed.map(({ sessionId }) => sessionId))
      for (const [id, lease] of before) {
        if (found.has(id) || held.get(id)?.epoch !== lease.epoch) continue
        held.delete(id)
        events.changed(id)
      }
    } catch (error) {
      // No effect leaves once the leases have expired; outcomes of those in flight are stored when the store is back.
      if (!isStoreAway(error))
        log.write('warn', 'The leases could not be renewed.', { sessions: held.size, error: String(error) })
    }
  }

  function keep({ sessionId, epoch }: SessionLease, since: LeaseStart): void {
    held.set(sessionId, { epoch, since, version: undefined })
    scheduleRenewal()
  }

  function giveBack(id: SessionId): void {
    const lease = held.get(id)
    if (!lease) return
    held.delete(id)
    returned.push({ sessionId: id, epoch: lease.epoch })
    returning ??= returnAll()
  }

  async function returnAll(): Promise<void> {
    await Promise.resolve()
    while (returned.length > 0) {
      const given = returned
      returned = []
      // A lease whose return does not reach the store ends by time.
      await store.release(worker, given).catch(() => {})
    }
    returning = undefined
  }

  /** How many sessions this process may claim now. */
  function roomForClaims(): number {
    if (!mayClaim()) return 0
    const room = Math.max(0, maxClaimed - held.size)
    if (!isBehind()) return room
    return clock.monotonic() - claimedAt < CLAIM_WHILE_BEHIND_MS ? 0 : Math.min(1, room)
  }

  return {
    now,
    mayClaim,
    keep,
    giveBack,
    claimNoMore: () => void (claims = false),
    all: () => [...held.keys()],
    count: () => held.size,
    epochOf: (id) => held.get(id)?.epoch,
    holderOf: (epoch) => ({ worker, ttlMs, ...(epoch !== undefined && { epoch }) }),
    sawVersion(id, version) {
      const lease = held.get(id)
      if (lease) held.set(id, { ...lease, version })
    },
    drop(id, epoch) {
      if (epoch !== undefined && held.get(id)?.epoch === epoch) held.delete(id)
    },
    hasRoom: () => roomForClaims() > 0,
    async claimOne(id) {
      if (!clock.mayDecide()) return false
      const since = now()
      const lease = await store.claimOne(worker, id, ttlMs)
      if (lease) {
        keep(lease, since)
        claimedAt = clock.monotonic()
      }
      if (!claims) giveBack(id)
      return lease !== undefined && claims
    },
    async claimAll() {
      for (let count = 0; ;) {
        const most = Math.min(CLAIMED_AT_ONCE, roomForClaims())
        if (most === 0) return count
        const since = now()
        const claimed = await store.claim(worker, most, ttlMs)
        if (claimed.length === 0) return count
        claimedAt = clock.monotonic()
        for (const lease of claimed) {
          keep(lease, since)
          if (!claims) giveBack(lease.sessionId)
          else events.claimed(lease.sessionId)
        }
        count += claimed.length
      }
    },
    mayLeave(id, epoch) {
      const lease = held.get(id)
      if (lease?.epoch !== epoch) return false
      const wallMs = clock.wall() - lease.since.wall
      // A clock that was set back does not show for how long the machine was suspended since.
      if (wallMs < -SET_BACK_MS) return false
      return Math.max(clock.monotonic() - lease.since.monotonic, wallMs) < ttlMs - marginMs
    },
    async close(isKept) {
      closed = true
      timers.clear(timer)
      for (const id of held.keys()) if (!isKept(id)) giveBack(id)
      held.clear()
      await returning
    },
  }
}
