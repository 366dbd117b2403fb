/**
 * Recovers calls of unknown outcome: the process that sent them ended, or their tool never answered. The side-effect class
 * decides how. Source: reliability, "The honest promise at kill -9".
 */
import type { RunId } from '../../base/ids.ts'
import type { ToolCall } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { isRepeatable, toolNamed } from '../session/bindings.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { routeToPerson } from './gate.ts'
import { openReview, OPTIONS_WHILE_OPEN } from '../session/review.ts'
import { reviewedResult } from './reviewed.ts'
import { openStepOf, settleCall, toolError } from './settle.ts'

/** Dispatches of a safe call that time out or break, before the model gets the error. */
export const MAX_LIVE_ATTEMPTS = 3
/** Dispatches of a safe call across restarts. */
export const MAX_ATTEMPTS = 10
/**
 * How long after its deadline a call may still arrive: bytes in a kernel's buffer outlive their sender.
 * Source: reliability, "Records and protocol", 7, and "Leases and fencing", defaults.
 */
export const QUARANTINE_MARGIN_MS = 3000
/** How long a tool is assumed to remember an idempotency key. Source: reliability, "The honest promise at kill -9". */
const KEY_TTL_MS = 24 * 3600_000

/**
 * Recovers a dispatch of unknown outcome. A safe call is sent again with the same key; any other is reviewed by a person, and
 * the model gets no result, since it would call again. Source: reliability, "The honest promise at kill -9".
 */
export function recoverDispatch(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  lost: { error: string; code: string; attempts: number },
): ToolCall {
  const tool = toolNamed(tx.snapshot(id), call.name)
  // Counted from the first attempt, when the tool began to remember the key.
  const keyAgeMs = tx.now - (call.firstSentAt ?? tx.now)
  const keyIsKnown = tool?.sideEffectClass === 'read_only' || keyAgeMs < KEY_TTL_MS
  if (isRepeatable(tool?.sideEffectClass) && keyIsKnown && call.attempt < lost.attempts) {
    closeDispatch(tx, id, call, lost.error)
    const ready: ToolCall = {
      ...call,
      attempt: call.attempt + 1,
      ...(tool?.sideEffectClass !== 'read_only' && { inDoubt: true }),
      state: { at: 'ready' },
    }
    tx.recordCall(id, turn, ready)
    return ready
  }
  if (tool?.sideEffectClass === 'read_only') {
    const routed = routeToPerson(tx, id, turn, call, lost.code === 'dispatch:timeout' ? 'timeout' : 'indeterminate')
    if (routed) {
      closeDispatch(tx, id, call, lost.error)
      return { ...routed, attempt: call.attempt + 1 }
    }
    return settleCall(tx, id, turn, call, {
      outcome: 'failed',
      result: toolError(lost.code, lost.error),
      isError: true,
    })
  }
  closeDispatch(tx, id, call, lost.error)
  return openCallReview(tx, id, turn, call, lost.error)
}

/** Closes the step of a dispatch that has no result. */
export function closeDispatch(tx: SessionTransaction, id: RunId, call: ToolCall, error: string): void {
  const open = openStepOf(tx, id, call.id)
  if (open) tx.closeStep(open, error)
}

/** Opens the review of a call that may have happened. */
function openCallReview(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall, why: string): ToolCall {
  const task = openReview(tx, id, turn, call, why, OPTIONS_WHILE_OPEN)
  const next: ToolCall = { ...call, state: { at: 'unknown', task: task.id } }
  tx.recordCall(id, turn, next)
  return next
}

/** Applies what a person decided about a call that may have happened. */
export function applyReview(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  task: TaskRecord,
): ToolCall {
  const answer = task.answer!
  switch (answer.selectedOptionId) {
    case 'happened': {
      const result = reviewedResult(task, answer, toolNamed(tx.snapshot(id), call.name)?.outputSchema)
      return settleCall(tx, id, turn, call, { outcome: 'executed', result })
    }
    case 'retry': {
      // Authorized again, so that a call that needed an approval needs a new one.
      const { inDoubt: _, ...certain } = call
      const next: ToolCall = { ...certain, attempt: call.attempt + 1, state: { at: 'proposed' } }
      tx.recordCall(id, turn, next)
      return next
    }
    case 'stop':
      return settleCall(tx, id, turn, call, {
        outcome: 'skipped',
        result: toolError('stopped', 'The run was stopped by a person.'),
        isError: true,
        ends: {
          error: `The outcome of ${call.name} is unknown, and a person stopped the run.`,
          errorCode: 'tool_failed',
        },
      })
    default:
      return settleCall(tx, id, turn, call, {
        outcome: 'skipped',
        result: toolError('not_executed', 'Not executed, decided by a person.'),
        isError: true,
      })
  }
}
