/**
 * An offline model for any agent, without a key or a network. It calls each tool once, in the order of the request, with
 * arguments that fit the schema and come from the run's input where possible; then it answers. Its behaviour depends on the
 * transcript alone. Source: docs/design/models-and-tools.md#record-and-replay
 */
import { streamOfflineAnswer } from './offline-answer.ts'
import type { CompletionRequest, ModelMessage, ModelProvider } from './provider.ts'
import { sampleValue } from './sample.ts'

export const autoProvider: ModelProvider = {
  async *complete(request, signal) {
    const called = new Set(
      request.messages.flatMap((message) =>
        message.role === 'assistant' ? message.calls.map((call) => call.name) : [],
      ),
    )
    const next = request.tools.find((tool) => !called.has(tool.name) && !CONVERSATION_TOOLS.has(tool.name))
    if (next) {
      const call = { name: next.name, arguments: sampleValue(next.schema, request.run.input) ?? {} }
      yield* streamOfflineAnswer(request, { text: '', calls: [call] }, signal)
    } else yield* streamOfflineAnswer(request, { text: answerOf(request), calls: [] }, signal)
  },
}

/** Tools between a sub-agent and its parent. They answer a request, so calling them without one is an error. */
const CONVERSATION_TOOLS = new Set(['ask_parent', 'answer_subagent', 'escalate_to_person'])

function answerOf(request: CompletionRequest): string {
  const { input, output } = request.run
  const schema = request.outputSchema ?? (output?.format === 'json' ? (output.schema ?? { type: 'object' }) : undefined)
  if (schema !== undefined) return JSON.stringify(sampleValue(schema, input) ?? null)
  const results = request.messages.filter(
    (message): message is ModelMessage & { role: 'tool' } => message.role === 'tool',
  )
  if (results.length === 0) return 'Done. No tool was called.'
  const outcomes = results.map((result) => `${result.name} ${result.isError ? 'failed' : 'succeeded'}`)
  return `Done: ${outcomes.join(', ')}.`
}
