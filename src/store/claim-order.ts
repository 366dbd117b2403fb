/**
 * The order in which sessions are claimed. Claimants take turns, so that one with many sessions does not delay the others. The
 * claimant of a session is its trigger, or its agent where an operator started it. Source: docs/design/several-processes.md#turns
 */
import type { SessionLease } from './lease.ts'

export interface ClaimedSession extends SessionLease {
  /** Id of the trigger, or what identifies the agent. */
  readonly claimant: string
  readonly startedAt: number
  readonly n: number
}

/** The first of each claimant, oldest first, then the second of each, and so on. */
export function alternateClaimants(claimed: readonly ClaimedSession[]): readonly SessionLease[] {
  const taken = new Map<string, number>()
  return [...claimed]
    .sort((a, b) => a.startedAt - b.startedAt || a.n - b.n)
    .map(({ sessionId, epoch, claimant }) => {
      const round = taken.get(claimant) ?? 0
      taken.set(claimant, round + 1)
      return { lease: { sessionId, epoch }, round }
    })
    .sort((a, b) => a.round - b.round)
    .map(({ lease }) => lease)
}
