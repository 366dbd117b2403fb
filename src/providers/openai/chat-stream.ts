/** Assembles a completion from the chunks of chat completions, in the forms that compatible servers give them. */
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { parseArguments } from '../arguments.ts'
import type { CompletionRequest, FinishReason, ModelCall } from '../provider.ts'
import { createCallAssembler, type CallAssembler } from '../reading/call-assembler.ts'
import { readMessageContent } from '../reading/content.ts'
import { describeForm, FormProblem } from '../reading/form-problem.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import type { StreamCollector } from '../sdk-provider.ts'
import { readUsage, type ReportedUsage } from '../tokens.ts'

/** Finish reasons in lower case. Compatible servers use more of them than OpenAI does. */
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
  content_filter: 'content_filter',
  refusal: 'content_filter',
  safety: 'content_filter',
  sensitive: 'content_filter',
}

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
    if (isJsonObject(given['usage'])) usage = given['usage']
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
    if (Array.isArray(delta['reasoning_details'])) details.push(...delta['reasoning_details'].filter(isJsonObject))
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
      usage = reported.find(isJsonObject) ?? usage
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
      const ended = finishReason === undefined ? 'stop' : FINISH_REASONS[finishReason.toLowerCase()]
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
  if (reason === undefined || reason === null || reason === '') return
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

/** Calls of a delta, also the one call of the older form. */
function callsIn(delta: JsonObject, place: string): readonly unknown[] {
  const { tool_calls: calls, function_call: call } = delta
  if (calls !== undefined && calls !== null && !Array.isArray(calls) && !isJsonObject(calls))
    throw new FormProblem(`${place}.tool_calls`, `${describeForm(calls)}, not a list`)
  return [...(calls === undefined || calls === null ? [] : [calls].flat()), ...(isJsonObject(call) ? [call] : [])]
}

/** Servers other than OpenAI report the details only where they have them, some beside the totals. */
function toReported(usage: JsonObject): ReportedUsage {
  const { prompt_tokens_details: details, completion_tokens_details: more } = usage
  const [input, output] = [isJsonObject(details) ? details : {}, isJsonObject(more) ? more : {}]
  return {
    input: usage['prompt_tokens'] ?? usage['input_tokens'],
    output: usage['completion_tokens'] ?? usage['output_tokens'],
    total: usage['total_tokens'],
    cachedInput: input['cached_tokens'] ?? usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens'],
    reasoning: output['reasoning_tokens'] ?? usage['reasoning_tokens'],
  }
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
