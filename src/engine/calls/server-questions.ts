/**
 * Calls whose server asks a person something. A server that answers with its questions gets the call again with the answers; one
 * that asks while the call is under way gets them on the open request. Source: docs/design/foreign-peers.md#questions-of-servers
 */
import { shortenText } from '../../base/text/cut-text.ts'
import type { Instant } from '../../base/clock.ts'
import type { RunState, ToolCall } from '../../spec/run/run.ts'
import {
  answerFormOf,
  serverAnswerOf,
  wordsOfTask,
  type ServerInput,
  type ServerQuestion,
} from '../../spec/server-question.ts'
import type { TaskRecord } from '../../spec/task.ts'
import type { ToolOutcome } from '../../tools/tool.ts'
import type { TransitionEventOf } from '../session/event.ts'
import type { CallHandle } from '../transaction/call-handle.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { updateCalls } from './calls.ts'
import { settleCall, toolError } from './settle.ts'

/** Questions of one call, over all its attempts. */
const MAX_QUESTIONS = 8

/** The call has answered with questions, and was not made: it waits for a person, and is then sent with the answers. */
export function askForServer(
  call: CallHandle,
  { questions, state, endsWhenRefused }: Extract<ToolOutcome, { at: 'asked' }>,
): ToolCall {
  const { run, record } = call
  const before = record.input
  const asked = (before?.asked ?? 0) + Math.max(1, questions.length)
  if (asked > MAX_QUESTIONS) {
    const message = `${record.name} was not executed: its server asked for more than ${MAX_QUESTIONS} answers.`
    const result = toolError('too_many_questions', message)
    return settleCall(call, { outcome: 'failed', result, isError: true, notExecuted: true })
  }
  const open = call.openStep()
  if (open) run.closeStep(open)
  const rounds = (before?.rounds ?? 0) + 1
  const input: ServerInput = {
    asked,
    rounds,
    open: questions,
    answers: [],
    ...(state !== undefined && { state }),
    ...(endsWhenRefused && { endsWhenRefused }),
  }
  const next = call.with({ input, attempt: record.attempt + 1 })
  return questions.length === 0 ? next.to({ at: 'ready' }) : awaitAnswer(next, questions[0]!)
}

function awaitAnswer(call: CallHandle, question: ServerQuestion): ToolCall {
  return call.to({ at: 'awaiting', task: openQuestionTask(call, question).id })
}

/** @param until when nobody can answer any more, since the request ends */
function openQuestionTask(call: CallHandle, asked: ServerQuestion, until?: Instant): TaskRecord {
  const { run, record, tool } = call
  const { message, schema, url } = asked
  const server = tool?.mcp?.server ?? record.ref
  const question = { server, tool: record.ref, ...(schema && { schema }), ...(url !== undefined && { url }) }
  return run.openTask({
    ...answerFormOf(asked),
    callId: record.id,
    title: shortenText(wordsOfTask({ question, prompt: message, title: '' }), 200),
    prompt: message,
    question,
    ...(until !== undefined && { expiresAt: until, onTimeout: 'deny' as const }),
  })
}

/** Takes the answer of a person, or asks the next question. The decision about the call is made again right before it leaves. */
export function takeServerAnswer(call: CallHandle, { question, answer: given }: TaskRecord): ToolCall {
  const { state, input } = call.record
  const answer = serverAnswerOf(question!, given!)
  if (state.at === 'sent' && state.question)
    return call.to({ ...state, question: { name: state.question.name, answer } })
  if (input!.endsWhenRefused && answer.action !== 'accept') {
    const why = `${call.record.name} was not executed: a person did not do what its server asked for.`
    return settleCall(call, { outcome: 'failed', result: toolError('declined', why), isError: true, notExecuted: true })
  }
  const [asked, ...open] = input!.open
  const next = call.with({ input: { ...input!, open, answers: [...input!.answers, { name: asked!.name, ...answer }] } })
  return open.length > 0 ? awaitAnswer(next, open[0]!) : next.toProposed()
}

/** The server asks while the call is under way. Ignored where the call is not, or a question of it is open. */
export function askDuringCall(
  run: RunHandle,
  here: StateAt<'calling'>,
  { callId, attempt, question, until }: TransitionEventOf<'call.asked'>,
): RunState | undefined {
  const isUnderWay = ({ id, state, attempt: latest }: ToolCall): boolean =>
    id === callId && latest === attempt && state.at === 'sent' && !(state.question && 'task' in state.question)
  return updateCalls(run, here, isUnderWay, (call) => {
    const { state } = call.record
    if (state.at !== 'sent') return call.record
    const { id: task } = openQuestionTask(call, question, until)
    return call.to({ ...state, question: { name: question.name, task } })
  })
}
