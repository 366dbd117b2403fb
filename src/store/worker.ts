/** The server processes of one store. Source: docs/design/several-processes.md#life-of-a-process */
import type { Instant } from '../base/clock.ts'
import type { ListenerReport } from '../base/net/own-listeners.ts'
import type { WorkerId } from './lease.ts'

/** A process, as it reports itself. */
export interface WorkerReport extends ListenerReport {
  readonly id: WorkerId
  /** Version of svc. */
  readonly version: string
  readonly startedAt: Instant
  /** Where clients reach it. */
  readonly url: string | null
  /** Where the other processes reach it; null where it has no internal listener. */
  readonly peerUrl: string | null
  /** The process hands over its sessions and ends. */
  readonly isDraining: boolean
}

export interface WorkerRow extends WorkerReport {
  readonly seenAt: Instant
  /** Whether an operator asked it to drain. */
  readonly isAsked: boolean
  /** Sessions of which it has the lease. */
  readonly leases: number
}

/** What a process learns from its report. */
export interface WorkerNews {
  /** Whether an operator asked it to drain. */
  readonly isAsked: boolean
  /** Whether it is the oldest of those that serve: the one that runs the background jobs of the store. */
  readonly isFirst: boolean
  /** Where the other processes listen, also one that was silent for a while. */
  readonly others: ListenerReport
}

/** The listeners of all processes but one. */
export const joinListeners = (all: readonly WorkerReport[], but: WorkerId): ListenerReport => {
  const others = all.filter(({ id }) => id !== but)
  return {
    ports: [...new Set(others.flatMap(({ ports }) => ports))].sort((a, b) => a - b),
    addresses: [...new Set(others.flatMap(({ addresses }) => addresses))].sort(),
  }
}

/** Whether a process is the oldest of those that serve. @param all as they last reported */
export const isFirstOf = (
  all: readonly Omit<WorkerRow, 'leases'>[],
  { id, startedAt, isDraining }: WorkerReport,
  now: Instant,
): boolean =>
  !isDraining &&
  !all.some(
    (other) =>
      !other.isDraining &&
      other.seenAt > now - SILENT_WORKER_MS &&
      (other.startedAt < startedAt || (other.startedAt === startedAt && other.id < id)),
  )

/** How often a process reports. */
export const REPORT_EVERY_MS = 1000
/** A process that was not seen for this time is forgotten, unless it holds leases. */
export const FORGET_WORKER_MS = 600_000
/** A process that was not seen for this time counts as not serving, and another one runs the background jobs. */
export const SILENT_WORKER_MS = 15_000
