/** Events of a run as those of AG-UI 1.0. Source: docs/design/http.md#ag-ui */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '../../../base/json/json.ts'
import type { LiveText, StoredEvent } from '../../../spec/event.ts'
import { answerTextOf } from '../door-run.ts'

export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>

/**
 * Words of the model, its calls, their results, and the answer as it comes. A message that was begun must be ended before another begins,
 * and the answer is one message, so this keeps what is open.
 * @param isText false where the answer is JSON, which is sent whole at the end
 */
export function createAgUiTranslator(runId: string, isText: boolean) {
  const answerId = `answer-${runId}`
  let sent = ''
  let isOpen = false

  const begin = (): readonly AgUiEvent[] => {
    if (isOpen) return []
    isOpen = true
    return [{ type: 'TEXT_MESSAGE_START', messageId: answerId, role: 'assistant' }]
  }
  return {
    translate(event: StoredEvent | LiveText): readonly AgUiEvent[] {
      const text = isText ? answerTextOf(event) : undefined
      if (text !== undefined) {
        sent += text
        return [...begin(), { type: 'TEXT_MESSAGE_CONTENT', messageId: answerId, delta: text }]
      }
      const { step } = event.data
      if (!ENDED_STEPS.has(event.subject) || !isJsonObject(step)) return []
      return translateStep(step)
    },
    /** The rest of the answer, or all of it. */
    end(answer: string | undefined): readonly AgUiEvent[] {
      const rest = answer === undefined || answer.trim() === sent.trim() ? '' : restAfter(sent, answer)
      const last = rest === '' ? [] : [...begin(), { type: 'TEXT_MESSAGE_CONTENT', messageId: answerId, delta: rest }]
      return [...last, ...(isOpen ? [{ type: 'TEXT_MESSAGE_END', messageId: answerId }] : [])]
    },
  }
}

/** A call that was refused or failed has a result that failed. */
const ENDED_STEPS = new Set(['engine.step.completed', 'engine.step.failed'])

const restAfter = (sent: string, answer: string): string =>
  answer.startsWith(sent) ? answer.slice(sent.length) : `\n\n${answer}`

/** A turn that ends the run is left out: it is the answer. */
function translateStep({ id, type, content }: JsonObject): readonly AgUiEvent[] {
  if (!isJsonObject(content)) return []
  const { text, tool_calls: calls, tool_call_id: callId } = content
  const stepId = textOf(id)
  switch (type) {
    case 'Reasoning': {
      const made = Array.isArray(calls) ? calls.filter(isJsonObject) : []
      if (made.length === 0) return []
      const said = typeof text === 'string' && text !== '' ? messageEvents(stepId, text) : []
      return [...said, ...made.flatMap((call) => callEvents(call, said.length > 0 ? stepId : undefined))]
    }
    case 'ToolResult':
      // A question to the tool about the call is none that the model made.
      if (content['probe_of'] !== undefined) return []
      return resultEvents(stepId, callId, content['result'])
    case 'SubAgentResult':
      return resultEvents(stepId, callId, content['output'] ?? content['error'] ?? content['status'])
    default:
      return []
  }
}

const messageEvents = (messageId: string, delta: string): readonly AgUiEvent[] => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
  { type: 'TEXT_MESSAGE_END', messageId },
]

function callEvents(call: JsonObject, parentMessageId: string | undefined): readonly AgUiEvent[] {
  const toolCallId = textOf(call['id'])
  return [
    {
      type: 'TOOL_CALL_START',
      toolCallId,
      toolCallName: textOf(call['name']),
      ...(parentMessageId !== undefined && { parentMessageId }),
    },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(call['arguments'] ?? {}) },
    { type: 'TOOL_CALL_END', toolCallId },
  ]
}

function resultEvents(messageId: string, callId: JsonValue | undefined, result: JsonValue | undefined) {
  const content = typeof result === 'string' ? result : JSON.stringify(result ?? null)
  return [{ type: 'TOOL_CALL_RESULT', messageId, toolCallId: textOf(callId), content, role: 'tool' }]
}
