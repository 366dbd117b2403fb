/** The task that asks an operator what became of a call of unknown outcome. Source: policies, section 5. */
import { toIsoText } from '../../base/clock.ts'
import type { RunId } from '../../base/ids.ts'
import type { ToolCall } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { toolNamed } from './bindings.ts'
import { idempotencyKeyOf, type SessionTransaction } from './transaction.ts'
import { probeFor } from './probe.ts'

type Options = NonNullable<TaskRecord['options']>

export const OPTIONS_WHILE_OPEN: Options = [
  { id: 'happened', label: 'It happened: go on with this result' },
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
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  why: string,
  options: Options,
  earlier?: TaskRecord,
): TaskRecord {
  const tool = toolNamed(tx.snapshot(id), call.name)
  const sent = call.state.at === 'sent' ? call.state : undefined
  const key = idempotencyKeyOf(id, turn, call.index)
  const worker = sent?.worker ?? earlier?.worker
  const offered = probeFor(tx.snapshot(id), call, key)
  return tx.openTask({
    runId: id,
    kind: 'anomaly_review',
    callId: call.id,
    title: `Nobody knows whether ${call.name} was executed`,
    prompt: 'Look where the call would have left its mark, then say what happened.',
    reason: why,
    tool: {
      name: call.name,
      ref: call.ref,
      version: tool?.version ?? '',
      side_effect_class: tool?.sideEffectClass ?? null,
    },
    arguments: call.arguments,
    argumentsDigest: call.argumentsDigest,
    options,
    context: {
      idempotency_key: key,
      attempt: call.attempt,
      ...(sent && { sent_at: toIsoText(sent.sentAt), not_after: toIsoText(sent.notAfter) }),
      ...(offered && { probe: offered }),
      ...earlier?.context,
    },
    ...(worker !== undefined && { worker }),
  })
}
