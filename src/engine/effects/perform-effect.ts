/** Performs effects: sends them out of the process and turns their outcomes into events. */
import { wellFormedJson } from '../../base/json/well-formed.ts'
import { traceOfCall } from '../../spec/run/run-trace.ts'
import type { ToolInvocation, ToolOutcome, ToolProgress } from '../../tools/tool.ts'
import { toolNamed } from '../session/bindings.ts'
import type { EngineParts } from '../interface/engine.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import { idempotencyKeyOf } from '../session/keys.ts'
import { completeTurn } from './complete.ts'
import type { EffectContext, EffectInFlight } from './effect-in-flight.ts'
import type { RunEffect } from './effects.ts'

/** What is told of an effect while it goes on, and stored nowhere. */
export interface LiveReports {
  /** The text of a model as it arrives. */
  readonly onText: (text: string) => void
  readonly onProgress: (progress: ToolProgress) => void
  /** Asks a person for the server of a call. */
  readonly onQuestion: NonNullable<ToolInvocation['onQuestion']>
}

/** Performs an effect. Failures of providers and tools become events; a thrown error is a bug or an abort. */
export async function performEffect(
  parts: EngineParts,
  effect: RunEffect,
  context: EffectContext,
  shown: LiveReports,
  inFlight: EffectInFlight,
): Promise<RunTransitionEvent> {
  if (effect.do === 'complete') return completeTurn(parts, effect, context, shown.onText, inFlight)
  const { id: callId, attempt } = effect.call
  return { type: 'call.ended', callId, attempt, outcome: await invokeTool(parts, effect, context, shown, inFlight) }
}

type ToolEffect = Extract<RunEffect, { do: 'invoke' }>

/** Sends a call to its tool. Nothing is sent before this point. */
async function invokeTool(
  { tools }: EngineParts,
  { turn, call }: ToolEffect,
  context: EffectContext,
  { onProgress, onQuestion }: LiveReports,
  { mayLeave, token, controller }: EffectInFlight,
): Promise<ToolOutcome> {
  const tool = toolNamed(context.snapshot, call.name)!
  const route = tools.route(context.snapshot, tool)
  if (!route || call.state.at !== 'sent')
    return { at: 'not_sent', code: 'no_handler', error: `Nothing handles ${tool.id} on this server.` }
  const outcome = await route.invoke(
    {
      tool,
      arguments: call.arguments,
      idempotencyKey: idempotencyKeyOf(context.run.id, turn, call.index),
      callId: call.id,
      attempt: call.attempt,
      notAfter: call.state.notAfter,
      mayLeave,
      onProgress,
      onQuestion,
      ...(token !== undefined && { completionToken: token }),
      ...(call.input && {
        input: { answers: call.input.answers, ...(call.input.state !== undefined && { state: call.input.state }) },
      }),
      trace: traceOfCall(context.run, call.id),
      run: {
        id: context.run.id,
        sessionId: context.run.sessionId,
        agent: context.snapshot.id,
        version: context.snapshot.version,
      },
    },
    controller.signal,
  )
  // Canned results and texts of programs are no JSON of ours: a half of a pair in them could not be stored or sent on.
  return wellFormedJson(outcome)
}
