/**
 * Dispatches calls that may leave now: to a tool, a child run, or a person. A call to a tool is recorded as sent here; the
 * driver sends it once the transaction is saved.
 */
import type { ToolCall } from '../../spec/run.ts'
import { isUnsafeCall, WAIT_EVENT, WAIT_UNTIL } from '../session/bindings.ts'
import type { CallHandle } from '../transaction/call-handle.ts'
import { starterOfRun } from '../transaction/starter.ts'
import { startChildRun } from './delegate.ts'
import { takeEffect } from './gate/effect.ts'
import { routeToPerson } from './gate/gate.ts'
import { requestReply, requestInput, isReplyRequest } from './input-request.ts'
import { answersQuestion, isQuestion } from './open-questions.ts'
import { askParent, answerQuestion } from './questions.ts'
import { isCallPaused } from './steer/pause.ts'
import { recoverDispatch } from './recover.ts'
import { settleWithError, toolError } from './settle.ts'
import { beginWait, endsOutside, tokenDigest } from './wait.ts'

/**
 * Unsafe calls are sent one at a time, so that a run has at most one unknown outcome, and none overtakes one that is held; others
 * as far as the bounds allow.
 * @param all the calls of the completion
 */
export function mayLeave(call: CallHandle, all: readonly ToolCall[]): boolean {
  const { tx, run, record, tool } = call
  const { context } = tx
  if (!context.maySend || isCallPaused(call)) return false
  const others = all.filter((other) => other.id !== record.id)
  const isUnsafe = (each: ToolCall): boolean => isUnsafeCall(run.snapshot, each)
  if (isUnsafe(record) && others.some((other) => isAhead(other, record) && isUnsafe(other))) return false
  if (record.kind !== 'tool' && record.kind !== 'agent') return true
  if (others.filter(isInFlight).length >= context.callsAtOnce) return false
  const route = tool && context.routeOf(run.snapshot, tool)
  return !route || context.takeSlot(run.id, starterOfRun(run), call.dispatchKey, tool.id, route)
}

const isAhead = ({ index, paused, state: { at } }: ToolCall, record: ToolCall): boolean =>
  at === 'sent' ||
  at === 'unknown' ||
  at === 'retrying' ||
  at === 'waiting' ||
  (paused !== undefined && index < record.index)
const isInFlight = ({ state }: ToolCall): boolean => state.at === 'sent' || state.at === 'delegated'

/** Dispatches a call that is `ready` and may leave. */
export function dispatchCall(call: CallHandle): ToolCall {
  if (call.record.kind === 'agent') return startChildRun(call)
  return call.record.kind === 'builtin' ? dispatchBuiltin(call) : dispatchToTool(call)
}

function dispatchBuiltin(call: CallHandle): ToolCall {
  if (isQuestion(call.record)) return askParent(call)
  if (answersQuestion(call.record)) return answerQuestion(call)
  if (call.record.ref === WAIT_UNTIL || call.record.ref === WAIT_EVENT) return beginWait(call)
  return isReplyRequest(call.record) ? requestReply(call) : requestInput(call)
}

function dispatchToTool(call: CallHandle): ToolCall {
  const { tx, run, record } = call
  const tool = call.tool!
  const route = tx.context.routeOf(run.snapshot, tool)
  if (!route) {
    const error = `Nothing handles ${tool.id} on this server.`
    if (record.inDoubt) return recoverDispatch(call, { error, code: 'dispatch:no_handler', attempts: 0 })
    return (
      routeToPerson(call, 'no_handler') ?? settleWithError(call, 'not_sent', toolError('dispatch:no_handler', error))
    )
  }
  call.addDispatchStep(route.route)
  const notAfter = tx.now + route.timeoutMs
  takeEffect(call, notAfter)
  const token = endsOutside(call) ? tx.context.newToken(run.id, call.dispatchKey) : undefined
  const { worker } = tx.context
  return call.to(
    { at: 'sent', sentAt: tx.now, notAfter, ...(worker !== undefined && { worker }) },
    {
      ...(token !== undefined && { tokens: [...(record.tokens ?? []), tokenDigest(token)] }),
      firstSentAt: record.firstSentAt ?? tx.now,
    },
  )
}
