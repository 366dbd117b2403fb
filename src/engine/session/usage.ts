/** Tokens and time that a run has used so far. */
import type { Run } from '../../spec/run.ts'
import type { RunHandle } from './transaction.ts'

/** Tokens of a run and of its descendants. */
export function tokensOf(run: RunHandle): number {
  const { inputTokens, outputTokens } = run.usage
  return run.children().reduce((sum, child) => sum + tokensOf(child), inputTokens + outputTokens)
}

/** Milliseconds since the start in which the run did not wait for a person. */
export function activeMs(run: Run, now: number): number {
  const { waitedMs, heldMs = 0, waitingSince } = run.usage
  return now - run.startedAt - waitedMs - heldMs - (waitingSince === null ? 0 : now - waitingSince)
}
