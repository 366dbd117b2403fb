/** How runs ended, and how long they waited for people. Source: docs/design/console.md#routes */
import { setImmediate } from 'node:timers/promises'
import { toIsoText } from '../../base/clock.ts'
import { withWaitEnded } from '../../engine/transaction/waits.ts'
import type { RunOutcomes } from '../../operations/insight.ts'
import { isTerminal, type Run } from '../../spec/run/run.ts'
import type { OperatorAction } from './people/act.ts'
import { findAgent } from './find/find.ts'
import { parseSince } from './runs.ts'

const DEFAULT_SPAN_MS = 30 * 86_400_000

/** Runs that one answer counts, the newest first. */
const MOST_RUNS = 5000

/** Runs read at once: nobody else has a turn meanwhile. */
const PAGE = 250

export const listOutcomes: OperatorAction<'GET /outcomes'> = async ({ services, query, call }) => {
  const { store, workspace, clock } = services
  const now = clock.now()
  const since = query.since === undefined ? now - DEFAULT_SPAN_MS : parseSince(query.since)
  const agentId = query.agent === undefined ? undefined : (await findAgent(services, query.agent)).id
  const filter = { workspaceId: workspace.id, since, ...(agentId && { agentId }) }
  const runs: Run[] = []
  let total = 0
  for (let skip = 0; skip < MOST_RUNS; skip += PAGE) {
    const page = await store.runs(filter, { skip, take: PAGE })
    runs.push(...page.items)
    total = page.total
    if (page.items.length < PAGE) break
    await setImmediate()
    call.request.signal.throwIfAborted()
  }
  const groups = groupRuns(runs, (run) => `${run.agentName}@${run.versionLabel}`)
  const items = [...groups.values()].map((each) => toOutcomes(each, now)).sort((a, b) => b.runs - a.runs)
  const oldest = runs.at(-1)
  return {
    items,
    total: items.length,
    counted: runs.length,
    ...(oldest && total > runs.length && { countedSince: toIsoText(oldest.startedAt) }),
  }
}

function toOutcomes(runs: readonly Run[], now: number): RunOutcomes {
  const { agentName: agent, versionLabel: version } = runs[0]!
  const failed = runs.filter(({ status }) => status === 'Failed')
  const failures = [...groupRuns(failed, ({ errorCode }) => errorCode ?? 'internal')]
    .map(([code, each]) => ({ code, runs: each.length }))
    .sort((a, b) => b.runs - a.runs)
  const waits = runs.map(({ usage }) => withWaitEnded(usage, now).waitedMs).filter((ms) => ms > 0)
  waits.sort((a, b) => a - b)
  const count = (matches: (status: string) => boolean): number => runs.filter(({ status }) => matches(status)).length
  return {
    agent,
    version,
    runs: runs.length,
    open: count((status) => !isTerminal(status)),
    completed: count((status) => status === 'Completed'),
    cancelled: count((status) => status === 'Cancelled'),
    failures,
    waited: {
      runs: waits.length,
      medianMs: waits[Math.floor((waits.length - 1) / 2)] ?? 0,
      longestMs: waits.at(-1) ?? 0,
      totalMs: waits.reduce((sum, ms) => sum + ms, 0),
    },
  }
}

function groupRuns(runs: readonly Run[], keyOf: (run: Run) => string): ReadonlyMap<string, readonly Run[]> {
  const groups = new Map<string, Run[]>()
  for (const run of runs) {
    const group = groups.get(keyOf(run))
    if (group) group.push(run)
    else groups.set(keyOf(run), [run])
  }
  return groups
}
