/**
 * The scripted model: plays a list of turns without a key or a network. Source: docs/design/models-and-tools.md#record-and-replay
 *
 * The request alone determines the turn, so a restart and concurrent runs do not change which turns a run sees:
 *
 * 1. The first unused turn whose `when` matches. Matchers read the last message: the user's, or all results of the last calls.
 *    `contains` is text in it, `matches` an RE2 pattern, `tool` the wire name of a tool that just answered, `input` values that
 *    the run's input has.
 * 2. Else the next unused turn without `when`.
 * 3. Else the last turn whose `when` matches, again.
 *
 * Turns are used by the completions in the transcript, which is played again to find them. A failing turn is used by the attempt
 * that it fails, so that the next attempt sees the turn after it; when no turn is left, it fails every attempt.
 */
import { loadRe2 } from '../base/pattern/re2.ts'
import { containsJson, type JsonObject, type JsonValue, isJsonObject } from '../base/json/json.ts'
import type { ScriptCall, ScriptTurn } from '../spec/snapshot.ts'
import { waitOrAbort, streamOfflineAnswer, type OfflineAnswer } from './offline-answer.ts'
import { ProviderError, type CompletionRequest, type ModelMessage, type ModelProvider } from './provider.ts'
import { ownMember } from '../base/json/own-member.ts'
import { isRetryableStatus } from './reading/error-body.ts'

/** @param wait waits for `delay_ms`; tests with a manual clock pass their own */
export const createScripted = (wait: typeof waitOrAbort = waitOrAbort): ModelProvider => ({
  async *complete(request, signal) {
    signal.throwIfAborted()
    const { turn, number } = chooseTurn(request)
    if (turn.delay_ms !== undefined) await wait(turn.delay_ms, signal)
    if (turn.fail !== undefined) throw failureOf(turn.fail, number)
    yield* streamOfflineAnswer(request, answerOf(turn, number, request), signal)
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
  if (!script) throw permanentError('The scripted model has no script; provider_options.script names one.')
  const turns = script.map((turn, index): ChosenTurn => ({ turn, number: index + 1 }))
  const used = new Set<ChosenTurn>()
  const pickTurn = (seen: readonly ModelMessage[]): ChosenTurn | undefined => {
    const matching = turns.filter(({ turn }) => turn.when !== undefined && isMatch(turn.when, seen, request.run.input))
    return (
      matching.find((each) => !used.has(each)) ??
      turns.find((each) => each.turn.when === undefined && !used.has(each)) ??
      matching.at(-1)
    )
  }
  /** Skips one failing turn per failed attempt. Returns the failing turn itself when no turn follows it. */
  const skipFailing = (seen: readonly ModelMessage[], failedAttempts: number): ChosenTurn | undefined => {
    let chosen = pickTurn(seen)
    for (let left = failedAttempts; left > 0 && chosen?.turn.fail !== undefined; left--) {
      used.add(chosen)
      chosen = pickTurn(seen) ?? chosen
    }
    return chosen
  }

  const transcript = (request.run.earlier ?? request.messages).slice(request.run.before ?? 0)
  transcript.forEach((message, at) => {
    if (message.role !== 'assistant') return
    const answered = skipFailing(transcript.slice(0, at), turns.length)
    if (answered) used.add(answered)
  })
  const chosen = skipFailing(request.messages, (request.run.attempt ?? 1) - 1)
  if (chosen) return chosen
  throw permanentError(
    turns.length === 0
      ? 'The script has no turns.'
      : `The script is used up: completion ${request.run.turn} finds none of its ${turns.length} turns left, the last being turn ${turns.length}.`,
  )
}

function isMatch(when: NonNullable<ScriptTurn['when']>, messages: readonly ModelMessage[], input: JsonObject): boolean {
  const last = lastMessage(messages)
  if (when.contains !== undefined && !last.text.includes(when.contains)) return false
  if (when.matches !== undefined && !matchesPattern(when.matches, last.text)) return false
  const { tool, input: wanted } = when
  if (tool !== undefined && !last.tools.some((name) => isNamed(tool, name))) return false
  return wanted === undefined || containsJson(input, wanted)
}

/** The last message: the user's, or all results since the last completion. */
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

function matchesPattern(pattern: string, text: string): boolean {
  try {
    return loadRe2().compile(pattern).matcher(text).find()
  } catch (error) {
    throw permanentError(`The script's pattern "${pattern}" is not valid RE2: ${(error as Error).message}.`)
  }
}

function answerOf(turn: ScriptTurn, number: number, request: CompletionRequest): OfflineAnswer {
  const results: Record<string, JsonValue> = {}
  for (const { name, result } of request.run.results) results[name] = result
  const scope: ReferenceScope = { input: request.run.input, results }
  try {
    const text = turn.say === undefined ? '' : fillReferences(turn.say, scope)
    return {
      text: typeof text === 'string' ? text : JSON.stringify(text),
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
    throw permanentError(`Turn ${number} of the script: ${error.message}.`)
  }
}

const callsOf = ({ call }: ScriptTurn): readonly ScriptCall[] =>
  call === undefined ? [] : ([call].flat() as readonly ScriptCall[])

/** A script names a tool by its wire name or by its logical id, whose last part is usually the wire name. */
const isNamed = (written: string, wire: string): boolean =>
  written === wire || written.slice(written.lastIndexOf('.') + 1) === wire

function failureOf(fail: NonNullable<ScriptTurn['fail']>, number: number): ProviderError {
  if (typeof fail === 'string') return permanentError(fail)
  const { status } = fail
  return new ProviderError(
    fail.message ?? `Turn ${number} of the script fails${status === undefined ? '' : ` with ${status}`}.`,
    {
      ...(status !== undefined && { status }),
      retryable: status !== undefined && isRetryableStatus(status),
    },
  )
}

const permanentError = (message: string): ProviderError => new ProviderError(message, { retryable: false })

/** Values that `${…}` can refer to. `results` has the latest result of each tool by its wire name. */
interface ReferenceScope {
  readonly input: JsonObject
  readonly results: Readonly<Record<string, JsonValue>>
}

/**
 * Replaces references such as `${input.order}` and `${results.lookup.items[0].id}` in every string of a value. A string that is
 * exactly one reference becomes the referenced value; inside other text, strings are inserted as they are and other values as
 * JSON. `$${` stands for a literal `${`.
 * @throws RangeError with the reference that has no value
 */
function fillReferences(value: unknown, scope: ReferenceScope): JsonValue {
  if (typeof value === 'string') return fillText(value, scope)
  if (Array.isArray(value)) return value.map((each) => fillReferences(each, scope))
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fillReferences(each, scope)]))
  return (value ?? null) as JsonValue
}

const REFERENCE = /\$?\$\{([^{}]*)\}/g

function fillText(text: string, scope: ReferenceScope): JsonValue {
  if (/^\$\{[^{}]*\}$/.test(text)) return lookUp(text.slice(2, -1), scope)
  return text.replace(REFERENCE, (match, path: string) => {
    if (match.startsWith('$$')) return match.slice(1)
    const value = lookUp(path, scope)
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

function lookUp(path: string, scope: ReferenceScope): JsonValue {
  const keys = path.trim().match(/[^.[\]]+/g) ?? []
  let here: JsonValue | undefined = { input: scope.input, results: { ...scope.results } }
  for (const key of keys) {
    if (Array.isArray(here)) here = here[Number(key)]
    else here = isJsonObject(here) ? ownMember(here, key) : undefined
  }
  if (here === undefined || keys.length === 0) throw new RangeError(`\${${path}} names nothing`)
  return here
}
