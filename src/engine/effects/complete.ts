/** Requests a completion: from the agent's model, or from one of its fallbacks. */
import { isFailure, type Failure } from '../../base/failure.ts'
import { wellFormedJson } from '../../base/json/well-formed.ts'
import { isHeldBack } from '../../base/net/transport.ts'
import {
  ProviderError,
  type ModelCompletion,
  type CompletionRequest,
  type ModelProvider,
  type ModelUsage,
} from '../../providers/provider.ts'
import { estimateUsage, readUsage } from '../../providers/tokens.ts'
import { withoutMedia } from '../../providers/tool-media.ts'
import { traceOfTurn } from '../../spec/run/run-trace.ts'
import type { SnapshotModel, AgentSnapshot } from '../../spec/snapshot.ts'
import type { EngineParts } from '../interface/engine.ts'
import type { FallbackAnswer, OutageReport, RunTransitionEvent } from '../session/event.ts'
import { modelCause } from '../capacity/outages.ts'
import { filesOf } from '../prompt/input.ts'
import { summaryWanted, toRequest } from '../prompt/prompt.ts'
import { attachFiles } from './attach.ts'
import type { EffectContext, EffectInFlight } from './effect-in-flight.ts'
import type { RunEffect } from './effects.ts'
import type { CompletionMeter } from './meter.ts'
import { toModelTools } from './model-tools.ts'

export type CompletionEffect = Extract<RunEffect, { do: 'complete' }>

/** Failures of the provider become events; a thrown error is a bug or an abort. */
export async function completeTurn(
  parts: EngineParts,
  effect: CompletionEffect,
  context: EffectContext,
  onText: (text: string) => void,
  inFlight: EffectInFlight,
): Promise<RunTransitionEvent> {
  const { turn, attempt } = effect
  const { meter, controller } = inFlight
  const { signal } = controller
  try {
    const prompt = await readPrompt(parts, effect, context, signal)
    const askedAt = parts.clock.now()
    // Summaries are not streamed: nobody reads them.
    const onShown = prompt.summarise ? () => {} : onText
    const ask = (model: SnapshotModel): Promise<ModelCompletion> => askModel(parts, prompt, model, onShown, inFlight)
    return {
      type: 'model.answered',
      turn,
      attempt,
      askedAt,
      ...(await askWithFallback(context.snapshot, ask, signal, meter)),
    }
  } catch (error) {
    signal.throwIfAborted()
    const failed = toFailedEvent(error, effect, context, meter)
    if (!failed) throw error
    return failed
  }
}

type CompletionPrompt = Parameters<typeof toRequest>[0]

async function readPrompt(
  parts: EngineParts,
  { turn, tries, room, note }: CompletionEffect,
  context: EffectContext,
  signal: AbortSignal,
): Promise<CompletionPrompt> {
  const { run, snapshot, steps, before } = context
  return {
    run,
    snapshot,
    steps,
    before,
    turn,
    attempt: tries,
    attachments: await attachFiles(parts.store, parts.blobs, run.workspaceId, filesOf(steps)),
    tools: await toModelTools(parts.tools, context, signal),
    repair: note?.['repair'] === true,
    summarise: summaryWanted(note),
    room,
  }
}

/** Asks one model, once its provider has a free slot. */
async function askModel(
  { providers }: EngineParts,
  prompt: CompletionPrompt,
  model: SnapshotModel,
  onText: (text: string) => void,
  { controller: { signal }, enter, mayLeave, meter }: EffectInFlight,
): Promise<ModelCompletion> {
  const { snapshot, run } = prompt
  const provider = providers.choose(snapshot, model, run.sessionId)
  const isFallback = model !== snapshot.model
  const request = toRequest(isFallback ? { ...prompt, snapshot: { ...snapshot, model } } : prompt)
  checkFits(request, providers.terms(model, run.sessionId).contextWindow)
  const leave = await enter(model.provider, signal)
  const mayModelLeave = (): boolean => mayLeave(model.provider)
  try {
    if (isFallback && mayLeave() && !mayModelLeave()) throw pausedProvider(model.provider)
    return await sendRequest(
      provider,
      { ...request, mayLeave: mayModelLeave, trace: traceOfTurn(run, prompt.turn) },
      onText,
      signal,
      meter,
    )
  } finally {
    leave()
  }
}

/** The event of a completion that failed; undefined for an error that is a bug. */
function toFailedEvent(
  error: unknown,
  { turn, attempt }: CompletionEffect,
  { snapshot }: EffectContext,
  meter: CompletionMeter,
): RunTransitionEvent | undefined {
  if (isHeldBack(error)) return { type: 'model.held_back', turn, attempt }
  if (error instanceof ProviderError) {
    const { message, retryable, retryAfterMs, outage: reason, isFiltered } = error
    const cause = modelCause(snapshot.model.provider)
    const spent = meter.hasText() ? meter.spent() : undefined
    return {
      type: 'model.failed',
      turn,
      attempt,
      error: message,
      retryable,
      ...(reason && { outage: { reason, cause, ...(retryAfterMs !== undefined && { retryAfterMs }) } }),
      ...(isFiltered && { filtered: true }),
      ...(spent && { spent }),
    }
  }
  if (!isFailure(error)) return undefined
  const { message } = error
  const outage = outageOf(error)
  const retryable = outage?.reason === 'files_unreachable'
  return { type: 'model.failed', turn, attempt, error: message, retryable, ...(outage && { outage }) }
}

