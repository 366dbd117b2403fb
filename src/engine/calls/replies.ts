/**
 * Applies what calls wait for besides dispatches: the end or a question of a child, the parent's answer, a reply of the
 * user.
 */
import type { RunId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { RunState, ToolCall } from '../../spec/run/run.ts'
import type { MessageFile, TransitionEventOf } from '../session/event.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { updateCalls } from './calls.ts'
import { receiveChildResult } from './delegate.ts'
import { isQuestion } from './open-questions.ts'
import { settleWithAnswer, settleWithQuestion } from './questions.ts'
import { settleCall } from './settle.ts'

export const applyChildEnd = (
  run: RunHandle,
  here: StateAt<'calling'>,
  { child }: TransitionEventOf<'child.ended'>,
): RunState | undefined => updateCalls(run, here, waitsFor(child), (call) => receiveChildResult(call, child))

export const applyChildQuestion = (
  run: RunHandle,
  here: StateAt<'calling'>,
  event: TransitionEventOf<'child.asked'>,
): RunState | undefined => updateCalls(run, here, waitsFor(event.child), (call) => settleWithQuestion(call, event))

/** Several calls wait for one child if it had asked several questions at once. */
const waitsFor =
  (child: RunId) =>
  ({ state }: ToolCall): boolean =>
    state.at === 'delegated' && state.child === child

export const applyQuestionAnswer = (
  run: RunHandle,
  here: StateAt<'calling'>,
  event: TransitionEventOf<'question.answered'>,
): RunState | undefined =>
  updateCalls(
    run,
    here,
    (call) => call.id === event.callId && isQuestion(call) && call.state.at !== 'settled',
    (call) => settleWithAnswer(call, event),
  )

/** Answers the first open question to the user with a reply. */
export function applyReply(
  run: RunHandle,
  here: StateAt<'calling'>,
  { text, files }: TransitionEventOf<'message'>,
): RunState | undefined {
  const first = here.calls.find(({ state }) => state.at === 'listening')
  return updateCalls(
    run,
    here,
    (call) => call === first,
    (call) => {
      const shown = shownFiles(files)
      run.addStep('UserMessage', { text, ...(shown.length > 0 && { files: shown }), reply_to: call.record.id })
      const result: JsonValue = shown.length > 0 ? { text, files: shown } : text
      return settleCall(call, { outcome: 'executed', result })
    },
  )
}

/** Files of a reply as they are shown in its step. */
export const shownFiles = (files: readonly MessageFile[]): JsonObject[] =>
  files.map(({ filename, mediaType }) => ({ filename, media_type: mediaType }))
