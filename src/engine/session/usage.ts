/** Tokens and time that a run has used so far. */
import type { RunId } from '../../base/ids.ts'
import type { Run } from '../../spec/run.ts'
import type { SessionTransaction } from './transaction.ts'

/** Tokens of a run and of its descendants. */
export function tokensOf(tx: SessionTransaction, id: RunId): number {
  const { inputTokens, outputTokens } = tx.run(id).usage
  return tx.childrenOf(id).reduce((sum, child) => sum + tokensOf(tx, child.id), inputTokens + outputTokens)
}

/** Milliseconds since the start in which the run did not wait for a person. */
export function activeMs(run: Run, now: number): number {
  const { waitedMs, heldMs = 0, waitingSince } = run.usage
  return now - run.startedAt - waitedMs - heldMs - (waitingSince === null ? 0 : now - waitingSince)
}
