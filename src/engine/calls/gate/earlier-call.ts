/**
 * Calls that may have been made before, though no effect key says so: the same call twice in one run, a call of a run that does the
 * same work, and whatever a restored store has forgotten. A person is asked, whatever the policies say, and no time-out answers.
 * Source: docs/design/approvals.md#repeated-calls
 */
import { toIsoText } from '../../../base/clock.ts'
import type { JsonObject } from '../../../base/json/json.ts'
import type { PolicyDecision } from '../../../policy/condition/decision.ts'
import { requireApproval } from '../../../policy/require-approval.ts'
import { undoneCallOf } from '../../../spec/run/run.ts'
import type { CallRow } from '../../../store/session-update.ts'
import { isUnsafeCall } from '../../session/bindings.ts'
import type { CallHandle } from '../../transaction/call-handle.ts'
import type { CallEffect } from './effect.ts'

/** The reason of a decision about a call that was, or may have been, made before. */
export const DUPLICATE_CALL = 'duplicate_call'
/** The reason of a decision about a call that may have been made after the backup from which the store came. */
export const AFTER_RESTORE = 'after_restore'

/** States that make a later call a repetition; calls that failed for certain or never ran are left out. */
const MAY_HAVE_HAPPENED = new Set([
  'executed',
  'sent',
  'unknown',
  'waiting',
  'ready',
  'retrying',
  'awaiting',
  'approved',
])

/** The stricter of a decision and what these guards require. */
export function guardRepetition(
  decision: PolicyDecision,
  call: CallHandle,
  effect: CallEffect | undefined,
): { readonly decision: PolicyDecision; readonly earlier?: CallRow } {
  const forgotten = describeForgotten(call, effect)
  const guarded = forgotten === undefined ? decision : askFor(decision, AFTER_RESTORE, forgotten)
  if (!isUnsafeCall(call.run.snapshot, call.record)) return { decision: guarded }
  const found = findEarlierCall(call)
  if (found) return { decision: askFor(guarded, DUPLICATE_CALL, found.what), earlier: found.row }
  if (call.tx.context.relatedCalls.isWhole) return { decision: guarded }
  const what = 'same call may have been made before: more runs do the same work as this one than are looked through.'
  return { decision: askFor(guarded, DUPLICATE_CALL, what) }
}

interface EarlierCall {
  readonly row: CallRow
  /** The end of a sentence that begins with "the". */
  readonly what: string
}

/**
 * The call that this one may repeat. In its own run, where a tool is called again and again, it has equal arguments; in a run that
 * does the same work it is any call of the tool, because another answer of the model words the same call in other ways.
 */
function findEarlierCall({ tx, run, record }: CallHandle): EarlierCall | undefined {
  // Each undoing call has a run of its own; for repetitions these count like the calls of one run.
  const undoing = new Set(
    undoneCallOf(run.record) ? tx.runs().flatMap((each) => (undoneCallOf(each) ? each.id : [])) : [],
  )
  const isNear = (row: CallRow): boolean => (row.runId === run.id ? row.callId !== record.id : undoing.has(row.runId))
  const rows = tx.callRows()
  const own = rows
    .filter((row) => isNear(row) && isOfTool(row) && isEqual(row))
    .map((row) => ({ row, what: describeCall(row, row.runId === run.id ? 'this run' : `run ${row.runId}`) }))
  const taken = new Set(rows.map(({ idempotencyKey }) => idempotencyKey))
  // A call of another run that awaits a person is decided again before it leaves, and then finds this one. Those that a fork took
  // over are its own past.
  const related = tx.context.relatedCalls.calls
    .filter(({ row }) => row.state !== 'awaiting' && isOfTool(row) && !taken.has(row.idempotencyKey))
    .toSorted((one, other) => Number(isEqual(other.row)) - Number(isEqual(one.row)) || other.row.at - one.row.at)
    .map(({ row, isRepeated }) => ({
      row,
      what: describeCall(
        row,
        `run ${row.runId}, ${isRepeated ? 'which this one repeats' : 'which repeats this one or the same run'}`,
      ),
    }))
  const made = [...own.filter(({ row }) => row.state !== 'awaiting'), ...related]
  // Calls that only await a person count too, so that the card of the second one names the first. For an approved call they do not:
  // it is about to leave, and only calls that may have been made matter.
  const isApproved = record.state.at === 'proposed' && record.state.approved !== undefined
  return made[0] ?? (isApproved ? undefined : own[0])

  function isOfTool(row: CallRow): boolean {
    return row.ref === record.ref && MAY_HAVE_HAPPENED.has(row.state)
  }
  function isEqual(row: CallRow): boolean {
    return row.argumentsDigest === record.argumentsDigest
  }
  function describeCall(row: CallRow, where: string): string {
    return `same tool was called with ${isEqual(row) ? 'the same' : 'other'} arguments before in ${where}.`
  }
}

/**
 * What a restored store cannot know of a call: the end of a sentence that begins with "the". Undefined for a call that changes
 * nothing, whose effect key the store knows, or that was made since.
 */
function describeForgotten({ tx, run, record }: CallHandle, effect: CallEffect | undefined): string | undefined {
  const { restore } = tx.context
  if (!restore || effect?.previous) return undefined
  if (!isUnsafeCall(run.snapshot, record) && !effect?.key) return undefined
  if (record.firstSentAt !== undefined && record.firstSentAt >= restore.at) return undefined
  const [from, to] = [restore.backedUpAt, restore.at].map(toIsoText)
  return `call may have been made before: this server came from a backup, and does not know what happened from ${from} to ${to}.`
}

/** @param what the end of a sentence that begins with "the" */
function askFor(decision: PolicyDecision, reason: string, what: string): PolicyDecision {
  const guarded = requireApproval(decision, reason, `the ${what}`)
  if (guarded.decision === 'deny') return guarded
  const { obligations } = guarded
  const timeout = obligations?.timeout
  return {
    ...guarded,
    // A person whom a policy asks anyway must read of the earlier call, too.
    ...(decision.decision !== 'allow' && { explanation: `${decision.explanation} The ${what}` }),
    ...(timeout?.default === 'allow' && {
      obligations: { ...obligations!, timeout: { ...timeout, default: 'deny' as const } },
    }),
  }
}

/** The earlier call as its task shows it, beside the one that waits. */
export const earlierAsJson = ({ runId, callId, ref, at, state, arguments: given }: CallRow): JsonObject => ({
  run_id: runId,
  call_id: callId,
  tool: ref,
  at: toIsoText(at),
  state,
  ...(given !== undefined && { arguments: given }),
})
