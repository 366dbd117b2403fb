/**
 * Agents in the loop: a child asks its parent's model, which answers or escalates to a person. A question that the parent
 * ignores is escalated automatically, so that no child waits for ever. Source: docs/design/models-and-tools.md#sub-agents
 */
import type { JsonObject } from '../../base/json/json.ts'
import type { ToolCall } from '../../spec/run/run.ts'
import { ANSWER_SUBAGENT, ESCALATE_TO_PERSON } from '../session/bindings.ts'
import { changeCalls, proposeCall, type CallHandle } from '../transaction/call-handle.ts'
import type { TransitionEventOf } from '../session/event.ts'
import type { RunHandle, SessionTransaction } from '../transaction/transaction.ts'
import { answersQuestion, openQuestions, questionOf, requestIdIn, type AgentQuestion } from './open-questions.ts'
import { markSettled, settleCall, settleWithError, passTaint, toolError } from './settle.ts'

/** `ask_parent`: the child waits, and the delegation call of the parent returns the question. */
export function askParent(call: CallHandle): ToolCall {
  const { run, record } = call
  const requestId = call.tx.context.ids.next<'event'>()
  const { question, context } = questionOf(record)
  run.addStep('AitlRequest', { request_id: requestId, question, context })
  run.addEvent('aitl', 'engine.aitl.requested', { requestId, question })
  run.parent()!.queueEvent({ type: 'child.asked', child: run.id, requestId, question, context })
  return call.to({ at: 'asking', requestId })
}

/** Settles the parent's call that waits for the child with the child's question as its result. */
export function settleWithQuestion(
  call: CallHandle,
  asking: Pick<AgentQuestion, 'child' | 'requestId' | 'question' | 'context'>,
): ToolCall {
  const { tx, run, record } = call
  const result: JsonObject = { status: 'question', ...toQuestionResult(asking) }
  passTaint(run, tx.run(asking.child))
  // The step of the delegation stays open until the child ends; that of a call that answered an earlier question is closed.
  const open = call.openStep()
  if (open?.type === 'ToolCall') run.closeStep(open)
  run.addStep('ToolResult', { tool_call_id: record.id, name: record.name, result, is_error: false, duration_ms: 0 })
  return markSettled(call, { outcome: 'executed' })
}

/** `answer_subagent` and `escalate_to_person`: the call waits for the child, whose outcome becomes its result. */
export function answerQuestion(call: CallHandle): ToolCall {
  const { tx, run, record } = call
  const {
    request_id: requestId,
    answer,
    note,
  } = record.arguments as { request_id: string; answer?: string; note?: string }
  const question = openQuestions(tx.runs(), run.id).find((each) => each.requestId === requestId)
  if (!question || isTaken(call, requestId, ['delegated'])) {
    const error = toolError('unknown_request', `No sub-agent waits for an answer to ${requestId}.`)
    return settleWithError(call, 'invalid', error)
  }
  call.addDispatchStep('builtin')
  if (record.ref === ANSWER_SUBAGENT) {
    const { child, callId } = question
    tx.run(child).queueEvent({ type: 'question.answered', callId, requestId, answer: answer ?? '', by: 'parent' })
  } else escalateQuestion(tx, question, note)
  // A child that asked several questions at once waits for all answers: this call returns the next open one.
  const other = openQuestions(tx.runs(), run.id).find(
    (each) =>
      each.child === question.child &&
      each.requestId !== requestId &&
      !isTaken(call, each.requestId, ['proposed', 'delegated']),
  )
  return other ? settleWithQuestion(call, other) : call.to({ at: 'delegated', child: question.child })
}

/** True if another call of the run in one of these states answers the same question. */
const isTaken = ({ tx, run, record }: CallHandle, requestId: string, states: readonly string[]): boolean =>
  tx
    .callRows()
    .some(
      (row) =>
        row.runId === run.id &&
        row.callId !== record.id &&
        states.includes(row.state) &&
        answersQuestion(row) &&
        requestIdIn(row.arguments) === requestId,
    )

/** Escalates a question to an operator, as a task of the root. */
export function escalateQuestion(
  tx: SessionTransaction,
  { child, callId, requestId, question, context }: AgentQuestion,
  note?: string,
): void {
  const run = tx.run(child)
  if (run.state.at !== 'calling') return
  const task = tx.run(tx.session.rootRunId).openTask({
    kind: 'aitl_escalation',
    title: `${run.record.agentName} asks: ${question}`,
    prompt: question,
    ...(note !== undefined && { reason: note }),
    context: { request_id: requestId, run_id: child, ...(context !== null && { context }) },
  })
  changeCalls(
    run,
    ({ id }) => id === callId,
    (call) => call.to({ at: 'awaiting', task: task.id }),
  )
  run.addEvent('aitl', 'engine.aitl.escalated', { requestId, question })
}

/** Settles the child's question with the answer of the parent's model or of a person. */
export function settleWithAnswer(
  call: CallHandle,
  { requestId, answer, by }: TransitionEventOf<'question.answered'>,
): ToolCall {
  const { run } = call
  const parent = run.parent()
  if (by === 'parent' && parent) passTaint(run, parent)
  run.addStep('AitlResponse', { request_id: requestId, answer, answered_by: by })
  run.addEvent('aitl', 'engine.aitl.answered', { requestId, answer })
  return settleCall(call, { outcome: 'executed', result: { answer, answered_by: by } })
}

/** Settles a call that the model made instead of answering its child. */
export const refuseUntilAnswered = (call: CallHandle, open: readonly AgentQuestion[]): ToolCall =>
  settleWithError(
    call,
    'invalid',
    toolError(
      'question_pending',
      `Not executed: a sub-agent waits for an answer (${open.map((each) => each.requestId).join(', ')}). Use answer_subagent or escalate_to_person first.`,
      { questions: open.map(toQuestionResult) },
    ),
  )

/** A call that the model did not make: it lets the parent wait for a child whose question was escalated automatically. */
export function waitForEscalated(run: RunHandle, turn: number, question: AgentQuestion, index: number): ToolCall {
  const proposed = proposeCall(run, turn, {
    id: `question_${question.requestId}`,
    index,
    name: 'escalate_to_person',
    kind: 'builtin',
    ref: ESCALATE_TO_PERSON,
    arguments: { request_id: question.requestId },
  })
  return proposed.as(proposed.to({ at: 'ready' })).to({ at: 'delegated', child: question.child })
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
