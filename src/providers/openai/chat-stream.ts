/** Assembles a completion from the chunks of chat completions, in the forms that compatible servers give them. */
import { isJsonObject, listOf, textOf, type JsonObject } from '../../base/json/json.ts'
import { parseArguments } from '../arguments.ts'
import { finishReasonOf } from '../finish-reasons.ts'
import type { CompletionRequest, ModelCall } from '../provider.ts'
import { createCallAssembler, type CallAssembler } from '../reading/call-assembler.ts'
import { readMessageContent } from '../reading/content.ts'
import { describeForm, FormProblem } from '../reading/form-problem.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import type { StreamCollector } from '../sdk-provider.ts'
import { readUsage, wholeTokens, type ReportedUsage } from '../tokens.ts'

/** Members in which servers send thinking as text. What came in one goes back in it. */
const REASONING_MEMBERS = ['reasoning_content', 'reasoning'] as const

/** One choice of an answer. Only one is asked for, so further ones are parts of it, or alternatives. */
interface StreamedChoice {
  readonly calls: CallAssembler
  text: string
  hasDelta: boolean
  finishReason?: string
}

export function collectChunks(request: CompletionRequest): StreamCollector<JsonObject> {
  const known = new Set(request.tools.map(({ name }) => name))
  const choices = new Map<unknown, StreamedChoice>()
  const reasoning = new Map<string, string>()
  const details: JsonObject[] = []
  let thinking = ''
  let isRefused = false
  let usage: JsonObject | undefined

  function addChoice(given: unknown, at: number): { readonly text: string; readonly hidden: string } {
    const place = `choices[${at}]`
    if (!isJsonObject(given)) throw new FormProblem(place, `${describeForm(given)}, not a choice`)
    const key = given['index'] ?? at
    const choice = choices.get(key) ?? { calls: createCallAssembler(known), text: '', hasDelta: false }
    choices.set(key, choice)
    if (isCounted(given['usage'])) usage = given['usage']
    addFinish(choice, given['finish_reason'], `${place}.finish_reason`)
    const delta = deltaOf(choice, given)
    if (delta === undefined) return { text: '', hidden: '' }
    const inside = `${place}.${given['delta'] === delta ? 'delta' : 'message'}`
    const content = readMessageContent(delta['content'], `${inside}.content`)
    const refusal = readMessageContent(delta['refusal'], `${inside}.refusal`).text
    if (refusal !== '') isRefused = true
    let hidden = content.hidden
    for (const name of REASONING_MEMBERS) {
      if (delta[name] === undefined || delta[name] === null) continue
      const { text, hidden: more } = readMessageContent(delta[name], `${inside}.${name}`)
      reasoning.set(name, (reasoning.get(name) ?? '') + text + more)
      hidden += text + more
    }
    for (const each of listOf(delta['reasoning_details'])) if (isJsonObject(each)) addDetail(details, each)
    thinking += hidden
    const added = choice.calls.add(callsIn(delta, inside), `${inside}.tool_calls`)
    const isMain = choice === choices.values().next().value
    const text = content.text + refusal
    choice.text += text
    return { text: isMain ? text : '', hidden: hidden + added + (isMain ? '' : text) }
  }

  return {
    add(chunk) {
      const reported = [chunk['usage'], isJsonObject(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined]
      usage = reported.find(isCounted) ?? usage ?? reported.find(isJsonObject)
      const given = chunk['choices']
      if (given === undefined || given === null) return { text: '', hidden: '' }
      if (!Array.isArray(given)) throw new FormProblem('choices', `${describeForm(given)}, not a list`)
      const added = given.map(addChoice)
      return { text: added.map(({ text }) => text).join(''), hidden: added.map(({ hidden }) => hidden).join('') }
    },
    isWhole: () => [...choices.values()].some(({ finishReason }) => finishReason !== undefined),
    finish(isDone) {
      const all = [...choices.values()]
      const text = all[0]?.text ?? ''
      const finishReason = all.find((choice) => choice.finishReason !== undefined)?.finishReason
      // Calls of further choices count only where the first has none: alternatives must not be made twice.
      const assembled = all.map((choice) => choice.calls.calls()).find((calls) => calls.length > 0) ?? []
      const calls = assembled.map(({ id, name, arguments: json }, at): ModelCall => ({
        id: id ?? `call_${request.run.turn}_${at + 1}`,
        name,
        arguments: parseArguments(json),
      }))
      if (finishReason === undefined && !(isDone && (text + thinking !== '' || calls.length > 0)))
        throw incompleteStreamError()
      const ended = finishReason === undefined ? 'stop' : finishReasonOf(finishReason)
      if (ended === undefined) throw unknownFinishError(finishReason, 'choices[0].finish_reason')
      // Some servers send "stop" with calls. OpenAI ends a refusal with "stop", like an answer.
      const known = calls.length > 0 && ended === 'stop' ? 'tool_calls' : ended
      return {
        text,
        finishReason: isRefused && known !== 'length' ? 'content_filter' : known,
        calls,
        usage: readUsage(usage && toReported(usage), request, { text, calls, thinking }),
        ...hiddenState(reasoning, details),
      }
    },
  }
}

function addFinish(choice: StreamedChoice, reason: unknown, place: string): void {
  if (reason === undefined || reason === null || reason === '' || reason === 'null') return
  if (typeof reason !== 'string') throw unknownFinishError(reason, place)
  choice.finishReason = reason
}

/** The delta of a chunk; the whole message where no delta came before it. */
function deltaOf(choice: StreamedChoice, { delta, message }: JsonObject): JsonObject | undefined {
  if (isJsonObject(delta)) {
    choice.hasDelta = true
    return delta
  }
  return isJsonObject(message) && !choice.hasDelta ? message : undefined
}

/** Types of details that come in pieces, and the members that do. */
const DETAIL_TYPES: ReadonlySet<unknown> = new Set(['reasoning.text', 'reasoning.summary'])
const DETAIL_TEXTS = ['text', 'summary'] as const

/** Joins the pieces of one detail: sent back apart, its signature would not hold. */
function addDetail(details: JsonObject[], piece: JsonObject): void {
  const last = details.at(-1)
  const continues = last !== undefined && last['type'] === piece['type'] && last['index'] === piece['index']
  if (!continues || !DETAIL_TYPES.has(piece['type'])) return void details.push({ ...piece })
  for (const [name, value] of Object.entries(piece))
    if (DETAIL_TEXTS.some((each) => each === name)) last[name] = textOf(last[name]) + textOf(value)
    else if (value !== null) last[name] = value
}

/** Calls of a delta, also the one call of the older form. */
function callsIn(delta: JsonObject, place: string): readonly unknown[] {
  const { tool_calls: calls, function_call: call } = delta
  if (calls !== undefined && calls !== null && !Array.isArray(calls) && !isJsonObject(calls))
    throw new FormProblem(`${place}.tool_calls`, `${describeForm(calls)}, not a list`)
  return [...(calls === undefined || calls === null ? [] : [calls].flat()), ...(isJsonObject(call) ? [call] : [])]
}

/** Whether a usage counts something. Some servers send another one of zeros after it. */
const isCounted = (usage: unknown): usage is JsonObject =>
  isJsonObject(usage) && USAGE_MEMBERS.some((name) => (wholeTokens(usage[name]) ?? 0) > 0)

const USAGE_MEMBERS = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'input_tokens', 'output_tokens'] as const

