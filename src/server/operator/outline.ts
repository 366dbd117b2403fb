/**
 * The steps of a run and its sub-agent runs as rows without their content, for a timeline; and one step whole.
 * Source: docs/design/console.md#timeline
 */
import { giveWay, startWork } from '../../base/event-loop.ts'
import { isoOrNull, toIsoText, type Instant } from '../../base/clock.ts'
import type { RunId } from '../../base/ids.ts'
import type { OutlineRow, OutlineRun, RunBudget } from '../../operations/runs.ts'
import type { Run } from '../../spec/run/run.ts'
import type { RunStep } from '../../spec/step.ts'
import { summarizeStep } from '../../view/step-summary.ts'
import { toTimelineItem } from '../../view/timeline-item.ts'
import type { OperatorAction } from './people/act.ts'
import { findRun, notFoundFailure } from './find/find.ts'
import { activeMs } from '../../engine/transaction/usage.ts'
import { withWaitEnded } from '../../engine/transaction/waits.ts'
import { intactVersion } from '../../store/altered-versions.ts'
import type { AgentLimits } from '../../spec/document.ts'

/** Steps read per query: what is in memory at once. */
const PAGE = 500
/** Rows of one answer; the next begins after the last of them. */
const MAX_ROWS = 20_000

export const getOutline: OperatorAction<'GET /runs/:id/outline'> = async ({ services, id, query }) => {
  const { store } = services
  const run = await findRun(services, id)
  // Before the steps: the stream then misses nothing behind it.
  const lastEvent = (await store.session(run.sessionId))?.lastSeq ?? 0
  const runs = subtreeOf(run, await store.treesOf(run.sessionId, [run.id]))
  const numbers = new Map(runs.map((each, index) => [each.id, index]))
  const rows: OutlineRow[] = []
  let after = query.after ?? 0
  let hasMore = true
  const most = query.take ?? MAX_ROWS
  while (hasMore && rows.length < most) {
    const tookLong = startWork()
    const steps = await store.stepsOfRuns(run.sessionId, [...numbers.keys()], after, PAGE)
    for (const step of steps) {
      const number = numbers.get(step.runId)
      if (number !== undefined) rows.push(toRow(step, number))
    }
    after = steps.at(-1)?.ordinal ?? after
    hasMore = steps.length === PAGE
    if (tookLong()) await giveWay()
  }
  const limits = (await intactVersion(store, run.agentVersionId))?.snapshot.limits ?? {}
  const budgets = listBudgets(run, runs, limits, services.clock.now())
  const outline = { runId: run.id, sessionId: run.sessionId, runs: runs.map(toOutlineRun), budgets, rows }
  return { ...outline, after, hasMore, lastEvent }
}

export const getStep: OperatorAction<'GET /runs/:id/step'> = async ({ services, id, query }) => {
  const { store } = services
  const run = await findRun(services, id)
  const [step] = await store.stepsAfter(run.sessionId, query.ordinal - 1, 1)
  const owner = step?.ordinal === query.ordinal ? await store.run(step.runId) : undefined
  if (!step || !owner) throw notFoundFailure('step')
  return toTimelineItem(step, owner)
}

/** The run and those below it, each after its parent. */
export function subtreeOf(root: Run, all: readonly Run[]): readonly Run[] {
  const inside = new Set<RunId>([root.id])
  for (const run of all.toSorted((a, b) => a.depth - b.depth))
    if (run.parentRunId !== null && inside.has(run.parentRunId)) inside.add(run.id)
  return all.filter(({ id }) => inside.has(id))
}

function toRow({ ordinal, type, content, startedAt, finishedAt, tokensUsed, error }: RunStep, run: number): OutlineRow {
  const call = content['tool_call_id']
  return [
    ordinal,
    run,
    type,
    summarizeStep(type, content, error),
    startedAt,
    finishedAt,
    tokensUsed,
    typeof call === 'string' ? call : null,
    error === null && content['is_error'] !== true ? 0 : 1,
  ]
}

const toOutlineRun = (run: Run): OutlineRun => ({
  runId: run.id,
  parentRunId: run.parentRunId,
  parentCallId: run.parentCallId,
  depth: run.depth,
  agent: run.agentName,
  versionLabel: run.versionLabel,
  status: run.status,
  startedAt: toIsoText(run.startedAt),
  finishedAt: isoOrNull(run.finishedAt),
  totalTokensUsed: run.usage.inputTokens + run.usage.outputTokens,
  ...(run.usage.cost && { cost: run.usage.cost }),
})

/** @param tree the run and its descendants, whose tokens count too */
function listBudgets(run: Run, tree: readonly Run[], limits: AgentLimits, now: Instant): readonly RunBudget[] {
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
