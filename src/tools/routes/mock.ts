import { setTimeout as after } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import { parseDuration } from '../../base/duration.ts'
import { containsJson } from '../../base/json/json.ts'
import type { MockResult } from '../../spec/project/config.ts'
import { failedOutcome, returnedOutcome } from '../outcome.ts'
import type { ToolInvocation, ToolOutcome } from '../tool.ts'

/** Answers a call with the first canned result whose `when` matches the arguments. */
export async function answerMock(
  canned: readonly MockResult[],
  clock: Clock,
  invocation: ToolInvocation,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const started = clock.monotonic()
  const chosen = canned.find(({ when }) => when === undefined || containsJson(invocation.arguments, when))
  if (!chosen) return returnedOutcome(`No canned result of ${invocation.tool.id} matches these arguments.`, true, 0)
  try {
    const delay = chosen.delay === undefined ? 0 : (parseDuration(chosen.delay) ?? 0)
    if (delay > 0) await after(delay, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
    return { at: 'not_sent', code: 'cancelled', error: 'The run was cancelled before the call.' }
  }
  const took = clock.monotonic() - started
  return chosen.error === undefined
    ? returnedOutcome(chosen.result ?? null, false, took)
    : failedOutcome(chosen.error, took, chosen.not_executed === true)
}
