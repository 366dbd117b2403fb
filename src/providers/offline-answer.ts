import { setTimeout as after } from 'node:timers/promises'
import type { JsonValue } from '../base/json/json.ts'
import type { ModelCompletion, CompletionPart, CompletionRequest, ModelCall } from './provider.ts'
import { estimateUsage } from './tokens.ts'

/** The answer of an offline model: text, calls, and the usage it reports. */
export interface OfflineAnswer {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: JsonValue }[]
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number }
}

/** Streams an answer of an offline model in parts, like a provider on the network. */
export async function* streamOfflineAnswer(
  request: CompletionRequest,
  answer: OfflineAnswer,
  signal: AbortSignal,
): AsyncGenerator<CompletionPart> {
  signal.throwIfAborted()
  for (const text of splitIntoParts(answer.text)) {
    yield { type: 'text', text }
    // As with a real model, a reader can abort between two parts.
    signal.throwIfAborted()
  }
  const calls: ModelCall[] = answer.calls.map((call, index) => ({
    id: `call_${request.run.turn}_${index + 1}`,
    ...call,
  }))
  const estimated = estimateUsage(request, answer.text, calls)
  const completion: ModelCompletion = {
    text: answer.text,
    finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
    calls,
    usage: {
      inputTokens: answer.usage?.inputTokens ?? estimated.inputTokens,
      outputTokens: answer.usage?.outputTokens ?? estimated.outputTokens,
    },
  }
  yield { type: 'end', completion }
}

/**
 * Waits, or throws the signal's reason as soon as the signal fires.
 * @param milliseconds at least 0
 */
export async function waitOrAbort(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await after(milliseconds, undefined, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** Up to four words per part, about as much as a model sends in one event. */
const splitIntoParts = (text: string): readonly string[] => text.match(/(?:\S+\s*|\s+){1,4}/g) ?? []
