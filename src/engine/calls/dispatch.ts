/**
 * Dispatches calls that may leave now: to a tool, a child run, or a person. A call to a tool is recorded as sent here; the
 * driver sends it once the transaction is saved.
 */
import type { ToolCall } from '../../spec/run/run.ts'
import { isUnsafeCall, WAIT_EVENT, WAIT_UNTIL, ASK_USER } from '../session/bindings.ts'
import type { CallHandle } from '../transaction/call-handle.ts'
import { starterOfRun } from '../transaction/starter.ts'
import { startChildRun } from './delegate.ts'
import { takeEffect } from './gate/effect.ts'
import { routeToPerson } from './gate/gate.ts'
import { answersQuestion, isQuestion } from './open-questions.ts'
import { askParent, answerQuestion } from './questions.ts'
import { isCallPaused } from './steer/pause.ts'
import { isReadOnlyCall, recoverDispatch } from './recover.ts'
import { settleWithError, toolError } from './settle.ts'
import { beginWait, endsOutside, tokenDigest } from './wait.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'

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
  if (!route) return true
  // After a crash a read that was still at the door is made again, as one that had left.
  const about = { tool: tool.id, isRead: isReadOnlyCall(call) }
  return context.takeSlot(run.id, starterOfRun(run), call.dispatchKey, about, route)
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

const isReplyRequest = (call: ToolCall): boolean => call.ref === ASK_USER

/** `svc.ask_user`: the call waits for the next reply to the run. */
function requestReply(call: CallHandle): ToolCall {
  if (call.run.record.depth > 0)
    return settleWithError(call, 'invalid', toolError('not_available', 'Only the root agent can ask its user.'))
  call.addDispatchStep('builtin')
  return call.to({ at: 'listening' })
}

interface InputOption {
  readonly id: string
  readonly label: string
}

interface InputRequest {
  readonly kind: 'text' | 'number' | 'multi_option'
  readonly prompt: string
  readonly options?: readonly (InputOption | string)[]
  readonly min?: number
  readonly max?: number
}

/** `svc.request_input`: opens a task of the kind that the model names. */
function requestInput(call: CallHandle): ToolCall {
  const { id, name, arguments: given } = call.record
  // `authorizeCall` has checked the arguments against the schema of the tool.
  const { kind, prompt, options: offered, min, max } = fromJson<InputRequest>(given, 'kind', 'prompt')
  const options = offered?.map((each) => (typeof each === 'string' ? { id: each, label: each } : each)) ?? []
  const problem = findUnanswerable(kind, options, min, max)
  if (problem !== undefined) {
    const error = toolError('invalid_arguments', `The arguments of ${name} are not valid.`, { details: [problem] })
    return settleWithError(call, 'invalid', error)
  }
  call.addDispatchStep('builtin')
  const task = call.run.openTask({
    kind,
    callId: id,
    title: prompt,
    prompt,
    ...(kind === 'multi_option' && { options }),
    ...(kind === 'number' && min !== undefined && { min }),
    ...(kind === 'number' && max !== undefined && { max }),
  })
  return call.to({ at: 'awaiting', task: task.id })
}

/** Why nobody could answer the request, in the form of an argument error; undefined if somebody can. */
function findUnanswerable(
  kind: InputRequest['kind'],
  options: readonly InputOption[],
  min = -Infinity,
  max = Infinity,
): JsonObject | undefined {
  if (kind === 'number' && min > max) return { path: '/max', message: `must be at least min, ${min}` }
  if (kind !== 'multi_option') return undefined
  if (options.length === 0) return { path: '/options', message: 'is required for multi_option' }
  const duplicate = options.find((each, at) => options.findIndex((other) => other.id === each.id) !== at)
  return duplicate && { path: '/options', message: `offers "${duplicate.id}" twice` }
}
