/** The calls of one completion: each is judged, sent or handed to a person, and settled; then the model goes on. */
import { digestOfJson } from '../../base/digest.ts'
import type { RunId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { ModelCall } from '../../providers/provider.ts'
import type { ToolCall, RunState } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { checkValue } from '../../tools/check.ts'
import type { ToolOutcome } from '../../tools/tool.ts'
import { ASK_USER, bindCall, isUnsafeCall, offeredMoves, toolNamed } from '../session/bindings.ts'
import { receiveChildResult, startChildRun } from './delegate.ts'
import { idempotencyKeyOf, type SessionTransaction } from '../session/transaction.ts'
import { dispatchKey, type TransitionEventOf, type MessageFile } from '../session/event.ts'
import { failedState } from '../limits/ending.ts'
import { withEditedArguments, authorizeCall, routeToPerson } from './gate.ts'
import { beforeCompletion, haltAncestor, holdForAncestor, applyLimit } from '../limits/limits.ts'
import { askParent, hearAnswer, hearQuestion, isQuestion, standingOf, takesUp, takeUp } from './questions.ts'
import { recoverDispatch, closeDispatch, MAX_ATTEMPTS, MAX_LIVE_ATTEMPTS, applyReview } from './recover.ts'
import { reserveTokens } from '../limits/reserve.ts'
import { settleCall, toolError } from './settle.ts'

type Calling = Extract<RunState, { at: 'calling' }>

/** Calls of a completion as they are recorded with it, before anything is judged. */
export function proposeCalls(tx: SessionTransaction, id: RunId, turn: number, given: readonly ModelCall[]): Calling {
  const moves = offeredMoves(tx.snapshot(id), standingOf(tx.run(id), tx.runs()))
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
 * Takes the calls as far as they go without an answer from outside: judges what is proposed, sends what is ready, unsafe
 * calls one at a time, and goes back to the model when each has its result. One that ends the run ends it at once, whatever
 * else is in flight: while that was waited for, what is below could still be approved and begun.
 */
export function proceedWithCalls(tx: SessionTransaction, id: RunId, { turn, calls: given }: Calling): RunState {
  const calls = [...given]
  for (const [index, call] of calls.entries()) {
    if (calls.some(endsRun)) break
    calls[index] = step(tx, id, turn, calls, call)
  }
  const ending = calls.find(endsRun)
  if (ending?.state.at === 'settled' && ending.state.ends) {
    // What this move alone has sent never leaves.
    const left = calls.map((call, index) =>
      call.state.at === 'sent' && given[index]!.state.at !== 'sent' ? given[index]! : call,
    )
    tx.setState(id, { at: 'calling', turn, calls: left })
    return failedState(ending.state.ends.errorCode, ending.state.ends.error)
  }
  const here: Calling = { at: 'calling', turn, calls }
  tx.setState(id, here)
  if (calls.every((call) => call.state.at === 'settled')) return startTurn(tx, id, turn + 1)
  return here
}

/** Asks for the first completion of a turn. */
export const startTurn = (tx: SessionTransaction, id: RunId, turn: number, note?: JsonObject): RunState =>
  requestCompletion(tx, id, { at: 'thinking', turn, attempt: 1, ...(note && { note }) })

/** Asks for a completion, if a limit does not forbid it. */
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

/** One call as far as it goes by itself. */
function step(tx: SessionTransaction, id: RunId, turn: number, all: readonly ToolCall[], given: ToolCall): ToolCall {
  let call = given
  if (call.state.at === 'proposed') {
    // An approval is used in the move that sends the call, so it is looked at again only when the way is free.
    if (call.state.approved && !mayLeave(tx, id, all, call)) return call
    call = authorizeCall(tx, id, turn, call)
  }
  return call.state.at === 'ready' && mayLeave(tx, id, all, call) ? send(tx, id, turn, call) : call
}

/** Unsafe calls go one at a time, so that at most one outcome of a run is ever unknown; others as far as the bounds let them. */
function mayLeave(tx: SessionTransaction, id: RunId, all: readonly ToolCall[], call: ToolCall): boolean {
  const { context } = tx
  if (!context.maySend) return false
  const snapshot = tx.snapshot(id)
  const others = all.filter((other) => other.id !== call.id)
  if (isUnsafeCall(snapshot, call) && others.some((other) => isOut(other) && isUnsafeCall(snapshot, other)))
    return false
  if (call.kind !== 'tool' && call.kind !== 'agent') return true
  if (others.filter(isUnderWay).length >= context.callsAtOnce) return false
  const tool = toolNamed(snapshot, call.name)
  const route = tool && context.routeOf(snapshot, tool)
  return !route || context.takeSlot(id, dispatchKey(id, call.id, call.attempt), tool.id, route)
}

const isOut = ({ state }: ToolCall): boolean => state.at === 'sent' || state.at === 'unknown'
const isUnderWay = ({ state }: ToolCall): boolean => state.at === 'sent' || state.at === 'delegated'

function send(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  if (call.kind === 'agent') return startChildRun(tx, id, turn, call)
  if (call.kind === 'builtin') {
    if (isQuestion(call)) return askParent(tx, id, turn, call)
    if (takesUp(call)) return takeUp(tx, id, turn, call)
    return call.ref === ASK_USER ? listen(tx, id, turn, call) : requestInput(tx, id, turn, call)
  }
  const snapshot = tx.snapshot(id)
  const tool = toolNamed(snapshot, call.name)!
  const route = tx.context.routeOf(snapshot, tool)
  if (!route) {
    const error = `Nothing handles ${tool.id} on this server.`
    if (call.inDoubt) return recoverDispatch(tx, id, turn, call, { error, code: 'dispatch:no_handler', attempts: 0 })
    const asked = routeToPerson(tx, id, turn, call, 'no_handler')
    if (asked) return asked
    const result = toolError('dispatch:no_handler', error)
    return settleCall(tx, id, turn, call, { outcome: 'not_sent', result, isError: true })
  }
  tx.addStep(id, 'ToolCall', toolCallOf(tx, id, turn, call, route.route), { open: true })
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

function toolCallOf(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall, route: string): JsonObject {
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
function listen(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  if (tx.run(id).depth > 0) {
    const result = toolError('not_available', 'Only the root agent can ask its user.')
    return settleCall(tx, id, turn, call, { outcome: 'invalid', result, isError: true })
  }
  tx.addStep(id, 'ToolCall', toolCallOf(tx, id, turn, call, 'builtin'), { open: true })
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

/** `svc.request_input`: a task of the kind that the model names. */
function requestInput(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  // The gate has checked the arguments against the schema of the tool.
  const { kind, prompt, options: offered, min, max } = call.arguments as unknown as InputRequest
  const options = offered?.map((each) => (typeof each === 'string' ? { id: each, label: each } : each)) ?? []
  const problem = unanswerable(kind, options, min, max)
  if (problem !== undefined) {
    const result = toolError('invalid_arguments', `The arguments of ${call.name} are not valid.`, {
      details: [problem],
    })
    return settleCall(tx, id, turn, call, { outcome: 'invalid', result, isError: true })
  }
  tx.addStep(id, 'ToolCall', toolCallOf(tx, id, turn, call, 'builtin'), { open: true })
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

/** Why nobody could answer such a request, as the gate says what is wrong with arguments. */
function unanswerable(
  kind: InputRequest['kind'],
  options: readonly InputOption[],
  min = -Infinity,
  max = Infinity,
): JsonObject | undefined {
  if (kind === 'number' && min > max) return { path: '/max', message: `must be at least min, ${min}` }
  if (kind !== 'multi_option') return undefined
  if (options.length === 0) return { path: '/options', message: 'is required for multi_option' }
  const twice = options.find((each, at) => options.findIndex((other) => other.id === each.id) !== at)
  return twice && { path: '/options', message: `offers "${twice.id}" twice` }
}

/** The outcome of a dispatch. One of an attempt that is no longer the call's own says nothing any more. */
export function callEnded(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  event: TransitionEventOf<'call.ended'>,
): RunState | undefined {
  const call = here.calls.find((each) => each.id === event.callId)
  if (call?.state.at !== 'sent' || call.attempt !== event.attempt) return undefined
  return proceedWithCalls(tx, id, replace(here, conclude(tx, id, here.turn, call, event.outcome)))
}

/**
 * The outcome of a dispatch that its run did not wait for. The run's history is closed; conditions that look back from other
 * runs count what became of the call.
 */
export function lateOutcome(
  tx: SessionTransaction,
  id: RunId,
  { callId, attempt, outcome }: TransitionEventOf<'call.ended'>,
): undefined {
  const row = tx.callRow(id, callId)
  if (outcome.at === 'unknown' || row?.state !== 'unknown' || row.attempt !== attempt) return
  const state = outcome.at === 'not_sent' ? 'not_sent' : outcome.isError ? 'failed' : 'executed'
  tx.recordCallRow({ ...row, state, at: tx.now })
  // Nobody needs to be asked any more.
  const asked = tx.pendingTasks().find((task) => task.runId === id && task.callId === callId)
  if (asked) tx.closeTask({ ...asked, answer: { outcome: 'cancelled' } }, 'cancelled')
}

/** What an operator says of a call whose run had ended before its outcome was known. */
export function reviewedLate(tx: SessionTransaction, id: RunId, { task }: TransitionEventOf<'task.closed'>): undefined {
  const row = task.callId === undefined ? undefined : tx.callRow(id, task.callId)
  const option = task.answer?.selectedOptionId
  if (row?.state !== 'unknown' || option === undefined) return
  tx.recordCallRow({ ...row, state: option === 'happened' ? 'executed' : 'skipped', at: tx.now })
}

function conclude(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall, outcome: ToolOutcome): ToolCall {
  switch (outcome.at) {
    case 'returned': {
      const { result, isError, durationMs } = outcome
      const misfit = isError ? [] : misfits(tx, id, call, result)
      if (misfit.length === 0) {
        return settleCall(tx, id, turn, call, {
          outcome: isError ? 'failed' : 'executed',
          result,
          isError,
          durationMs,
        })
      }
      const told = toolError(
        'invalid_result',
        `${call.name} was executed, but its result does not match its output schema.`,
        {
          details: misfit,
          result,
        },
      )
      return settleCall(tx, id, turn, call, { outcome: 'executed', result: told, isError: true, durationMs })
    }
    case 'not_sent': {
      if (call.inDoubt) return tryAgain(tx, id, turn, call, outcome)
      const asked = outcome.code === 'no_handler' ? routeToPerson(tx, id, turn, call, 'no_handler') : undefined
      if (asked) closeDispatch(tx, id, call, outcome.error)
      if (asked) return { ...asked, attempt: call.attempt + 1 }
      return settleCall(tx, id, turn, call, {
        outcome: 'not_sent',
        result: toolError(`dispatch:${outcome.code}`, outcome.error),
        isError: true,
      })
    }
    case 'unknown':
      return tryAgain(tx, id, turn, call, outcome)
  }
}

const tryAgain = (
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  { error, code }: Exclude<ToolOutcome, { at: 'returned' }>,
): ToolCall => recoverDispatch(tx, id, turn, call, { error, code: `dispatch:${code}`, attempts: MAX_LIVE_ATTEMPTS })

function misfits(tx: SessionTransaction, id: RunId, call: ToolCall, result: JsonValue): JsonObject[] {
  const schema = toolNamed(tx.snapshot(id), call.name)?.outputSchema
  return schema === undefined ? [] : checkValue(schema, result).map(({ path, message }) => ({ path, message }))
}

/** Calls that were sent by a process that is gone, and whatever else had not gone on yet. */
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

/** Calls that this process recorded as sent and that never left it: they may be sent once more. */
export function takeBack(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  inFlight: ReadonlySet<string>,
): RunState | undefined {
  const isLeft = (call: ToolCall): boolean =>
    call.state.at === 'sent' && !inFlight.has(dispatchKey(id, call.id, call.attempt))
  if (!here.calls.some(isLeft)) return undefined
  const calls = here.calls.map((call): ToolCall => {
    if (!isLeft(call)) return call
    closeDispatch(tx, id, call, 'The server stopped before the call was sent.')
    const ready: ToolCall = { ...call, attempt: call.attempt + 1, state: { at: 'ready' } }
    tx.recordCall(id, here.turn, ready)
    return ready
  })
  return { ...here, calls }
}

export function childEnded(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  event: TransitionEventOf<'child.ended'>,
): RunState | undefined {
  return forEachWaiting(tx, id, here, event.child, (call) => receiveChildResult(tx, id, here.turn, call, event.child))
}

export function childAsked(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  event: TransitionEventOf<'child.asked'>,
): RunState | undefined {
  return forEachWaiting(tx, id, here, event.child, (call) => hearQuestion(tx, id, here.turn, call, event))
}

/** Several calls wait for one child where it had asked several things at once. */
function forEachWaiting(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  child: RunId,
  tell: (call: ToolCall) => ToolCall,
): RunState | undefined {
  const isWaiting = ({ state }: ToolCall): boolean => state.at === 'delegated' && state.child === child
  if (!here.calls.some(isWaiting)) return undefined
  return proceedWithCalls(tx, id, {
    ...here,
    calls: here.calls.map((call) => (isWaiting(call) ? tell(call) : call)),
  })
}

export function answeredQuestion(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  event: TransitionEventOf<'question.answered'>,
): RunState | undefined {
  const call = here.calls.find((each) => each.id === event.callId && isQuestion(each) && each.state.at !== 'settled')
  return call && proceedWithCalls(tx, id, replace(here, hearAnswer(tx, id, here.turn, call, event)))
}

/** Files of a reply as its step shows them. */
export const shownFiles = (files: readonly MessageFile[]): JsonObject[] =>
  files.map(({ filename, mediaType }) => ({ filename, media_type: mediaType }))

/** The reply to the first question that is open. */
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

/** A task of one of the calls was decided. */
export function applyTaskDecision(
  tx: SessionTransaction,
  id: RunId,
  here: Calling,
  task: TaskRecord,
): RunState | undefined {
  const call = here.calls.find(
    (each) => (each.state.at === 'awaiting' || each.state.at === 'unknown') && each.state.task === task.id,
  )
  return call && proceedWithCalls(tx, id, replace(here, resolve(tx, id, here.turn, call, task)))
}

function resolve(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall, task: TaskRecord): ToolCall {
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
  const who = outcome === 'timed_out' ? 'nobody approved it in time' : 'rejected by a person'
  const why = comment === undefined ? `${who}.` : `${who}. Reason: ${/[.!?]$/.test(comment) ? comment : `${comment}.`}`
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
