/**
 * The wait of a run for its client's next call. It needs two rows, and memory only while there is room: nothing is in flight, so no
 * process holds the session. Source: docs/design/gate.md#a-conversation
 */
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { completedState } from './ending.ts'

/** A run whose client calls nothing for so long is completed; its next call begins another run of the same session. */
export const IDLE_END_MS = 3600_000

/** Turns after which a run is completed where its author set no maximum: a run is in memory as a whole while it works. */
const MOST_TURNS = 1000

export function awaitClient(run: RunHandle, wanted: StateAt<'thinking'>): StateAt<'thinking' | 'done'> {
  if (wanted.turn > MOST_TURNS && run.snapshot.limits.max_loop_iterations === undefined) return completedState(null)
  if (wanted.outside !== undefined) return wanted
  run.setTimer('idle', '', run.tx.now + IDLE_END_MS)
  const { paused: _, ...waiting } = wanted
  return { ...waiting, unsent: true, outside: run.tx.now }
}
