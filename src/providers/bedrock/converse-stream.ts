/** Assembles a completion from the events of the Converse API. */
import type { ConverseStreamOutput, TokenUsage } from '@aws-sdk/client-bedrock-runtime'
import type { JsonObject } from '../../base/json/json.ts'
import { parseArguments } from '../arguments.ts'
import type { CompletionRequest, FinishReason, ModelCall } from '../provider.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import type { StreamCollector } from '../sdk-provider.ts'
import { readUsage, sumTokens, type ReportedUsage } from '../tokens.ts'

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'context',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
}

export function collectConverse(request: CompletionRequest): StreamCollector<ConverseStreamOutput> {
  let text = ''
  let stopReason: string | undefined
  let usage: ReportedUsage | undefined
  const calls = new Map<number, { readonly id: string; readonly name: string; json: string }>()
  const reasoning = new Map<number, { text: string; signature: string; redacted: Uint8Array[] }>()
  return {
    add({ contentBlockStart, contentBlockDelta, messageStop, metadata }) {
      if (contentBlockStart?.start?.toolUse) {
        const { toolUseId = '', name = '' } = contentBlockStart.start.toolUse
        calls.set(contentBlockStart.contentBlockIndex ?? calls.size, { id: toolUseId, name, json: '' })
      }
      if (messageStop) stopReason = messageStop.stopReason
      if (metadata?.usage) usage = toReported(metadata.usage)
      const { delta, contentBlockIndex = 0 } = contentBlockDelta ?? {}
      if (delta?.text !== undefined) {
        text += delta.text
        return { text: delta.text, hidden: '' }
      }
      if (delta?.toolUse) {
        const call = calls.get(contentBlockIndex)
        if (call) call.json += delta.toolUse.input ?? ''
        return { text: '', hidden: delta.toolUse.input ?? '' }
      }
      if (delta?.reasoningContent) {
        const block = reasoning.get(contentBlockIndex) ?? { text: '', signature: '', redacted: [] }
        reasoning.set(contentBlockIndex, block)
        block.text += delta.reasoningContent.text ?? ''
        block.signature += delta.reasoningContent.signature ?? ''
        if (delta.reasoningContent.redactedContent) block.redacted.push(delta.reasoningContent.redactedContent)
        return { text: '', hidden: delta.reasoningContent.text ?? '' }
      }
      return { text: '', hidden: '' }
    },
    isWhole: () => stopReason !== undefined,
    finish() {
      if (stopReason === undefined) throw incompleteStreamError()
      const collected = [...calls].map(([index, { id, name, json }]): ModelCall => ({
        id: id || `call_${request.run.turn}_${index + 1}`,
        name,
        arguments: parseArguments(json),
      }))
      const known = FINISH_REASONS[stopReason]
      if (known === undefined) throw unknownFinishError(stopReason, 'messageStop.stopReason')
      const thinking = [...reasoning.values()].map((block) => block.text).join('')
      return {
        text,
        // Some models say that they ended beside calls.
        finishReason: collected.length > 0 && known === 'stop' ? 'tool_calls' : known,
        calls: collected,
        usage: readUsage(usage, request, { text, calls: collected, thinking }),
        ...(reasoning.size > 0 && { hidden: { reasoning: [...reasoning.values()].map(toStored) } }),
      }
    },
  }
}

const toStored = (block: { text: string; signature: string; redacted: Uint8Array[] }): JsonObject =>
  block.redacted.length > 0
    ? { redacted: Buffer.concat(block.redacted).toString('base64') }
    : { text: block.text, ...(block.signature !== '' && { signature: block.signature }) }

/** AWS counts cached input beside the rest. */
const toReported = (usage: TokenUsage): ReportedUsage => ({
  input: sumTokens(usage.inputTokens, usage.cacheReadInputTokens, usage.cacheWriteInputTokens),
  output: usage.outputTokens,
  total: usage.totalTokens,
  cachedInput: usage.cacheReadInputTokens,
  cacheWrite: usage.cacheWriteInputTokens,
})
