/** Derives from the outcome of an effect which outages are over. */
import { toolNamed } from '../session/bindings.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import type { LiveSession } from '../session/live-session.ts'
import { modelCause, toolCause } from '../capacity/outages.ts'
import type { RunEffect } from './effects.ts'

/** The causes of outages that the effect shows to be over: of its model or tool, and the one that held its run. */
export function reachedCauses(live: LiveSession, effect: RunEffect, event: RunTransitionEvent): readonly string[] {
  const run = live.tree.runs.find(({ id }) => id === effect.runId)
  if (!run) return []
  const { snapshot } = live.versions.of(run)
  if (effect.do === 'invoke') {
    if (event.type !== 'call.ended' || (event.outcome.at !== 'returned' && event.outcome.at !== 'asked')) return []
    const tool = toolNamed(snapshot, effect.call.name)
    return [...(effect.call.outage ? [effect.call.outage.cause] : []), ...(tool ? [toolCause(snapshot, tool)] : [])]
  }
  const isAnswered = event.type === 'model.answered' || (event.type === 'model.failed' && !event.outage)
  if (!isAnswered) return []
  const { state } = run
  const held = state.at === 'thinking' && state.outage ? [state.outage.cause] : []
  // The answer of a fallback model says nothing about the first model.
  return 'fallback' in event ? held : [...held, modelCause(snapshot.model.provider)]
}
