/**
 * The scripted model: a list of turns, played without a key or a network. Source: decisions, section 13.
 *
 * Which turn is played follows from the request alone, so a run that goes on after a restart, and any number of runs at once,
 * see the turns they would have seen anyway:
 *
 * 1. The first turn not yet used whose `when` holds. Its matchers look at the last message: the person's, or all results of the
 *    calls just made. `contains` is text in it, `matches` an RE2 pattern, `tool` the wire name of a tool that just answered,
 *    `input` values that the run's input has.
 * 2. Else the next turn without `when`.
 * 3. Else the last turn whose `when` holds, again.
 *
 * Used is what the completions in the transcript have used, found by playing it again. A failing turn is used up by the attempt
 * it fails, so that the next attempt sees the turn after it; where no turn is left it fails every attempt.
 */
import { loadRe2 } from '../base/re2.ts'
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import type { ScriptCall, ScriptTurn } from '../spec/snapshot.ts'
import { waitOrAbort, playAnswer, type OfflineAnswer } from './play.ts'
import {
  isRetryableStatus,
  ProviderError,
  type CompletionRequest,
  type ModelMessage,
  type ModelProvider,
} from './provider.ts'
import { fillReferences, type ReferenceScope } from './references.ts'

/** @param wait how `delay_ms` passes; a test that winds its clock gives another */
export const createScripted = (wait: typeof waitOrAbort = waitOrAbort): ModelProvider => ({
  async *complete(request, signal) {
    signal.throwIfAborted()
    const { turn, number } = chooseTurn(request)
    if (turn.delay_ms !== undefined) await wait(turn.delay_ms, signal)
    if (turn.fail !== undefined) throw failureOf(turn.fail, number)
    yield* playAnswer(request, answerOf(turn, number, request), signal)
  },
})

export const scriptedProvider: ModelProvider = createScripted()

interface ChosenTurn {
  readonly turn: ScriptTurn
  /** Position in the script, from 1, for messages. */
  readonly number: number
}

function chooseTurn(request: CompletionRequest): ChosenTurn {
  const script = request.model.script
  if (!script) throw permanent('The scripted model has no script; provider_options.script names one.')
  const turns = script.map((turn, index): ChosenTurn => ({ turn, number: index + 1 }))
  const used = new Set<ChosenTurn>()
  const pick = (seen: readonly ModelMessage[]): ChosenTurn | undefined => {
    const matching = turns.filter(({ turn }) => turn.when !== undefined && holds(turn.when, seen, request.run.input))
    return (
      matching.find((each) => !used.has(each)) ??
      turns.find((each) => each.turn.when === undefined && !used.has(each)) ??
      matching.at(-1)
    )
  }
  /** The turn after a failing one; the failing one itself when it is the last. */
  const passFailing = (seen: readonly ModelMessage[], attempts: number): ChosenTurn | undefined => {
    let here = pick(seen)
    for (let left = attempts; left > 0 && here?.turn.fail !== undefined; left--) {
      used.add(here)
      here = pick(seen) ?? here
    }
    return here
  }

  const transcript = request.run.earlier ?? request.messages
  transcript.forEach((message, at) => {
    if (message.role !== 'assistant') return
    const answered = passFailing(transcript.slice(0, at), turns.length)
    if (answered) used.add(answered)
  })
  const chosen = passFailing(request.messages, (request.run.attempt ?? 1) - 1)
  if (chosen) return chosen
  throw permanent(
    turns.length === 0
      ? 'The script has no turns.'
      : `The script is used up: completion ${request.run.turn} finds none of its ${turns.length} turns left, the last being turn ${turns.length}.`,
  )
}

function holds(when: NonNullable<ScriptTurn['when']>, messages: readonly ModelMessage[], input: JsonObject): boolean {
  const last = lastMessage(messages)
  if (when.contains !== undefined && !last.text.includes(when.contains)) return false
  if (when.matches !== undefined && !matches(when.matches, last.text)) return false
  if (when.tool !== undefined && !last.tools.some((name) => isNamed(when.tool!, name))) return false
  if (
    when.input !== undefined &&
    !Object.entries(when.input).every(([key, value]) => Object.hasOwn(input, key) && covers(value, input[key]!))
  )
    return false
  return true
}

/** Objects are compared by the keys that the matcher gives, all else whole. */
function covers(wanted: JsonValue, value: JsonValue): boolean {
  if (isJsonObject(wanted) && isJsonObject(value))
    return Object.entries(wanted).every(([key, each]) => Object.hasOwn(value, key) && covers(each, value[key]!))
  return canonicalJson(wanted) === canonicalJson(value)
}

/** The last message: what the person said, or all results since the last completion. */
function lastMessage(messages: readonly ModelMessage[]): { readonly text: string; readonly tools: readonly string[] } {
  const texts: string[] = []
  const tools: string[] = []
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') break
    if (message.role === 'user') {
      if (texts.length === 0)
        texts.push(message.parts.map((part) => (part.type === 'text' ? part.text : part.filename)).join('\n'))
      break
    }
    texts.unshift(message.content)
    tools.unshift(message.name)
  }
  return { text: texts.join('\n'), tools }
}

function matches(pattern: string, text: string): boolean {
  try {
    return loadRe2().compile(pattern).matcher(text).find()
  } catch (error) {
    throw permanent(`The script's pattern "${pattern}" is not valid RE2: ${(error as Error).message}.`)
  }
}

function answerOf(turn: ScriptTurn, number: number, request: CompletionRequest): OfflineAnswer {
  const results: Record<string, JsonValue> = {}
  for (const { name, result } of request.run.results) results[name] = result
  const scope: ReferenceScope = { input: request.run.input, results }
  try {
    const said = turn.say === undefined ? '' : fillReferences(turn.say, scope)
    return {
      text: typeof said === 'string' ? said : JSON.stringify(said),
      calls: callsOf(turn).map((call) => ({
        name: request.tools.find((tool) => isNamed(call.tool, tool.name))?.name ?? call.tool,
        arguments: fillReferences(call.arguments ?? {}, scope),
      })),
      usage: {
        ...(turn.usage?.input_tokens !== undefined && { inputTokens: turn.usage.input_tokens }),
        ...(turn.usage?.output_tokens !== undefined && { outputTokens: turn.usage.output_tokens }),
      },
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw permanent(`Turn ${number} of the script: ${error.message}.`)
  }
}

const callsOf = ({ call }: ScriptTurn): readonly ScriptCall[] =>
  call === undefined ? [] : Array.isArray(call) ? (call as readonly ScriptCall[]) : [call as ScriptCall]

/** A script may name a tool by its wire name or by its logical id, of which the last part is the usual wire name. */
const isNamed = (written: string, wire: string): boolean =>
  written === wire || written.slice(written.lastIndexOf('.') + 1) === wire

function failureOf(fail: NonNullable<ScriptTurn['fail']>, number: number): ProviderError {
  if (typeof fail === 'string') return permanent(fail)
  const { status } = fail
  return new ProviderError(
    fail.message ?? `Turn ${number} of the script fails${status === undefined ? '' : ` with ${status}`}.`,
    {
      ...(status !== undefined && { status }),
      retryable: status !== undefined && isRetryableStatus(status),
    },
  )
}

const permanent = (message: string): ProviderError => new ProviderError(message, { retryable: false })