function outageOf(error: Failure): OutageReport | undefined {
  if (error.code === 'secret_not_set') return { reason: 'secret_missing', cause: error.message }
  if (error.code === 'bucket_unusable') return { reason: 'files_unreachable', cause: 'storage of files' }
  return undefined
}

/**
 * Characters that hardly any text has per token. The estimate takes four; a prompt that does not fit even with twice as many
 * never does.
 */
const GENEROUS = 2

/** @throws ProviderError for a prompt that cannot fit into the model's context window */
function checkFits(request: CompletionRequest, contextWindow: number | undefined): void {
  if (contextWindow === undefined) return
  const { provider, name } = request.model
  const least = Math.floor(estimateUsage(withoutMedia(request), '', []).inputTokens / GENEROUS)
  if (least <= contextWindow) return
  throw new ProviderError(
    `The prompt has at least ${least} tokens, and ${provider}/${name} reads ${contextWindow} at once. Nothing was sent.`,
    { retryable: false },
  )
}

/** The provider of a fallback model is paused by an operator. */
const pausedProvider = (provider: string): ProviderError =>
  new ProviderError(`The provider ${provider} is paused.`, { retryable: true, outage: 'provider_unreachable' })

/**
 * Characters of an answer, thinking and arguments included. No model writes as much, so this stops a server that does not end. Each
 * takes at most six bytes as JSON: an answer of ours that holds such an output stays below its 8 MiB.
 */
const MAX_ANSWER_CHARACTERS = 1_310_720

/** Sends a request to the model, and reads the answer as it arrives. */
async function sendRequest(
  provider: ModelProvider,
  request: CompletionRequest,
  onText: (text: string) => void,
  signal: AbortSignal,
  meter: CompletionMeter,
): Promise<ModelCompletion> {
  meter.begin(request)
  for await (const part of provider.complete(request, signal)) {
    if (part.type === 'end') return toStorableCompletion(part.completion, request)
    meter.addText(part.text)
    if (meter.characters() > MAX_ANSWER_CHARACTERS) throw longAnswer()
    if (part.type === 'text') onText(part.text)
  }
  throw new ProviderError('The connection to the model broke before its answer was complete.', {
    retryable: true,
    outage: 'provider_unreachable',
  })
}

/**
 * An answer as it can be stored, whichever provider gave it: well-formed Unicode, and usage in possible numbers. Scripts and recordings
 * are files of others, too.
 */
function toStorableCompletion(given: ModelCompletion, request: CompletionRequest): ModelCompletion {
  const completion = wellFormedJson(given)
  const reported: Partial<ModelUsage> | undefined = completion.usage
  const usage = readUsage(
    {
      input: reported?.inputTokens,
      output: reported?.outputTokens,
      cachedInput: reported?.cachedInputTokens,
      cacheWrite: reported?.cacheWriteTokens,
      reasoning: reported?.reasoningTokens,
    },
    request,
    completion,
  )
  return { ...completion, usage: reported?.estimated ? { ...usage, estimated: true } : usage }
}

const longAnswer = (): ProviderError =>
  new ProviderError(
    `The model did not end its answer within ${MAX_ANSWER_CHARACTERS} characters. Set max_output_tokens, or look at the model server.`,
    { retryable: false },
  )

/**
 * Asks the agent's model, and after a failure before the first token the models of `svc/model-fallback`, one after the other.
 * @throws ProviderError with the failures of all, to be retried where one of them may pass
 */
async function askWithFallback(
  { model, fallback = [] }: AgentSnapshot,
  ask: (model: SnapshotModel) => Promise<ModelCompletion>,
  signal: AbortSignal,
  meter: CompletionMeter,
): Promise<{ readonly completion: ModelCompletion; readonly fallback?: FallbackAnswer }> {
  const failures: { readonly model: string; readonly error: ProviderError }[] = []
  for (const each of [model, ...fallback]) {
    try {
      const completion = await ask(each)
      if (failures.length === 0) return { completion }
      const after = failures.map(({ model: name, error }) => ({ model: name, error: error.message }))
      return { completion, fallback: { model: each, after } }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ProviderError) || isHeldBack(error) || fallback.length === 0) throw error
      failures.push({ model: each.name, error })
      if (meter.hasText()) break
    }
  }
  const failed = failures.map(({ error }) => error)
  const outage = failed.find((each) => each.outage)?.outage
  const waits = failed.flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  throw new ProviderError(failures.map(({ model: name, error }) => `${name}: ${error.message}`).join(' '), {
    retryable: failed.some(({ retryable }) => retryable),
    ...(waits.length > 0 && { retryAfterMs: Math.min(...waits) }),
    ...(outage && { outage }),
    cause: failed[0],
  })
}
