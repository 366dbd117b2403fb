/** The task that asks an operator for the outcome of a call. Source: docs/design/approvals.md#unknown-outcomes */
import { toIsoText } from '../../base/clock.ts'
import { summaryOf } from '../../policy/condition/call-summary.ts'
import type { TaskRecord } from '../../spec/task.ts'
import type { CallHandle } from '../transaction/call-handle.ts'
import { probeFor } from './probe.ts'
import type { ToolCall } from '../../spec/run/run.ts'

type Options = NonNullable<TaskRecord['options']>

const OPTIONS_WHILE_OPEN: Options = [
  { id: 'happened', label: 'It happened: continue with this result' },
  { id: 'retry', label: 'It did not happen: send it again' },
  { id: 'skip', label: 'It did not happen: tell the agent so' },
  { id: 'stop', label: 'Fail the run' },
]

/** For a run that has ended: its status stays; only the record of the call is corrected. */
export const OPTIONS_AFTER_END: Options = [
  { id: 'happened', label: 'It happened' },
  { id: 'skip', label: 'It did not happen' },
]

/** @param earlier the review of the same call that this one replaces; it has when the call was sent and by which process */
export function openReview(
  { run, record, tool, idempotencyKey }: CallHandle,
  why: string,
  options: Options,
  earlier?: TaskRecord,
): TaskRecord {
  const sent = record.state.at === 'sent' ? record.state : undefined
  const worker = sent?.worker ?? earlier?.worker
  const offered = probeFor(run.snapshot, record, idempotencyKey)
  const summary = summaryOf(tool?.labels, record.arguments)
  return run.openTask({
    kind: 'anomaly_review',
    callId: record.id,
    title: `Nobody knows whether ${record.name} was executed`,
    prompt: 'Check the other system: did this call happen?',
    reason: why,
    tool: {
      name: record.name,
      ref: record.ref,
      version: tool?.version ?? '',
      side_effect_class: tool?.sideEffectClass ?? null,
    },
    ...(summary !== undefined && { summary }),
    arguments: record.arguments,
    argumentsDigest: record.argumentsDigest,
    options,
    context: {
      idempotency_key: idempotencyKey,
      attempt: record.attempt,
      ...(sent && { sent_at: toIsoText(sent.sentAt), not_after: toIsoText(sent.notAfter) }),
      ...(offered && { probe: offered }),
      ...earlier?.context,
    },
    ...(worker !== undefined && { worker }),
  })
}

/**
 * Asks a person what became of a call that may have been made. The model gets no result, since it would call again.
 * @param earlier the review of the same call that this one replaces
 */
export function openOutcomeReview(call: CallHandle, error: string, earlier?: TaskRecord): ToolCall {
  call.closeDispatch(error)
  const review = openReview(call, error, OPTIONS_WHILE_OPEN, earlier)
  call.endEffect('unknown')
  return call.to({ at: 'unknown', task: review.id })
}
