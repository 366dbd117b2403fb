/** Settles calls: result step, call record, taint and the count of refusals. */
import { digestOfJson } from '../../base/digest.ts'
import type { RunId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { ToolCall, CallOutcome, ErrorCode } from '../../spec/run.ts'
import { isTaintSource } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import { toolNamed } from '../session/bindings.ts'
import type { SessionTransaction } from '../session/transaction.ts'

export interface SettledCall {
  readonly outcome: CallOutcome
  readonly result: JsonValue
  readonly isError?: boolean
  readonly durationMs?: number
  readonly ends?: { readonly error: string; readonly errorCode: ErrorCode }
}

/** The same tool and arguments refused this often fail the run. Source: policies, section 4. */
const MAX_REFUSALS = 3

/** Records the result of a call as a `ToolResult` step, and closes the step of its dispatch. */
export function settleCall(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  settled: SettledCall,
): ToolCall {
  const isError = settled.isError ?? false
  const open = openStepOf(tx, id, call.id)
  if (open) tx.closeStep(open, isError ? errorTextOf(settled.result) : undefined)
  tx.addStep(
    id,
    'ToolResult',
    {
      tool_call_id: call.id,
      name: call.name,
      result: settled.result,
      is_error: isError,
      duration_ms: settled.durationMs ?? 0,
    },
    isError ? { error: errorTextOf(settled.result) } : {},
  )
  if (settled.outcome === 'executed' || settled.outcome === 'failed') taintBySource(tx, id, call)
  return settleAs(tx, id, turn, call, settled)
}

/** Settles a call whose result step is added by the caller. */
export function settleAs(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  settled: Pick<SettledCall, 'outcome' | 'ends'>,
): ToolCall {
  const repeatedDenial =
    settled.outcome === 'denied' || settled.outcome === 'rejected' ? countRefusal(tx, id, call) : undefined
  const ends = settled.ends ?? repeatedDenial
  const next: ToolCall = {
    ...call,
    state: {
      at: 'settled',
      outcome: settled.outcome,
      ...(ends && { ends }),
    },
  }
  tx.recordCall(id, turn, next)
  return next
}

/** The open step of a call: its dispatch or its delegation. */
export const openStepOf = (tx: SessionTransaction, id: RunId, callId: string): RunStep | undefined =>
  tx.lastStep(
    id,
    (step) =>
      step.finishedAt === null &&
      (step.type === 'ToolCall' || step.type === 'SubAgentCall') &&
      step.content['tool_call_id'] === callId,
  )

/** A tool error as the model reads it. */
export const toolError = (error: string, message: string, more: JsonObject = {}): JsonObject => ({
  error,
  message,
  ...more,
})

export const errorTextOf = (result: JsonValue): string => {
  if (isJsonObject(result) && typeof result['message'] === 'string') return result['message']
  return typeof result === 'string' ? result : JSON.stringify(result)
}

/** Taint passes between runs with what one tells the other: a summary may repeat what an untrusted source said. */
export function passTaint(tx: SessionTransaction, id: RunId, from: RunId): void {
  if (tx.run(from).usage.tainted && !tx.run(id).usage.tainted) tx.updateUsage(id, { tainted: true })
}

function countRefusal(tx: SessionTransaction, id: RunId, call: ToolCall): SettledCall['ends'] {
  const key = digestOfJson({ ref: call.ref, arguments: call.arguments })
  const { refusals } = tx.run(id).usage
  const times = (Object.hasOwn(refusals, key) ? refusals[key]! : 0) + 1
  tx.updateUsage(id, { refusals: { ...refusals, [key]: times } })
  if (times < MAX_REFUSALS) return undefined
  return {
    error: `${call.name} was refused ${times} times with the same arguments.`,
    errorCode: 'repeated_denial',
  }
}

/** Marks the run as tainted: its transcript now has text of an untrusted source. Source: policies, section 2, `run.taint`. */
function taintBySource(tx: SessionTransaction, id: RunId, call: ToolCall): void {
  const tool = toolNamed(tx.snapshot(id), call.name)
  if (tool && isTaintSource(tool)) tx.updateUsage(id, { tainted: true })
}
