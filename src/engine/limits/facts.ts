import { factsOfCaller } from '../../policy/callee-facts.ts'
/** Facts from which a call is decided. Source: docs/design/policies.md#facts */
import type { CallFacts } from '../../policy/condition/decision.ts'
import { argumentAt, argumentText } from '../../policy/condition/path.ts'
import { undoneCallOf, type ToolCall } from '../../spec/run/run.ts'
import type { CallRow } from '../../store/session-update.ts'
import type { RunStep } from '../../spec/step.ts'
import { textOf } from '../../base/json/json.ts'
import { callKey } from '../session/keys.ts'
import type { RunHandle } from '../transaction/transaction.ts'
import { starterOfRun } from '../transaction/starter.ts'
import { activeMs, tokensOf } from '../transaction/usage.ts'

export type DispatchTrigger = CallFacts['svc']['dispatch']['trigger']

/** The call to decide; without an id it is not recorded in the run, as for limits. */
type DecidedCall = Pick<ToolCall, 'ref' | 'arguments' | 'argumentsDigest'> &
  Partial<Pick<ToolCall, 'id' | 'state' | 'decisionId'>>

/** Facts determined by the caller. */
interface KnownFacts {
  readonly trigger?: DispatchTrigger
  readonly effect?: CallFacts['effect'] | undefined
  readonly source?: CallFacts['source']
}

export function callFactsOf(
  run: RunHandle,
  call: DecidedCall,
  tool: CallFacts['tool'],
  { trigger = 'none', effect, source }: KnownFacts = {},
): CallFacts {
  const { tx, snapshot, record, usage } = run
  const { session } = tx
  const totals = tx.totals()
  const starter = starterOfRun(run)
  // An undoing call is decided in the run that made the call.
  const depth = undoneCallOf(record) ? record.depth - 1 : record.depth
  return {
    args: call.arguments,
    tool,
    agent: factsOfCaller(snapshot),
    run: {
      depth,
      is_subagent: depth > 0,
      iteration: usage.iterations,
      elapsed_seconds: activeMs(record, tx.now) / 1000,
      tokens_used: tokensOf(run),
      trigger_type: starter.triggerType,
      taint: usage.tainted,
    },
    session: {
      run_count: totals.runCount,
      tokens_used: totals.totalTokensUsed,
      elapsed_seconds: (tx.now - session.startedAt) / 1000,
    },
    principal: {
      type: ({ api: 'api_key', operator: 'operator', scheduled: 'schedule' } as const)[starter.triggerType],
      id: starter.triggeredBy ?? '',
      ...(starter.triggerName !== null && { trigger_name: starter.triggerName }),
    },
    svc: { dispatch: { trigger }, limit: 'none' },
    ...(effect && { effect }),
    ...(source && { source }),
    now: tx.now,
    ...(tx.context.revoked.size > 0 && { revoked: tx.context.revoked }),
    history: (...measure) => measureHistory(run, call, ...measure),
  }
}

/** States of calls that were executed or may still be: two pending calls cannot pass a limit on a sum together. */
const COUNTS_AS_EXECUTED = new Set([
  'executed',
  'approved',
  'ready',
  'awaiting',
  'sent',
  'unknown',
  'delegated',
  'listening',
  'waiting',
])

/** States of calls that were sent or may be sent without another decision. */
const MAY_BE_SENT = new Set(['failed', ...[...COUNTS_AS_EXECUTED].filter((state) => state !== 'awaiting')])

function measureHistory(
  run: RunHandle,
  call: DecidedCall,
  ...[scope, whose, measure, windowMs, by]: Parameters<CallFacts['history']>
): number | undefined {
  let rows = earlierCalls(run, call)
  const key = by === undefined ? undefined : argumentText(call.arguments, by)
  if (by !== undefined && key === undefined) return undefined
  if (scope === 'run') rows = rows.filter((row) => row.runId === run.id)
  if (scope === 'window' || scope === 'workspace') {
    if (windowMs === undefined) return undefined
    const { agentId } = run.record
    const since = run.tx.now - windowMs
    rows = [...rows, ...callsElsewhere(run, call)].filter(
      (row) => (scope === 'workspace' || row.agentId === agentId) && row.at >= since,
    )
  }
  if (whose !== 'all_tools') rows = rows.filter((row) => row.ref === call.ref)
  if (whose === 'same_args') rows = rows.filter((row) => row.argumentsDigest === call.argumentsDigest)
  if (by !== undefined) rows = rows.filter((row) => argumentText(row.arguments, by) === key)
  // The call itself counts with its current arguments, which an approver may have edited.
  const own = call.id === undefined ? 0 : 1
  if (measure === 'attempts') return own + rows.filter((row) => row.state !== 'invalid').length
  if (measure === 'executed') return own + rows.filter((row) => COUNTS_AS_EXECUTED.has(row.state)).length
  if (typeof measure === 'string') return rows.filter((row) => row.state === measure).length
  const counted = rows.filter((row) => COUNTS_AS_EXECUTED.has(row.state)).map((row) => row.arguments)
  let total = 0
  for (const each of own === 1 ? [call.arguments, ...counted] : counted) {
    const value = argumentAt(each, measure.total)
    if (typeof value !== 'number') return undefined
    total += value
  }
  return total
}

/**
 * Other calls of the session that count for this one. If it is decided for the first time, all that are decided. If it is
 * decided again after its approval, those decided before it, and of the later ones those that were or may be sent.
 * Source: docs/design/policies.md#what-history-counts
 */
function earlierCalls(run: RunHandle, call: DecidedCall): readonly CallRow[] {
  const { tx } = run
  const others = tx
    .callRows()
    .filter((row) => row.state !== 'proposed' && !(row.runId === run.id && row.callId === call.id))
  const own = firstDecision(run, call)
  if (!own) return others
  const decidedAt = new Map(
    tx.runs().flatMap(({ id }) =>
      tx
        .run(id)
        .steps()
        .filter(({ type }) => type === 'PolicyDecision')
        .map((step): [string, number] => [callKey(id, textOf(step.content['tool_call_id'])), step.ordinal]),
    ),
  )
  return others.filter(
    (row) => MAY_BE_SENT.has(row.state) || (decidedAt.get(callKey(row.runId, row.callId)) ?? 0) < own.ordinal,
  )
}

/** Calls of other sessions that count, by the same rule. A pending or denied call was last recorded when it was decided. */
function callsElsewhere(run: RunHandle, call: DecidedCall): readonly CallRow[] {
  const others = run.tx.context.callsElsewhere.filter((row) => row.state !== 'proposed')
  const own = firstDecision(run, call)
  return own ? others.filter((row) => MAY_BE_SENT.has(row.state) || row.at <= own.startedAt) : others
}

/** The decision that required the approval of a call, if the call is decided again. */
function firstDecision(run: RunHandle, { state, decisionId }: DecidedCall): RunStep | undefined {
  const isDecidedAgain = state?.at === 'awaiting' || (state?.at === 'proposed' && state.approved !== undefined)
  return isDecidedAgain ? run.lastStep((step) => (step.id as string) === decisionId) : undefined
}
