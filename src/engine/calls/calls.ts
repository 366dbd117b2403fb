/** The calls of one completion: each is authorized, sent or put before a person, and settled; then the next turn starts. */
import { digestOfJson } from '../../base/digest.ts'
import type { RunId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { ModelCall } from '../../providers/provider.ts'
import type { ToolCall, RunState } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { checkValue } from '../../tools/check.ts'
import type { ToolOutcome } from '../../tools/tool.ts'
import { ASK_USER, bindCall, isUnsafeCall, offeredTools, toolNamed } from '../session/bindings.ts'
import { receiveChildResult, startChildRun } from './delegate.ts'
import { idempotencyKeyOf, type SessionTransaction } from '../session/transaction.ts'
import { dispatchKey, type TransitionEventOf, type MessageFile } from '../session/event.ts'
import { failedState } from '../limits/ending.ts'
import { withEditedArguments, authorizeCall, routeToPerson } from './gate.ts'
import { beforeCompletion, haltAncestor, holdForAncestor, applyLimit } from '../limits/limits.ts'
import {
  askParent,
  settleWithAnswer,
  settleWithQuestion,
  isQuestion,
  positionOf,
  answersQuestion,
  answerQuestion,
} from './questions.ts'
import { recoverDispatch, closeDispatch, MAX_ATTEMPTS, MAX_LIVE_ATTEMPTS, applyReview } from './recover.ts'
import { reserveTokens } from '../limits/reserve.ts'
import { settleCall, toolError } from './settle.ts'

type Calling = Extract<RunState, { at: 'calling' }>

/** Records the calls of a completion, before any of them is authorized. */
export function proposeCalls(tx: SessionTransaction, id: RunId, turn: number, given: readonly ModelCall[]): Calling {
  const moves = offeredTools(tx.snapshot(id), positionOf(tx.run(id), tx.runs()))
  const calls = given.map((each, index): ToolCall => {
    const { kind, ref } = bindCall(tx.snapshot(id), moves, each.name)
    const call: ToolCall = {
      id: each.id,
      index,
      name: each.name,
      kind,
      ref,
      arguments: each.arguments,
      argumentsDigest: digestOfJson(each.arguments),
      attempt: 1,
      state: { at: 'proposed' },
    }
    tx.recordCall(id, turn, call)
    return call
  })
  return { at: 'calling', turn, calls }
}

/**
 * Takes the calls as far as they go without an outcome or an answer: authorizes proposed calls, sends ready ones (unsafe calls
 * one at a time), and starts the next turn when all are settled. A call that fails the run does so at once, whatever else is in
 * flight: otherwise work below could still be approved and started meanwhile.
 */
export function proceedWithCalls(tx: SessionTransaction, id: RunId, { turn, calls: given }: Calling): RunState {
  const calls = [...given]
  for (const [index, call] of calls.entries()) {
    if (calls.some(endsRun)) break
    calls[index] = proceedWithCall(tx, id, turn, calls, call)
  }
  const ending = calls.find(endsRun)
  if (ending?.state.at === 'settled' && ending.state.ends) {
    // Calls sent in this transaction only are never dispatched, so they are recorded as they were.
    const reverted = calls.map((call, index) =>
      call.state.at === 'sent' && given[index]!.state.at !== 'sent' ? given[index]! : call,
    )
    tx.setState(id, { at: 'calling', turn, calls: reverted })
    return failedState(ending.state.ends.errorCode, ending.state.ends.error)
  }
  const here: Calling = { at: 'calling', turn, calls }
  tx.setState(id, here)
  if (calls.every((call) => call.state.at === 'settled')) return startTurn(tx, id, turn + 1)
  return here
}

/** Requests the first completion of a turn. */
export const startTurn = (tx: SessionTransaction, id: RunId, turn: number, note?: JsonObject): RunState =>
  requestCompletion(tx, id, { at: 'thinking', turn, attempt: 1, ...(note && { note }) })

/** Requests a completion, unless a limit forbids it. */
export function requestCompletion(
  tx: SessionTransaction,
  id: RunId,
  wanted: Extract<RunState, { at: 'thinking' }>,
): RunState {
  const breach = beforeCompletion(tx, id)
  if (breach) return applyLimit(tx, id, breach, wanted)
  if (haltAncestor(tx, id, (used, value) => used >= value)) return { ...wanted, unsent: true }
  return holdForAncestor(tx, id, wanted) ?? reserveTokens(tx, id, wanted)
}

const endsRun = (call: ToolCall): boolean => call.state.at === 'settled' && call.state.ends !== undefined

function proceedWithCall(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  all: readonly ToolCall[],
  given: ToolCall,
): ToolCall {
  let call = given
  if (call.state.at === 'proposed') {
    // The approved call is authorized again in the transaction that sends it, so only once it may leave.
    if (call.state.approved && !mayLeave(tx, id, all, call)) return call
    call = authorizeCall(tx, id, turn, call)
  }
  return call.state.at === 'ready' && mayLeave(tx, id, all, call) ? sendCall(tx, id, turn, call) : call
}

/** Unsafe calls are sent one at a time, so that a run has at most one unknown outcome; others as far as the bounds allow. */
function mayLeave(tx: SessionTransaction, id: RunId, all: readonly ToolCall[], call: ToolCall): boolean {
  const { context } = tx
  if (!context.maySend) return false
  const snapshot = tx.snapshot(id)
  const others = all.filter((other) => other.id !== call.id)
  if (isUnsafeCall(snapshot, call) && others.some((other) => isUnresolved(other) && isUnsafeCall(snapshot, other)))
    return false
  if (call.kind !== 'tool' && call.kind !== 'agent') return true
  if (others.filter(isInFlight).length >= context.callsAtOnce) return false
  const tool = toolNamed(snapshot, call.name)
  const route = tool && context.routeOf(snapshot, tool)
  return !route || context.takeSlot(id, dispatchKey(id, call.id, call.attempt), tool.id, route)
}

const isUnresolved = ({ state }: ToolCall): boolean => state.at === 'sent' || state.at === 'unknown'
const isInFlight = ({ state }: ToolCall): boolean => state.at === 'sent' || state.at === 'delegated'

function sendCall(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  if (call.kind === 'agent') return startChildRun(tx, id, turn, call)
  if (call.kind === 'builtin') {
    if (isQuestion(call)) return askParent(tx, id, turn, call)
    if (answersQuestion(call)) return answerQuestion(tx, id, turn, call)
    return call.ref === ASK_USER ? awaitReply(tx, id, turn, call) : requestInput(tx, id, turn, call)
  }
  const snapshot = tx.snapshot(id)
  const tool = toolNamed(snapshot, call.name)!
  const route = tx.context.routeOf(snapshot, tool)
  if (!route) {
    const error = `Nothing handles ${tool.id} on this server.`
    if (call.inDoubt) return recoverDispatch(tx, id, turn, call, { error, code: 'dispatch:no_handler', attempts: 0 })
    const routed = routeToPerson(tx, id, turn, call, 'no_handler')
    if (routed) return routed
    const result = toolError('dispatch:no_handler', error)
    return settleCall(tx, id, turn, call, { outcome: 'not_sent', result, isError: true })
  }
  tx.addStep(id, 'ToolCall', toolCallContent(tx, id, turn, call, route.route), { open: true })
  const sent: ToolCall = {
    ...call,
    firstSentAt: call.firstSentAt ?? tx.now,
    state: {
      at: 'sent',
      sentAt: tx.now,
      notAfter: tx.now + route.timeoutMs,
      ...(tx.context.worker !== undefined && { worker: tx.context.worker }),
    },
  }
  tx.recordCall(id, turn, sent)
  return sent
}

function toolCallContent(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall, route: string): JsonObject {
  const tool = toolNamed(tx.snapshot(id), call.name)
  return {
    tool_call_id: call.id,
    name: call.name,
    ref: call.ref,
    version: tool?.version ?? '',
    arguments: call.arguments,
    side_effect_class: tool?.sideEffectClass ?? null,
    attempt: call.attempt,
    idempotency_key: idempotencyKeyOf(id, turn, call.index),
    route,
  }
}

/** `svc.ask_user`. Source: decisions, section 10. */
function awaitReply(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  if (tx.run(id).depth > 0) {
    const result = toolError('not_available', 'Only the root agent can ask its user.')
    return settleCall(tx, id, turn, call, { outcome: 'invalid', result, isError: true })
  }
  tx.addStep(id, 'ToolCall', toolCallContent(tx, id, turn, call, 'builtin'), { open: true })
  const next: ToolCall = { ...call, state: { at: 'listening' } }
  tx.recordCall(id, turn, next)
  return next
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
function requestInput(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  // `authorizeCall` has checked the arguments against the schema of the tool.
  const { kind, prompt, options: offered, min, max } = call.arguments as unknown as InputRequest
  const options = offered?.map((each) => (typeof each === 'string' ? { id: each, label: each } : each)) ?? []
  const problem = findUnanswerable(kind, options, min, max)
  if (problem !== undefined) {
    const result = toolError('invalid_arguments', `The arguments of ${call.name} are not valid.`, {
      details: [problem],
    })
    return settleCall(tx, id, turn, call, { outcome: 'invalid', result, isError: true })
  }
  tx.addStep(id, 'ToolCall', toolCallContent(tx, id, turn, call, 'builtin'), { open: true })
  const task = tx.openTask({
    runId: id,
    kind,
    callId: call.id,
    title: prompt,
    prompt,
    ...(kind === 'multi_option' && { options }),
    ...(kind === 'number' && min !== undefined && { min }),
    ...(kind === 'number' && max !== undefined && { max }),
  })
  const next: ToolCall = { ...call, state: { at: 'awaiting', task: task.id } }
  tx.recordCall(id, turn, next)
  return next
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

/** Applies the outcome of a dispatch; outcomes of earlier attempts are ignored. */
export function applyCallOutcome(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  event: TransitionEventOf<'call.ended'>,
): RunState | undefined {
  const call = here.calls.find((each) => each.id === event.callId)
  if (call?.state.at !== 'sent' || call.attempt !== event.attempt) return undefined
  return proceedWithCalls(tx, id, replace(here, applyOutcome(tx, id, here.turn, call, event.outcome)))
}

/**
 * Applies an outcome that arrives after the run has ended. The run stays as it is; the record of the call is corrected, because
 * policy conditions of other runs count it.
 */
export function applyLateOutcome(
  tx: SessionTransaction,
  id: RunId,
  { callId, attempt, outcome }: TransitionEventOf<'call.ended'>,
): undefined {
  const row = tx.callRow(id, callId)
  if (outcome.at === 'unknown' || row?.state !== 'unknown' || row.attempt !== attempt) return
  const state = outcome.at === 'not_sent' ? 'not_sent' : outcome.isError ? 'failed' : 'executed'
  tx.recordCallRow({ ...row, state, at: tx.now })
  // The outcome is known now, so nobody needs to review the call.
  const review = tx.pendingTasks().find((task) => task.runId === id && task.callId === callId)
  if (review) tx.closeTask({ ...review, answer: { outcome: 'cancelled' } }, 'cancelled')
}

/** Applies the review of a call whose run ended before the outcome was known. */
export function applyLateReview(
  tx: SessionTransaction,
  id: RunId,
  { task }: TransitionEventOf<'task.closed'>,
): undefined {
  const row = task.callId === undefined ? undefined : tx.callRow(id, task.callId)
  const option = task.answer?.selectedOptionId
  if (row?.state !== 'unknown' || option === undefined) return
  tx.recordCallRow({ ...row, state: option === 'happened' ? 'executed' : 'skipped', at: tx.now })
}

function applyOutcome(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall, outcome: ToolOutcome): ToolCall {
  switch (outcome.at) {
    case 'returned': {
      const { result, isError, durationMs } = outcome
      const errors = isError ? [] : findSchemaErrors(tx, id, call, result)
      if (errors.length === 0) {
        return settleCall(tx, id, turn, call, {
          outcome: isError ? 'failed' : 'executed',
          result,
          isError,
          durationMs,
        })
      }
      const invalid = toolError(
        'invalid_result',
        `${call.name} was executed, but its result does not match its output schema.`,
        {
          details: errors,
          result,
        },
      )
      return settleCall(tx, id, turn, call, { outcome: 'executed', result: invalid, isError: true, durationMs })
    }
    case 'not_sent': {
      if (call.inDoubt) return recoverLiveDispatch(tx, id, turn, call, outcome)
      const routed = outcome.code === 'no_handler' ? routeToPerson(tx, id, turn, call, 'no_handler') : undefined
      if (routed) closeDispatch(tx, id, call, outcome.error)
      if (routed) return { ...routed, attempt: call.attempt + 1 }
      return settleCall(tx, id, turn, call, {
        outcome: 'not_sent',
        result: toolError(`dispatch:${outcome.code}`, outcome.error),
        isError: true,
      })
    }
    case 'unknown':
      return recoverLiveDispatch(tx, id, turn, call, outcome)
  }
}

const recoverLiveDispatch = (
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  { error, code }: Exclude<ToolOutcome, { at: 'returned' }>,
): ToolCall => recoverDispatch(tx, id, turn, call, { error, code: `dispatch:${code}`, attempts: MAX_LIVE_ATTEMPTS })

function findSchemaErrors(tx: SessionTransaction, id: RunId, call: ToolCall, result: JsonValue): JsonObject[] {
  const schema = toolNamed(tx.snapshot(id), call.name)?.outputSchema
  return schema === undefined ? [] : checkValue(schema, result).map(({ path, message }) => ({ path, message }))
}

/** Recovers calls that a process sent before it ended, and continues the others. */
export function recoverCalls(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  inFlight: ReadonlySet<string>,
): RunState {
  const calls = here.calls.map((call) =>
    call.state.at === 'sent' && !inFlight.has(dispatchKey(id, call.id, call.attempt))
      ? recoverDispatch(tx, id, here.turn, call, {
          error: 'The server ended before the outcome was known.',
          code: 'dispatch:broken',
          attempts: MAX_ATTEMPTS,
        })
      : call,
  )
  return proceedWithCalls(tx, id, { ...here, calls })
}

/** Makes calls ready again that this process recorded as sent and never dispatched. */
export function revertUnsent(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  inFlight: ReadonlySet<string>,
): RunState | undefined {
  const isUndispatched = (call: ToolCall): boolean =>
    call.state.at === 'sent' && !inFlight.has(dispatchKey(id, call.id, call.attempt))
  if (!here.calls.some(isUndispatched)) return undefined
  const calls = here.calls.map((call): ToolCall => {
    if (!isUndispatched(call)) return call
    closeDispatch(tx, id, call, 'The server stopped before the call was sent.')
    const ready: ToolCall = { ...call, attempt: call.attempt + 1, state: { at: 'ready' } }
    tx.recordCall(id, here.turn, ready)
    return ready
  })
  return { ...here, calls }
}

export function applyChildEnd(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  event: TransitionEventOf<'child.ended'>,
): RunState | undefined {
  return forEachWaiting(tx, id, here, event.child, (call) => receiveChildResult(tx, id, here.turn, call, event.child))
}

export function applyChildQuestion(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  event: TransitionEventOf<'child.asked'>,
): RunState | undefined {
  return forEachWaiting(tx, id, here, event.child, (call) => settleWithQuestion(tx, id, here.turn, call, event))
}

/** Several calls wait for one child if it had asked several questions at once. */
function forEachWaiting(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  child: RunId,
  update: (call: ToolCall) => ToolCall,
): RunState | undefined {
  const isWaiting = ({ state }: ToolCall): boolean => state.at === 'delegated' && state.child === child
  if (!here.calls.some(isWaiting)) return undefined
  return proceedWithCalls(tx, id, {
    ...here,
    calls: here.calls.map((call) => (isWaiting(call) ? update(call) : call)),
  })
}

export function applyQuestionAnswer(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  event: TransitionEventOf<'question.answered'>,
): RunState | undefined {
  const call = here.calls.find((each) => each.id === event.callId && isQuestion(each) && each.state.at !== 'settled')
  return call && proceedWithCalls(tx, id, replace(here, settleWithAnswer(tx, id, here.turn, call, event)))
}

/** Files of a reply as they are shown in its step. */
export const shownFiles = (files: readonly MessageFile[]): JsonObject[] =>
  files.map(({ filename, mediaType }) => ({ filename, media_type: mediaType }))

/** Answers the first open question with a reply of the user. */
export function applyReply(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  { text, files }: TransitionEventOf<'message'>,
): RunState | undefined {
  const call = here.calls.find((each) => each.state.at === 'listening')
  if (!call) return undefined
  const shown = shownFiles(files)
  tx.addStep(id, 'UserMessage', { text, ...(shown.length > 0 && { files: shown }), reply_to: call.id })
  const result: JsonValue = shown.length > 0 ? { text, files: shown } : text
  return proceedWithCalls(tx, id, replace(here, settleCall(tx, id, here.turn, call, { outcome: 'executed', result })))
}

/** Applies the decision of a task to the call it belongs to. */
export function applyTaskDecision(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  task: TaskRecord,
): RunState | undefined {
  const call = here.calls.find(
    (each) => (each.state.at === 'awaiting' || each.state.at === 'unknown') && each.state.task === task.id,
  )
  return call && proceedWithCalls(tx, id, replace(here, applyDecisionToCall(tx, id, here.turn, call, task)))
}

function applyDecisionToCall(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  task: TaskRecord,
): ToolCall {
  const answer = task.answer!
  switch (task.kind) {
    case 'approval':
    case 'escalation':
      return answer.approved ? approve(tx, id, turn, call, task) : reject(tx, id, turn, call, task)
    case 'anomaly_review':
      return applyReview(tx, id, turn, call, task)
    case 'multi_option':
    case 'text':
    case 'number':
    // An escalated question is answered where it was asked (`tasks.ts`), never as a task of a call.
    case 'aitl_escalation': {
      const result = answer.selectedOptionId ?? answer.textValue ?? answer.numberValue ?? null
      return settleCall(tx, id, turn, call, { outcome: 'executed', result })
    }
  }
}

function approve(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall, task: TaskRecord): ToolCall {
  const edited = task.answer?.arguments ? withEditedArguments(call, task.answer.arguments) : call
  const next: ToolCall = {
    ...edited,
    state: { at: 'proposed', approved: { task: task.id, digest: task.actionDigest! } },
  }
  tx.recordCall(id, turn, next, 'approved')
  return next
}

function reject(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall, task: TaskRecord): ToolCall {
  const { comment, outcome } = task.answer!
  const reason = outcome === 'timed_out' ? 'nobody approved it in time' : 'rejected by a person'
  const why =
    comment === undefined ? `${reason}.` : `${reason}. Reason: ${/[.!?]$/.test(comment) ? comment : `${comment}.`}`
  return settleCall(tx, id, turn, call, {
    outcome: 'rejected',
    result: toolError('rejected', `Not executed: ${why} Do not repeat this call.`),
    isError: true,
    ...(task.onReject === 'fail' && {
      ends: { error: `${call.name} was not executed: ${why}`, errorCode: 'rejected' as const },
    }),
  })
}

const replace = (here: Calling, call: ToolCall): Calling => ({
  ...here,
  calls: here.calls.map((each) => (each.id === call.id ? call : each)),
})
