/** The messages of a run, built from its steps. Source: docs/design/models-and-tools.md#prompts */
import { PAUSE_TURN, type ModelMessage, type MessagePart } from '../../providers/provider.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import { textOf } from '../../base/json/json.ts'
import { callsOf, toolMessagesOf, type CallResults } from './call-results.ts'
import { fileNamesOf } from './input.ts'

/** Parts of a file by its leaf name. */
export type AttachedParts = ReadonlyMap<string, readonly MessagePart[]>

/** @param model its name; opaque provider data goes only to the model that wrote it */
export function messagesOf(
  steps: readonly RunStep[],
  results: CallResults,
  attachments: AttachedParts,
  model: string,
): ModelMessage[] {
  const messages: ModelMessage[] = []
  // Providers require the results right after the calls, so messages that a user sent meanwhile come after them.
  let later: ModelMessage[] = []
  const answers = toolMessagesOf(steps, results)
  const callIds = new Set(
    steps.flatMap((step) => (step.type === 'Reasoning' ? callsOf(step).map((call) => call.id) : [])),
  )
  const flush = (): void => {
    messages.push(...later)
    later = []
  }
  for (const step of steps) {
    if (step.type === 'UserMessage') {
      const files = fileNamesOf(step).flatMap((name) => attachments.get(name) ?? [])
      // The text of a reply is already the result of the `ask_user` call.
      const text = step.content['reply_to'] === undefined ? [textPart(textOf(step.content['text']))] : []
      if (text.length + files.length > 0) later.push({ role: 'user', parts: [...text, ...files] })
    } else if (step.type === 'Reasoning' && step.error === null) {
      flush()
      const calls = callsOf(step)
      const text = textOf(step.content['text'])
      const hidden = (step.content['model'] ?? model) === model ? step.hidden : undefined
      messages.push({ role: 'assistant', text, calls, ...(hidden && { hidden }) })
      for (const call of calls) {
        const answer = answers.get(call.id)
        if (answer) messages.push(answer)
      }
    } else if (step.type === 'SubAgentResult' && !callIds.has(textOf(step.content['tool_call_id']))) {
      // No call to match: the child went on after its question was escalated automatically.
      const answer = answers.get(textOf(step.content['tool_call_id']))
      if (answer?.role === 'tool')
        later.push({ role: 'user', parts: [textPart(`A sub-agent has ended. ${answer.content}`)] })
    } else if (
      step.type === 'ToolResult' &&
      step.content['probe_of'] === undefined &&
      !callIds.has(textOf(step.content['tool_call_id']))
    ) {
      // No call to match either: the child asked another question after such an escalation.
      later.push({ role: 'user', parts: [textPart(`A sub-agent asks. ${JSON.stringify(step.content['result'])}`)] })
    } else if (step.type === 'OutputValidation' && step.content['valid'] === false) {
      later.push({ role: 'user', parts: [textPart(validationMessage(step))] })
    }
  }
  flush()
  return messages
}

const textPart = (text: string): MessagePart => ({ type: 'text', text })

const validationMessage = (step: RunStep): string =>
  `Your answer is not valid: ${JSON.stringify(step.content['errors'])}. Answer again, with the whole JSON value and nothing else.`

/** False for a failed completion, and for one that its provider paused. */
const isWholeAnswer = ({ type, error, content }: RunStep): boolean =>
  type === 'Reasoning' && error === null && content['finish_reason'] !== PAUSE_TURN

/** The request to repair an invalid answer: its errors, the schema, and the answer. */
export function repairMessages({ output }: AgentSnapshot, steps: readonly RunStep[]): ModelMessage[] {
  const answer = steps.findLast((step) => isWholeAnswer(step))
  const errors = steps.findLast((step) => step.type === 'OutputValidation')?.content['errors']
  const parts = [
    'Mend this JSON so that it is valid. Answer with the JSON value alone.',
    `Errors: ${JSON.stringify(errors ?? [])}`,
    ...(output.schema === undefined ? [] : [`Schema: ${JSON.stringify(output.schema)}`]),
    textOf(answer?.content['text']),
  ]
  return [{ role: 'user', parts: [textPart(parts.join('\n\n'))] }]
}
