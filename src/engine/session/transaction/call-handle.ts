/** A tool call of a run in a transaction. */
import type { JsonObject } from '../../../base/json/json.ts'
import { EFFECT_KEY } from '../../../policy/condition/effect-key.ts'
import type { ToolCall } from '../../../spec/run.ts'
import type { BoundTool } from '../../../spec/snapshot.ts'
import type { RunStep } from '../../../spec/step.ts'
import type { EffectEnd } from '../../../store/session-update.ts'
import { offeredToolOf, toolNamed } from '../bindings.ts'
import { dispatchKey, idempotencyKeyOf } from '../keys.ts'
import type { RunHandle, SessionTransaction } from './transaction.ts'
import { undoKeyOf } from '../undone.ts'

/**
 * A call, its turn and its run. The handle does not change: methods that change the call return it as it is afterwards, for the
 * caller to put into the state of the run. Each change is recorded for the policies that count calls.
 */
export class CallHandle {
  readonly tx: SessionTransaction
  readonly run: RunHandle
  readonly turn: number
  readonly record: ToolCall

  constructor(run: RunHandle, turn: number, record: ToolCall) {
    this.tx = run.tx
    this.run = run
    this.turn = turn
    this.record = record
  }

  /** The tool that the author bound to the name of the call; undefined for a delegation or a tool that the engine offers. */
  get tool(): BoundTool | undefined {
    return toolNamed(this.run.snapshot, this.record.name)
  }
  /** Equal for every attempt of the call. */
  get idempotencyKey(): string {
    return idempotencyKeyOf(this.run.id, this.turn, this.record.index)
  }
  /** Identifies this attempt within its session. */
  get dispatchKey(): string {
    return dispatchKey(this.run.id, this.record.id, this.record.attempt)
  }
  /** A handle on the changed call, which is not recorded. */
  with(change: Partial<ToolCall>): CallHandle {
    return this.as({ ...this.record, ...change })
  }
  /** A handle on another state of the call, which is not recorded. */
  as(record: ToolCall): CallHandle {
    return new CallHandle(this.run, this.turn, record)
  }
  update(change: Partial<ToolCall>): ToolCall {
    const next = { ...this.record, ...change }
    recordCall(this.run, this.turn, next)
    return next
  }
  moveTo(state: ToolCall['state']): ToolCall {
    return this.update({ state })
  }
  /** Records the unchanged call under a state that only records have, or that the run has left. */
  recordAs(state: 'approved' | 'unknown' | 'skipped'): void {
    recordCall(this.run, this.turn, this.record, state)
  }
  /** Records the outcome of the call for the effect key that it holds. */
  endEffect(state: EffectEnd['state'], result?: EffectEnd['result']): void {
    endEffectOf(this.run, this.record, state, result)
  }
  /** Adds the step of a dispatch, open until the call has a result. */
  addDispatchStep(route: string): void {
    this.run.addStep('ToolCall', dispatchContent(this, route), { open: true })
  }
  /** The open step of the call: its dispatch or its delegation. */
  openStep(): RunStep | undefined {
    return this.run.lastStep(
      ({ type, finishedAt, content }) =>
        finishedAt === null &&
        (type === 'ToolCall' || type === 'SubAgentCall') &&
        content['tool_call_id'] === this.record.id,
    )
  }
  /** Closes the step of a dispatch that has no result. */
  closeDispatch(error: string): void {
    const open = this.openStep()
    if (open) this.run.closeStep(open, error)
  }
}

/** Records the outcome of a call that exists only as a record. */
export function endEffectOf(
  run: RunHandle,
  call: { readonly ref: string } & ({ readonly id: string } | { readonly callId: string }),
  state: EffectEnd['state'],
  result?: EffectEnd['result'],
): void {
  const hasKey = run.snapshot.tools.some(({ id, labels }) => id === call.ref && labels[EFFECT_KEY] !== undefined)
  if (!hasKey && !undoKeyOf(run.record)) return
  const callId = 'id' in call ? call.id : call.callId
  run.tx.effects.end({ runId: run.id, callId, state, ...(result !== undefined && { result }) })
}

function dispatchContent({ record, tool: bound, idempotencyKey }: CallHandle, route: string): JsonObject {
  const tool = bound ?? offeredToolOf(record)
  return {
    tool_call_id: record.id,
    name: record.name,
    ref: record.ref,
    version: tool?.version ?? '',
    arguments: record.arguments,
    side_effect_class: tool?.sideEffectClass ?? null,
    attempt: record.attempt,
    idempotency_key: idempotencyKey,
    route,
  }
}

function recordCall({ tx, id, record: { agentId } }: RunHandle, turn: number, call: ToolCall, state?: string): void {
  tx.recordCallRow({
    sessionId: tx.session.id,
    runId: id,
    callId: call.id,
    agentId,
    ref: call.ref,
    argumentsDigest: call.argumentsDigest,
    arguments: call.arguments,
    state: state ?? (call.state.at === 'settled' ? call.state.outcome : call.state.at),
    attempt: call.attempt,
    idempotencyKey: idempotencyKeyOf(id, turn, call.index),
    at: tx.now,
  })
}
