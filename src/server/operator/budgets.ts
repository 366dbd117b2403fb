/** How much of its limits a run has used. Source: docs/design/console.md#screens */
import type { Instant } from '../../base/clock.ts'
import { activeMs } from '../../engine/transaction/usage.ts'
import { withWaitEnded } from '../../engine/transaction/waits.ts'
import type { RunBudget } from '../../operations/runs.ts'
import type { Run } from '../../spec/run.ts'
import type { AgentLimits } from '../../spec/document.ts'

/** @param tree the run and its descendants, whose tokens count too */
export function listBudgets(run: Run, tree: readonly Run[], limits: AgentLimits, now: Instant): readonly RunBudget[] {
  const at = run.finishedAt ?? now
  const used: Readonly<Record<RunBudget['limit'], number>> = {
    max_tokens_per_run: tree.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
    max_loop_iterations: run.usage.iterations,
    max_wall_clock_seconds: Math.round(activeMs(run, at) / 1000),
    max_hitl_wait_minutes: Math.round(withWaitEnded(run.usage, at).waitedMs / 60_000),
  }
  return (Object.keys(used) as RunBudget['limit'][]).flatMap((limit) => {
    const set = limits[limit]
    return set === undefined ? [] : [{ limit, used: used[limit], most: set * (1 + (run.usage.grants[limit] ?? 0)) }]
  })
}
