/** What a decision about one call is made from. Source: policies, section 2. */
import type { RunId } from '../base/ids.ts'
import type { Facts, Measure, Scope, Whose } from '../policy/decision.ts'
import { argumentAt } from '../policy/path.ts'
import type { Call } from '../spec/run.ts'
import type { CallRow } from '../store/store.ts'
import type { Draft } from './draft.ts'
import { activeMs, tokensOf } from './usage.ts'

export type DispatchTrigger = Facts['svc']['dispatch']['trigger']

export function factsOf(
  draft: Draft,
  id: RunId,
  call: Pick<Call, 'ref' | 'arguments' | 'argumentsDigest'>,
  tool: Facts['tool'],
  trigger: DispatchTrigger = 'none',
): Facts {
  const run = draft.run(id)
  const { session } = draft
  const snapshot = draft.snapshot(id)
  return {
    args: call.arguments,
    tool,
    agent: {
      id: snapshot.id,
      version: snapshot.version,
      ...(snapshot.riskTier !== undefined && { risk_tier: snapshot.riskTier }),
      classifications: snapshot.classifications,
      labels: snapshot.labels,
    },
    run: {
      depth: run.depth,
      is_subagent: run.depth > 0,
      iteration: run.usage.iterations,
      elapsed_seconds: activeMs(run, draft.now) / 1000,
      tokens_used: tokensOf(draft, id),
      trigger_type: session.triggerType,
      taint: run.usage.tainted,
    },
    session: {
      run_count: draft.runs().length,
      tokens_used: tokensOf(draft, session.rootRunId),
      elapsed_seconds: (draft.now - session.startedAt) / 1000,
    },
    principal: {
      type: ({ api: 'api_key', operator: 'operator', scheduled: 'schedule' } as const)[session.triggerType],
      id: session.triggeredBy ?? '',
      ...(session.triggerName !== null && { trigger_name: session.triggerName }),
    },
    svc: { dispatch: { trigger }, limit: 'none' },
    now: draft.now,
    history: (scope, whose, measure, windowMs) => history(draft, id, call, scope, whose, measure, windowMs),
  }
}

/** Calls whose effect is there or may still come: two that wait at once cannot slip under a sum together. */
const COUNTS_AS_EXECUTED = new Set([
  'executed',
  'proposed',
  'ready',
  'awaiting',
  'sent',
  'unknown',
  'delegated',
  'listening',
])

function history(
  draft: Draft,
  id: RunId,
  call: Pick<Call, 'ref' | 'argumentsDigest'>,
  scope: Scope,
  whose: Whose,
  measure: Measure,
  windowMs: number | undefined,
): number | undefined {
  const { agentId } = draft.run(id)
  const here = draft.calls()
  let rows: readonly CallRow[]
  if (scope === 'run') rows = here.filter((row) => row.runId === id)
  else if (scope === 'session') rows = here
  else {
    if (windowMs === undefined) return undefined
    const since = draft.now - windowMs
    rows = [...here, ...draft.world.callsElsewhere].filter((row) => row.agentId === agentId && row.at >= since)
  }
  if (whose !== 'all_tools') rows = rows.filter((row) => row.ref === call.ref)
  if (whose === 'same_args') rows = rows.filter((row) => row.argumentsDigest === call.argumentsDigest)
  if (measure === 'attempts') return rows.filter((row) => row.state !== 'invalid').length
  if (measure === 'executed') return rows.filter((row) => COUNTS_AS_EXECUTED.has(row.state)).length
  if (typeof measure === 'string') return rows.filter((row) => row.state === measure).length
  let total = 0
  for (const row of rows) {
    if (!COUNTS_AS_EXECUTED.has(row.state)) continue
    const value = argumentAt(row.arguments, measure.total)
    if (typeof value !== 'number') return undefined
    total += value
  }
  return total
}
