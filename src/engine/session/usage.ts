/** What a run has used so far. */
import type { RunId } from '../../base/ids.ts'
import type { Run } from '../../spec/run.ts'
import type { SessionTransaction } from './transaction.ts'

/** Tokens of a run and of its descendants. */
export function tokensOf(draft: SessionTransaction, id: RunId): number {
  const { inputTokens, outputTokens } = draft.run(id).usage
  return draft.childrenOf(id).reduce((sum, child) => sum + tokensOf(draft, child.id), inputTokens + outputTokens)
}

/** Milliseconds since the start in which the run did not wait for a person. */
export function activeMs(run: Run, now: number): number {
  const { waitedMs, heldMs = 0, waitingSince } = run.usage
  return now - run.startedAt - waitedMs - heldMs - (waitingSince === null ? 0 : now - waitingSince)
}
