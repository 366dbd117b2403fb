/** Performs effects: sends them out of the process and turns their outcomes into events. */
import { isFailure } from '../../base/failure.ts'
import { isHeldBack } from '../../base/net/transport.ts'
import {
  ProviderError,
  type ModelCompletion,
  type CompletionRequest,
  type ModelProvider,
} from '../../providers/provider.ts'
import { estimateUsage } from '../../providers/tokens.ts'
import type { ToolCall } from '../../spec/run.ts'
import type { SnapshotModel } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import type { ToolOutcome } from '../../tools/tool.ts'
import { toolNamed } from '../session/bindings.ts'
import type { EngineParts } from '../session/engine.ts'
import { modelCause } from '../session/outages.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import type { EarlierMessage } from '../session/prompt/earlier.ts'
import { filesOf } from '../session/prompt/input.ts'
import { idempotencyKeyOf } from '../session/keys.ts'
import { summaryWanted, toRequest } from '../session/prompt/prompt.ts'
import { attachFiles } from './attach.ts'
import type { RunEffect } from './effects.ts'
import { askWithFallback } from './fallback.ts'
import type { CompletionMeter } from './meter.ts'
import { toModelTools, type OfferedTools } from './model-tools.ts'

/** The part of a session that an effect reads while it runs. */
export interface EffectContext extends OfferedTools {
  readonly steps: readonly RunStep[]
  /** Messages and outputs of the session before the run. */
  readonly before: readonly EarlierMessage[]
}

/** An effect in flight in this process. */
export interface EffectInFlight {
  /** True for a call of a tool, false for a completion. */
  readonly isCall: boolean
  /** True for a call that may have done something that a repetition would do twice: what became of it must be learned. */
  readonly isUnsafe: boolean
  /** True once nothing waits for the outcome any more, such as after a cancel. */
  isCalledOff: boolean
  /** Waits for a free completion slot of a provider; call the result to give it back. */
  readonly enter: (provider: string, signal: AbortSignal) => Promise<() => void>
  readonly controller: AbortController
  /**
   * False once this process must not perform the effect any more, or an operator paused it; called right before the first
   * byte leaves.
   * @param provider of the completion, if it differs from that of the agent's own model
   */
  readonly mayLeave: (provider?: string) => boolean
  readonly meter: CompletionMeter
  /** Token for a call that external work ends. */
  readonly token?: string
}

/** Performs an effect. Failures of providers and tools become events; a thrown error is a bug or an abort. */
export async function performEffect(
  parts: EngineParts,
  effect: RunEffect,
  context: EffectContext,
  onText: (text: string) => void,
  { controller, meter, enter, mayLeave, token }: EffectInFlight,
): Promise<RunTransitionEvent> {
  const { signal } = controller
  if (effect.do === 'invoke') {
    const outcome = await invokeTool(parts, effect.turn, effect.call, context, mayLeave, token, signal)
    return { type: 'call.ended', callId: effect.call.id, attempt: effect.call.attempt, outcome }
  }
  const { turn, attempt } = effect
  try {
    const { run, snapshot, steps, before } = context
    const attachments = await attachFiles(parts.store, parts.blobs, run.workspaceId, filesOf(steps))
    const tools = await toModelTools(parts.tools, context, signal)
    const repair = effect.note?.['repair'] === true
    const summarise = summaryWanted(effect.note)
    const { tries, room } = effect
    const ask = async (model: SnapshotModel): Promise<ModelCompletion> => {
      const provider = parts.providers.choose(snapshot, model, run.sessionId)
      const asked = model === snapshot.model ? snapshot : { ...snapshot, model }
      const request = toRequest({
        run,
        snapshot: asked,
        steps,
        before,
        turn,
        attempt: tries,
        tools,
        attachments,
        repair,
        summarise,
        room,
      })
      checkFits(request, parts.providers.terms(model, run.sessionId).contextWindow)
      const leave = await enter(model.provider, signal)
      const mayModelLeave = (): boolean => mayLeave(model.provider)
      try {
        if (model !== snapshot.model && mayLeave() && !mayModelLeave()) throw pausedProvider(model.provider)
        // Summaries are not streamed: nobody reads them.
        const onShown = summarise ? () => {} : onText
        return await sendRequest(provider, { ...request, mayLeave: mayModelLeave }, onShown, signal, meter)
      } finally {
        leave()
      }
    }
    return { type: 'model.answered', turn, attempt, ...(await askWithFallback(snapshot, ask, signal, meter)) }
  } catch (error) {
    signal.throwIfAborted()
    if (isHeldBack(error)) return { type: 'model.held_back', turn, attempt }
    if (error instanceof ProviderError) {
      const { message, retryable, retryAfterMs, outage: reason } = error
      const cause = modelCause(context.snapshot.model.provider)
      const spent = meter.hasText() ? meter.spent() : undefined
      return {
        type: 'model.failed',
        turn,
        attempt,
        error: message,
        retryable,
        ...(reason && { outage: { reason, cause, ...(retryAfterMs !== undefined && { retryAfterMs }) } }),
        ...(spent && { spent }),
      }
    }
    if (isFailure(error, 'secret_not_set'))
      return {
        type: 'model.failed',
        turn,
        attempt,
        error: error.message,
        retryable: false,
        outage: { reason: 'secret_missing', cause: error.message },
      }
    if (isFailure(error)) return { type: 'model.failed', turn, attempt, error: error.message, retryable: false }
    throw error
  }
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
  const least = Math.floor(estimateUsage(request, '', []).inputTokens / GENEROUS)
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
    if (part.type === 'end') return part.completion
    meter.addText(part.text)
    if (meter.characters() > MAX_ANSWER_CHARACTERS) throw longAnswer()
    if (part.type === 'text') onText(part.text)
  }
  throw new ProviderError('The connection to the model broke before its answer was complete.', {
    retryable: true,
    outage: 'provider_unreachable',
  })
}

const longAnswer = (): ProviderError =>
  new ProviderError(
    `The model did not end its answer within ${MAX_ANSWER_CHARACTERS} characters. Set max_output_tokens, or look at the model server.`,
    { retryable: false },
  )

/** Sends a call to its tool. Nothing is sent before this point. */
async function invokeTool(
  { tools }: EngineParts,
  turn: number,
  call: ToolCall,
  context: EffectContext,
  mayLeave: () => boolean,
  token: string | undefined,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const tool = toolNamed(context.snapshot, call.name)!
  const route = tools.route(context.snapshot, tool)
  if (!route || call.state.at !== 'sent')
    return { at: 'not_sent', code: 'no_handler', error: `Nothing handles ${tool.id} on this server.` }
  return route.invoke(
    {
      tool,
      arguments: call.arguments,
      idempotencyKey: idempotencyKeyOf(context.run.id, turn, call.index),
      callId: call.id,
      attempt: call.attempt,
      notAfter: call.state.notAfter,
      mayLeave,
      ...(token !== undefined && { completionToken: token }),
      run: {
        id: context.run.id,
        sessionId: context.run.sessionId,
        agent: context.snapshot.id,
        version: context.snapshot.version,
      },
    },
    signal,
  )
}
