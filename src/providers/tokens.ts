import type { CompletionRequest, ModelCall, ModelUsage } from './provider.ts'

/**
 * Estimates the tokens of a completion for a server that reports no usage, so that limits hold: four characters per token,
 * rounded up. The same request and answer always give the same numbers.
 */
export function estimateUsage(
  request: CompletionRequest,
  text: string,
  calls: readonly ModelCall[],
): { readonly inputTokens: number; readonly outputTokens: number } {
  let inputCharacters = request.system.length
  for (const message of request.messages) {
    if (message.role === 'user')
      for (const part of message.parts) inputCharacters += part.type === 'text' ? part.text.length : FILE_CHARACTERS
    else if (message.role === 'tool')
      inputCharacters += message.content.length + (message.media?.length ?? 0) * FILE_CHARACTERS
    else inputCharacters += message.text.length + lengthOfCalls(message.calls)
  }
  for (const tool of request.tools)
    inputCharacters += tool.name.length + tool.description.length + JSON.stringify(tool.schema).length
  return {
    inputTokens: estimateTokens(inputCharacters),
    outputTokens: estimateTokens(text.length + lengthOfCalls(calls)),
  }
}

/** Vendors count about a thousand tokens for an image or a page of a PDF. */
const FILE_CHARACTERS = 4000

const lengthOfCalls = (calls: readonly ModelCall[]): number =>
  calls.reduce((sum, call) => sum + call.name.length + JSON.stringify(call.arguments).length, 0)

export const estimateTokens = (characters: number): number => Math.max(1, Math.ceil(characters / 4))

/** What a provider reported, as it came. */
export interface ReportedUsage {
  readonly input?: unknown
  readonly output?: unknown
  /** Input and output together. */
  readonly total?: unknown
  readonly cachedInput?: unknown
  readonly cacheWrite?: unknown
  readonly reasoning?: unknown
}

/** No model reads or writes as many tokens at once; a greater number is a mistake of the server. */
const MOST_TOKENS = 1_000_000_000

/** Whole tokens of a reported number, also of one in a text; undefined for what is no number of tokens. Fractions are rounded up. */
export function wholeTokens(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && number >= 0 && number <= MOST_TOKENS ? Math.ceil(number) : undefined
}

/** A sum of reported numbers; undefined where the first is missing, since the others are only parts. */
export function sumTokens(first: unknown, ...others: readonly unknown[]): number | undefined {
  const known = wholeTokens(first)
  return known === undefined ? undefined : others.reduce<number>((sum, each) => sum + (wholeTokens(each) ?? 0), known)
}

/**
 * The usage of a completion, the same for all providers: whole numbers, so that limits and costs hold. What is missing, impossible,
 * or zero although something was read or written is estimated, and the usage says so. Parts that are not reported, or are zero,
 * are absent.
 * @param thinking text of the answer that is not displayed
 */
export function readUsage(
  reported: ReportedUsage | undefined,
  request: CompletionRequest,
  answer: { readonly text: string; readonly calls: readonly ModelCall[]; readonly thinking?: string },
): ModelUsage {
  const { text, calls, thinking = '' } = answer
  const isEmpty = text === '' && calls.length === 0 && thinking === ''
  const total = positive(reported?.total)
  let input = positive(reported?.input)
  let output = isEmpty ? wholeTokens(reported?.output) : positive(reported?.output)
  if (total !== undefined) {
    if (input === undefined && output !== undefined && total > output) input = total - output
    if (output === undefined && input !== undefined && total > input) output = total - input
  }
  const estimate = () => {
    const estimated = estimateUsage(request, text + thinking, calls)
    const written = output ?? (isEmpty ? 0 : estimated.outputTokens)
    // A total that is known holds for an estimate, too.
    const rest = total !== undefined && total > written ? total - written : estimated.inputTokens
    return { inputTokens: input ?? rest, outputTokens: written }
  }
  const exact = input === undefined || output === undefined ? undefined : { inputTokens: input, outputTokens: output }
  const counted = exact ?? estimate()
  const part = (value: unknown, most: number): number | undefined => {
    const tokens = positive(value)
    return tokens !== undefined && tokens <= most ? tokens : undefined
  }
  const cachedInputTokens = part(reported?.cachedInput, counted.inputTokens)
  const cacheWriteTokens = part(reported?.cacheWrite, counted.inputTokens - (cachedInputTokens ?? 0))
  const reasoningTokens = part(reported?.reasoning, counted.outputTokens)
  return {
    ...counted,
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(!exact && { estimated: true }),
  }
}

/** Tokens above zero: a prompt or an answer that exists has some. */
function positive(value: unknown): number | undefined {
  const tokens = wholeTokens(value)
  return tokens === 0 ? undefined : tokens
}
