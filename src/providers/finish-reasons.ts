/** Why answers end, in the words of chat completions and of the servers that are compatible with them, in lower case. */
import type { FinishReason } from './provider.ts'

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  complete: 'stop',
  completed: 'stop',
  finished: 'stop',
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'context',
  model_context_window_exceeded: 'context',
  content_filter: 'content_filter',
  refusal: 'content_filter',
  safety: 'content_filter',
  sensitive: 'content_filter',
}

/** Gemini's compatible endpoint adds its own reason: `content_filter: PROHIBITED_CONTENT`. */
export const finishReasonOf = (reason: string): FinishReason | undefined =>
  FINISH_REASONS[reason.toLowerCase().split(':')[0]!.trim()]