/** Servers other than OpenAI report the details only where they have them, some beside the totals. */
function toReported(usage: JsonObject): ReportedUsage {
  const { prompt_tokens_details: details, completion_tokens_details: more } = usage
  const [input, output] = [isJsonObject(details) ? details : {}, isJsonObject(more) ? more : {}]
  const read = usage['prompt_tokens'] ?? usage['input_tokens']
  const written = usage['completion_tokens'] ?? usage['output_tokens']
  return {
    input: read,
    output: withHiddenTokens(read, written, usage['total_tokens']),
    total: usage['total_tokens'],
    cachedInput: input['cached_tokens'] ?? usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens'],
    cacheWrite: input['cache_write_tokens'] ?? usage['cache_creation_input_tokens'],
    reasoning: output['reasoning_tokens'] ?? usage['reasoning_tokens'],
  }
}

/** What was written, with the thinking that xAI and Gemini's compatible endpoint count in the total alone: it is paid as output. */
function withHiddenTokens(...given: readonly [read: unknown, written: unknown, total: unknown]): unknown {
  const [read = 0, written = 0, total = 0] = given.map(wholeTokens)
  return read > 0 && written > 0 && total > read + written ? total - read : given[1]
}

/** Thinking as the next request sends it back, under the names that the server uses. */
function hiddenState(
  reasoning: ReadonlyMap<string, string>,
  details: readonly JsonObject[],
): { readonly hidden?: JsonObject } {
  const state: JsonObject = {
    ...Object.fromEntries([...reasoning].filter(([, text]) => text !== '')),
    ...(details.length > 0 && { reasoning_details: details as JsonObject[] }),
  }
  return Object.keys(state).length > 0 ? { hidden: { chat: state } } : {}
}
