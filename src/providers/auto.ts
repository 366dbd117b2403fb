/**
 * A model for any agent, without a key or a network: it calls each tool once, in the order they are offered, with arguments that
 * fit their schemas and are taken from the run's input where they can be; then it answers. What it does follows from the
 * transcript alone. Source: command line, section 3.1.
 */
import { playAnswer } from './play.ts'
import type { CompletionRequest, ModelMessage, ModelProvider } from './provider.ts'
import { sampleOf } from './sample.ts'

export const autoProvider: ModelProvider = {
  async *complete(request, signal) {
    const called = new Set(
      request.messages.flatMap((message) =>
        message.role === 'assistant' ? message.calls.map((call) => call.name) : [],
      ),
    )
    const next = request.tools.find((tool) => !called.has(tool.name) && !CONVERSATION.has(tool.name))
    if (next) {
      const call = { name: next.name, arguments: sampleOf(next.schema, request.run.input) ?? {} }
      yield* playAnswer(request, { text: '', calls: [call] }, signal)
    } else yield* playAnswer(request, { text: answerOf(request), calls: [] }, signal)
  },
}

/** Moves between a sub-agent and its parent: they answer something, so calling them unasked is only an error. */
const CONVERSATION = new Set(['ask_parent', 'answer_subagent', 'escalate_to_person'])

function answerOf(request: CompletionRequest): string {
  const { input, output } = request.run
  const schema = request.outputSchema ?? (output?.format === 'json' ? (output.schema ?? { type: 'object' }) : undefined)
  if (schema !== undefined) return JSON.stringify(sampleOf(schema, input) ?? null)
  const results = request.messages.filter(
    (message): message is ModelMessage & { role: 'tool' } => message.role === 'tool',
  )
  if (results.length === 0) return 'Done. No tool was called.'
  const told = results.map((result) => `${result.name} ${result.isError ? 'failed' : 'succeeded'}`)
  return `Done: ${told.join(', ')}.`
}
