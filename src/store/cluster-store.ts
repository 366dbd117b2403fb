/** Which process has which session, and the processes of a store. Source: docs/design/several-processes.md#lease-and-epoch */
import type { SessionId } from '../base/ids.ts'
import type { RenewedLease, SessionHint, SessionLease, WaitingSession, WorkerId } from './lease.ts'
import type { WorkerNews, WorkerReport, WorkerRow } from './worker.ts'

export interface ClusterStore {
  // Leases
  /**
   * Takes sessions with work in flight that nobody holds and no restore does, at most `most`: of each trigger in turn the oldest.
   * There may be more where it takes fewer; there are none where it takes none.
   */
  claim(worker: WorkerId, most: number, ttlMs: number): Promise<readonly SessionLease[]>
  /** Sessions that `claim` would find, at most `most`. */
  waitingSessions(most: number): Promise<readonly WaitingSession[]>
  /** Takes this session under the same conditions, or if the worker itself holds it, which raises the epoch. */
  claimOne(worker: WorkerId, id: SessionId, ttlMs: number): Promise<SessionLease | undefined>
  /** Prolongs every lease of the worker. A lease that is not in the answer is lost. */
  renew(worker: WorkerId, ttlMs: number): Promise<readonly RenewedLease[]>
  /** Gives leases back; those that were lost are ignored. */
  release(worker: WorkerId, leases: readonly SessionLease[]): Promise<void>
  /** Changes by other processes, until the signal aborts. */
  hints(signal: AbortSignal): AsyncIterable<SessionHint>

  // Server processes
  /** Records that a process serves now. */
  report(worker: WorkerReport): Promise<WorkerNews>
  /** Oldest start first: those that reported lately, and those that hold leases. */
  workers(): Promise<readonly WorkerRow[]>
  /** Asks a process to drain, which its next report tells it. @throws Failure `not_found` */
  askToDrain(id: WorkerId): Promise<void>
  /** A process has ended. */
  forgetWorker(id: WorkerId): Promise<void>
}

export type WorkerMethods = Pick<ClusterStore, 'report' | 'workers' | 'askToDrain' | 'forgetWorker'>
