/** Leases: which process may perform the effects of a session, and until when. Source: docs/design/several-processes.md#lease-and-epoch */
import type { SessionId } from '../base/ids.ts'

/** Identifies one start of a process; never used again by another. */
export type WorkerId = string

/** `epoch` grows with every change of holder, so an earlier holder cannot pass for the present one. */
export interface SessionLease {
  readonly sessionId: SessionId
  readonly epoch: number
}

/** A lease that was renewed, and the version of its session, which shows changes by other processes. */
export interface RenewedLease extends SessionLease {
  readonly version: number
}

/** A session with work in flight that nobody holds, or whose holder's lease is over. */
export interface WaitingSession {
  readonly sessionId: SessionId
  /** How long its lease has been over; 0 without a lease, because the time of its release is not stored. */
  readonly overForMs: number
}

/** The worker that saves a session: it holds the lease, or takes it with the save. */
export interface LeaseHolder {
  readonly worker: WorkerId
  readonly ttlMs: number
  /** Epoch of the lease that the worker holds; absent if it takes a free session. */
  readonly epoch?: number
}

/** Epoch of the lease that a start gives. */
export const FIRST_EPOCH = 1

/** Sessions that another process changed; `all` where they are too many to be named. Hints may get lost. */
export type SessionHint =
  | {
      readonly sessions: readonly SessionId[]
      /** They have work in flight and no holder: the first process takes them. */
      readonly isFree: boolean
    }
  | 'all'

export interface LeaseTimes {
  /** How long a lease lasts unless it is renewed, which happens three times in it. */
  readonly ttlMs: number
  /** An effect leaves only this long before the lease ends: it takes time to arrive. */
  readonly marginMs: number
  /** Interval of checks for sessions that another process left behind; absent if there can be no other process. */
  readonly claimEveryMs?: number
}

/** Source: docs/design/several-processes.md#lease-and-epoch */
export const DEFAULT_LEASE_TIMES: LeaseTimes = { ttlMs: 15_000, marginMs: 3000 }
