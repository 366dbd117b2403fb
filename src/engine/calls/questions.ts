/**
 * Agents in the loop: a child asks its parent's model, which answers or escalates to a person. A question that the parent
 * ignores is escalated automatically, so that no child waits for ever. Source: decisions, section 9.
 */
import { digestOfJson } from '../../base/digest.ts'
import type { RunId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { ToolCall, Run } from '../../spec/run.ts'
import { BUILTIN_VERSION } from '../../spec/snapshot.ts'
import { ANSWER_SUBAGENT, ASK_PARENT, ESCALATE_TO_PERSON, textOf, type RunPosition } from '../session/bindings.ts'
import { idempotencyKeyOf, type SessionTransaction } from '../session/transaction.ts'
import type { TransitionEventOf } from '../session/event.ts'
import { openStepOf, settleAs, settleCall, passTaint, toolError } from './settle.ts'

export interface AgentQuestion {
  readonly child: RunId
  readonly callId: string
  readonly requestId: string
  readonly question: string
  readonly context: JsonValue
}

/** Questions of children that nobody has answered or escalated. */
export const openQuestions = (runs: readonly Run[], parent: RunId): readonly AgentQuestion[] =>
  runs.flatMap(({ id, parentRunId, state }) =>
    parentRunId === parent && state.at === 'calling'
      ? state.calls.flatMap((call) =>
          call.state.at === 'asking'
            ? [{ child: id, callId: call.id, requestId: call.state.requestId, ...questionOf(call) }]
            : [],
        )
      : [],
  )

export const positionOf = (run: Run, runs: readonly Run[]): RunPosition => ({
  isChild: run.depth > 0,
  isAsked: openQuestions(runs, run.id).length > 0,
})

/** `ask_parent`: the child waits, and the delegation call of the parent returns the question. */
export function askParent(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  const run = tx.run(id)
  const requestId = tx.context.ids.next<'event'>()
  const { question, context } = questionOf(call)
  tx.addStep(id, 'AitlRequest', { request_id: requestId, question, context })
  tx.addEvent(id, 'aitl', 'engine.aitl.requested', { requestId, question })
  tx.queueEvent(run.parentRunId!, { type: 'child.asked', child: id, requestId, question, context })
  const next: ToolCall = { ...call, state: { at: 'asking', requestId } }
  tx.recordCall(id, turn, next)
  return next
}

/** Settles the parent's call that waits for the child with the child's question as its result. */
export function settleWithQuestion(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  asking: Pick<AgentQuestion, 'child' | 'requestId' | 'question' | 'context'>,
): ToolCall {
  const result: JsonObject = { status: 'question', ...toQuestionResult(asking) }
  passTaint(tx, id, asking.child)
  // The step of the delegation stays open until the child ends; that of a call that answered an earlier question is closed.
  const open = openStepOf(tx, id, call.id)
  if (open?.type === 'ToolCall') tx.closeStep(open)
  tx.addStep(id, 'ToolResult', { tool_call_id: call.id, name: call.name, result, is_error: false, duration_ms: 0 })
  return settleAs(tx, id, turn, call, { outcome: 'executed' })
}

/** `answer_subagent` and `escalate_to_person`: the call waits for the child, whose outcome becomes its result. */
export function answerQuestion(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  const {
    request_id: requestId,
    answer,
    note,
  } = call.arguments as { request_id: string; answer?: string; note?: string }
  const question = openQuestions(tx.runs(), id).find((each) => each.requestId === requestId)
  if (!question || isTaken(tx, id, call, requestId, ['delegated'])) {
    const result = toolError('unknown_request', `No sub-agent waits for an answer to ${requestId}.`)
    return settleCall(tx, id, turn, call, { outcome: 'invalid', result, isError: true })
  }
  tx.addStep(
    id,
    'ToolCall',
    {
      tool_call_id: call.id,
      name: call.name,
      ref: call.ref,
      version: BUILTIN_VERSION,
      arguments: call.arguments,
      side_effect_class: 'read_only',
      attempt: call.attempt,
      idempotency_key: idempotencyKeyOf(id, turn, call.index),
      route: 'builtin',
    },
    { open: true },
  )
  if (call.ref === ANSWER_SUBAGENT) {
    tx.queueEvent(question.child, {
      type: 'question.answered',
      callId: question.callId,
      requestId,
      answer: answer ?? '',
      by: 'parent',
    })
  } else escalateQuestion(tx, question, note)
  // A child that asked several questions at once waits for all answers: this call returns the next open one.
  const other = openQuestions(tx.runs(), id).find(
    (each) =>
      each.child === question.child &&
      each.requestId !== requestId &&
      !isTaken(tx, id, call, each.requestId, ['proposed', 'delegated']),
  )
  if (other) return settleWithQuestion(tx, id, turn, call, other)
  const next: ToolCall = { ...call, state: { at: 'delegated', child: question.child } }
  tx.recordCall(id, turn, next)
  return next
}

/** True if another call of the run in one of these states answers the same question. */
const isTaken = (
  tx: SessionTransaction,
  id: RunId,
  call: ToolCall,
  requestId: string,
  states: readonly string[],
): boolean =>
  tx
    .callRows()
    .some(
      (row) =>
        row.runId === id &&
        row.callId !== call.id &&
        states.includes(row.state) &&
        (row.ref === ANSWER_SUBAGENT || row.ref === ESCALATE_TO_PERSON) &&
        requestIdIn(row.arguments) === requestId,
    )

/** Escalates a question to an operator, as a task of the root. */
export function escalateQuestion(
  tx: SessionTransaction,
  { child, callId, requestId, question, context }: AgentQuestion,
  note?: string,
): void {
  const { state, agentName } = tx.run(child)
  if (state.at !== 'calling') return
  const task = tx.openTask({
    runId: tx.session.rootRunId,
    kind: 'aitl_escalation',
    title: `${agentName} asks: ${question}`,
    prompt: question,
    ...(note !== undefined && { reason: note }),
    context: { request_id: requestId, run_id: child, ...(context !== null && { context }) },
  })
  const calls = state.calls.map((call): ToolCall =>
    call.id === callId ? { ...call, state: { at: 'awaiting', task: task.id } } : call,
  )
  tx.setState(child, { ...state, calls })
  tx.addEvent(child, 'aitl', 'engine.aitl.escalated', { requestId, question })
}

/** Settles the child's question with the answer of the parent's model or of a person. */
export function settleWithAnswer(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  event: TransitionEventOf<'question.answered'>,
): ToolCall {
  const { requestId, answer, by } = event
  const { parentRunId } = tx.run(id)
  if (by === 'parent' && parentRunId !== null) passTaint(tx, id, parentRunId)
  tx.addStep(id, 'AitlResponse', { request_id: requestId, answer, answered_by: by })
  tx.addEvent(id, 'aitl', 'engine.aitl.answered', { requestId, answer })
  return settleCall(tx, id, turn, call, { outcome: 'executed', result: { answer, answered_by: by } })
}

/** Open questions that none of these calls answers. */
export function unansweredQuestions(
  tx: SessionTransaction,
  id: RunId,
  calls: readonly ToolCall[],
): readonly AgentQuestion[] {
  const answered = new Set(calls.filter(answersQuestion).map((call) => requestIdIn(call.arguments)))
  return openQuestions(tx.runs(), id).filter((question) => !answered.has(question.requestId))
}

export const refuseUntilAnswered = (
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  open: readonly AgentQuestion[],
): ToolCall =>
  settleCall(tx, id, turn, call, {
    outcome: 'invalid',
    result: toolError(
      'question_pending',
      `Not executed: a sub-agent waits for an answer (${open.map((each) => each.requestId).join(', ')}). Use answer_subagent or escalate_to_person first.`,
      { questions: open.map(toQuestionResult) },
    ),
    isError: true,
  })

/** A call that the model did not make: it lets the parent wait for a child whose question was escalated automatically. */
export const toWaitingCall = (question: AgentQuestion, index: number): ToolCall => ({
  id: `question_${question.requestId}`,
  index,
  name: 'escalate_to_person',
  kind: 'builtin',
  ref: ESCALATE_TO_PERSON,
  arguments: { request_id: question.requestId },
  argumentsDigest: digestOfJson({ request_id: question.requestId }),
  attempt: 1,
  state: { at: 'delegated', child: question.child },
})

export const answersQuestion = (call: ToolCall): boolean =>
  call.ref === ANSWER_SUBAGENT || call.ref === ESCALATE_TO_PERSON

export const isQuestion = (call: ToolCall): boolean => call.ref === ASK_PARENT

const requestIdIn = (given: JsonValue): string => (isJsonObject(given) ? textOf(given['request_id']) : '')

function questionOf(call: ToolCall): { question: string; context: JsonValue } {
  const given = isJsonObject(call.arguments) ? call.arguments : {}
  return { question: textOf(given['question']), context: given['context'] ?? null }
}

/** A question as it is shown to the parent's model. */
const toQuestionResult = ({
  requestId,
  question,
  context,
}: Pick<AgentQuestion, 'requestId' | 'question' | 'context'>): JsonObject => ({
  request_id: requestId,
  question,
  ...(context !== null && { context }),
})
