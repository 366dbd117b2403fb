/** Assembles a completion from the events of the Messages API, in the forms that servers of this API give them. */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '../../base/json/json.ts'
import { isBlank } from '../alternating-turns.ts'
import { keepSafeNumbers, parseArguments } from '../arguments.ts'
import { finishReasonOf } from '../finish-reasons.ts'
import { PAUSE_TURN, type CompletionRequest, type FinishReason, type ModelCall } from '../provider.ts'
import { joinArguments } from '../reading/call-assembler.ts'
import { readMessageContent } from '../reading/content.ts'
import { describeForm, FormProblem } from '../reading/form-problem.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import type { StreamCollector } from '../sdk-provider.ts'
import { readUsage, sumTokens, type ReportedUsage } from '../tokens.ts'

/** The events of a message that came whole. */
export function toMessageEvents(message: JsonObject): readonly JsonObject[] {
  const content = message['content']
  const blocks = Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }]
  return [
    { type: 'message_start', message },
    ...blocks.map((block, index): JsonObject => ({ type: 'content_block_start', index, content_block: block })),
    {
      type: 'message_delta',
      delta: { stop_reason: message['stop_reason'] ?? null },
      usage: message['usage'] ?? null,
    },
    { type: 'message_stop' },
  ]
}

/** A block of the answer while it is streamed: as it began, and what was added. */
interface StreamedBlock {
  readonly start: JsonObject
  text: string
  json: string
  signature: string
}

/** A block of another type is a call of one of the vendor's own tools, or its result: the next request must send it back. */
const OWN_TYPES: ReadonlySet<unknown> = new Set(['text', 'tool_use', 'thinking', 'redacted_thinking'])

export function collectMessage(request: CompletionRequest): StreamCollector<JsonObject> {
  let stopReason: JsonValue | undefined
  let isComplete = false
  /** From the start of the message; its end reports those fields again that changed. */
  let usage: JsonObject = {}
  const blocks: StreamedBlock[] = []
  const byIndex = new Map<JsonValue | undefined, StreamedBlock>()

  function begin(index: JsonValue | undefined, start: JsonObject): StreamedBlock {
    const block = { start, text: '', json: '', signature: '' }
    blocks.push(block)
    byIndex.set(index, block)
    return block
  }

  function addUsage(reported: JsonValue | undefined): void {
    if (!isJsonObject(reported)) return
    // Some servers know the input at the start, others at the end, and say null or 0 where they do not.
    const known = Object.entries(reported).filter(([name, value]) => value !== null && (value !== 0 || !usage[name]))
    usage = { ...usage, ...Object.fromEntries(known) }
  }

  function addDelta({ index, delta }: JsonObject): { readonly text: string; readonly hidden: string } {
    if (!isJsonObject(delta))
      throw new FormProblem('content_block_delta.delta', `${describeForm(delta)}, not an object`)
    const { type } = delta
    const added = (member: string): string =>
      readMessageContent(delta[member], `content_block_delta.delta.${member}`).text
    const block = byIndex.get(index) ?? begin(index, { type: type === 'thinking_delta' ? 'thinking' : 'text' })
    if (type === 'text_delta') {
      const text = added('text')
      block.text += text
      return { text, hidden: '' }
    }
    if (type === 'signature_delta') block.signature += added('signature')
    if (type === 'thinking_delta') {
      const thinking = added('thinking')
      block.text += thinking
      return { text: '', hidden: thinking }
    }
    if (type !== 'input_json_delta') return { text: '', hidden: '' }
    const given = delta['partial_json']
    const json = isJsonObject(given) ? JSON.stringify(given) : added('partial_json')
    block.json = joinArguments(block.json, json)
    return { text: '', hidden: json }
  }

  /** Some servers leave out the end after the reason. */
  const isWhole = (): boolean => isComplete || typeof stopReason === 'string'

  return {
    add(event) {
      switch (event['type']) {
        case 'message_start': {
          const started = isJsonObject(event['message']) ? event['message']['usage'] : undefined
          // Output is not counted yet: the number here stands for none.
          if (isJsonObject(started)) addUsage({ ...started, output_tokens: null })
          break
        }
        case 'content_block_start': {
          const { index, content_block: start } = event
          if (!isJsonObject(start)) throw new FormProblem('content_block_start.content_block', describeForm(start))
          const block = begin(index, start)
          const member = start['type'] === 'thinking' ? 'thinking' : 'text'
          if (start['type'] !== 'text' && start['type'] !== 'thinking') break
          block.text = readMessageContent(start[member], `content_block_start.content_block.${member}`).text
          return member === 'text' ? { text: block.text, hidden: '' } : { text: '', hidden: block.text }
        }
        case 'content_block_delta':
          return addDelta(event)
        case 'message_delta':
          if (isJsonObject(event['delta'])) stopReason = event['delta']['stop_reason'] ?? stopReason
          addUsage(event['usage'])
          break
        case 'message_stop':
          isComplete = true
          break
      }
      return { text: '', hidden: '' }
    },
    isWhole,
    finish(isDone) {
      if (!(isWhole() || isDone) || (stopReason === undefined && blocks.length === 0)) throw incompleteStreamError()
      const ofType = (type: string): StreamedBlock[] => blocks.filter(({ start }) => start['type'] === type)
      const calls = ofType('tool_use').map(({ start, json }, at): ModelCall => ({
        id: textOf(start['id']) || `call_${request.run.turn}_${at + 1}`,
        name: textOf(start['name']),
        arguments: json === '' ? inputOf(start['input']) : parseArguments(json),
      }))
      const text = ofType('text')
        .map((block) => block.text)
        .join('')
      const finishReason = reasonOf(stopReason, calls.length > 0)
      const stored = blocks.flatMap(toStored)
      const thinking = stored.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
      // Blocks of the vendor's own tools must be sent back unchanged and in order.
      const isMixed = blocks.some(({ start }) => !OWN_TYPES.has(start['type']))
      return {
        text,
        finishReason,
        calls,
        usage: readUsage(toReported(usage), request, {
          text,
          calls,
          thinking: ofType('thinking')
            .map((block) => block.text)
            .join(''),
        }),
        ...(isMixed ? { hidden: { content: stored } } : thinking.length > 0 && { hidden: { thinking } }),
      }
    },
  }
}

