/** Questions of children to their parent's model that are still open. */
import type { RunId } from '../../base/ids.ts'
import { isJsonObject, textOf, type JsonValue } from '../../base/json/json.ts'
import type { Run, ToolCall } from '../../spec/run/run.ts'
import { ANSWER_SUBAGENT, ASK_PARENT, ESCALATE_TO_PERSON, type RunPosition } from '../session/bindings.ts'
import type { RunHandle } from '../transaction/transaction.ts'

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

/** Open questions that none of these calls answers. */
export function unansweredQuestions(run: RunHandle, calls: readonly ToolCall[]): readonly AgentQuestion[] {
  const answered = new Set(calls.filter(answersQuestion).map((call) => requestIdIn(call.arguments)))
  return openQuestions(run.tx.runs(), run.id).filter((question) => !answered.has(question.requestId))
}

export const positionOf = (run: Run, runs: readonly Run[]): RunPosition => ({
  isChild: run.depth > 0,
  isAsked: openQuestions(runs, run.id).length > 0,
})

export const isQuestion = (call: ToolCall): boolean => call.ref === ASK_PARENT

export const answersQuestion = ({ ref }: Pick<ToolCall, 'ref'>): boolean =>
  ref === ANSWER_SUBAGENT || ref === ESCALATE_TO_PERSON

/** The question in a call of `ask_parent`. */
export function questionOf(call: ToolCall): { question: string; context: JsonValue } {
  const given = isJsonObject(call.arguments) ? call.arguments : {}
  return { question: textOf(given['question']), context: given['context'] ?? null }
}

/** The question that a call answers or escalates. */
export const requestIdIn = (given: JsonValue): string => (isJsonObject(given) ? textOf(given['request_id']) : '')
