/** A tool call of a run in a transaction. */
import type { JsonObject } from '../../base/json.ts'
import type { ToolCall } from '../../spec/run.ts'
import type { BoundTool } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import { offeredToolOf, toolNamed } from './bindings.ts'
import { dispatchKey, idempotencyKeyOf } from './keys.ts'
import type { RunHandle, SessionTransaction } from './transaction.ts'

/**
 * A call, its turn and its run. The handle does not change: methods that change the call return it as it is afterwards, for the
 * caller to put into the state of the run. Each change is recorded for the policies that count calls.
 */
export interface CallHandle {
  readonly tx: SessionTransaction
  readonly run: RunHandle
  readonly turn: number
  readonly record: ToolCall
  /** The tool that the author bound to the name of the call; undefined for a delegation or a tool that the engine offers. */
  readonly tool: BoundTool | undefined
  /** The same for every attempt of the call. */
  readonly idempotencyKey: string
  /** Identifies this attempt within its session. */
  readonly dispatchKey: string
  /** A handle on the changed call, which is not recorded. */
  with(change: Partial<ToolCall>): CallHandle
  update(change: Partial<ToolCall>): ToolCall
  moveTo(state: ToolCall['state']): ToolCall
  /** Records the call, unchanged, under a state that only records have, or that is not known to the run any more. */
  recordAs(state: 'approved' | 'unknown' | 'skipped'): void
  /** Adds the step of a dispatch, open until the call has a result. */
  addDispatchStep(route: string): void
  /** The open step of the call: its dispatch or its delegation. */
  openStep(): RunStep | undefined
  /** Closes the step of a dispatch that has no result. */
  closeDispatch(error: string): void
}

export function createCallHandle(run: RunHandle, turn: number, record: ToolCall): CallHandle {
  const { tx } = run
  const update = (change: Partial<ToolCall>): ToolCall => {
    const next = { ...record, ...change }
    recordCall(run, turn, next)
    return next
  }
  const call: CallHandle = {
    tx,
    run,
    turn,
    record,
    get tool() {
      return toolNamed(run.snapshot, record.name)
    },
    get idempotencyKey() {
      return idempotencyKeyOf(run.id, turn, record.index)
    },
    get dispatchKey() {
      return dispatchKey(run.id, record.id, record.attempt)
    },
    with: (change) => createCallHandle(run, turn, { ...record, ...change }),
    update,
    moveTo: (state) => update({ state }),
    recordAs: (state) => recordCall(run, turn, record, state),
    addDispatchStep: (route) => void run.addStep('ToolCall', dispatchContent(call, route), { open: true }),
    openStep: () =>
      run.lastStep(
        ({ type, finishedAt, content }) =>
          finishedAt === null &&
          (type === 'ToolCall' || type === 'SubAgentCall') &&
          content['tool_call_id'] === record.id,
      ),
    closeDispatch(error) {
      const open = call.openStep()
      if (open) run.closeStep(open, error)
    },
  }
  return call
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