/** Input that came whole. */
const inputOf = (input: JsonValue | undefined): JsonValue =>
  typeof input === 'string' ? parseArguments(input) : keepSafeNumbers(input ?? {})

/** A message that ended without a reason ended as its blocks say. */
function reasonOf(reason: JsonValue | undefined, hasCalls: boolean): FinishReason {
  if (reason === undefined || reason === null || reason === '') return hasCalls ? 'tool_calls' : 'stop'
  const known = reason === 'pause_turn' ? PAUSE_TURN : finishReasonOf(textOf(reason))
  if (known === undefined) throw unknownFinishError(reason, 'message_delta.delta.stop_reason')
  return hasCalls && known === 'stop' ? 'tool_calls' : known
}

/** The block as the next request sends it back; a call only as its place, blank text not at all. */
function toStored({ start, text, json, signature }: StreamedBlock): JsonObject[] {
  switch (start['type']) {
    case 'text':
      return isBlank(text) ? [] : [{ type: 'text', text }]
    case 'tool_use':
      return [{ type: 'tool_use' }]
    case 'thinking':
      return [{ type: 'thinking', thinking: text, signature: textOf(start['signature']) + signature }]
    case 'redacted_thinking':
      return [{ type: 'redacted_thinking', data: textOf(start['data']) }]
    default:
      return [{ ...start, ...(json !== '' && { input: parseArguments(json) }) }]
  }
}

/** Anthropic counts cached input beside the rest, and thinking within the output. */
function toReported(usage: JsonObject): ReportedUsage {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage
  const details = usage['output_tokens_details']
  return {
    input: sumTokens(input, read, written),
    output: usage['output_tokens'],
    cachedInput: read,
    cacheWrite: written,
    reasoning: isJsonObject(details) ? details['thinking_tokens'] : undefined,
  }
}
