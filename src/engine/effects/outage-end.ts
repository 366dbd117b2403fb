/** Tells from the outcome of an effect what can be reached again. */
import { toolNamed } from '../session/bindings.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import type { LiveSession } from '../session/live-session.ts'
import { modelCause, toolCause } from '../session/outages.ts'
import type { RunEffect } from './effects.ts'

/** What the effect reached: its model or tool, and what had held its run before. */
export function reachedCauses(live: LiveSession, effect: RunEffect, event: RunTransitionEvent): readonly string[] {
  const run = live.tree.runs.find(({ id }) => id === effect.runId)
  if (!run) return []
  const { snapshot } = live.versions.of(run)
  if (effect.do === 'invoke') {
    if (event.type !== 'call.ended' || event.outcome.at !== 'returned') return []
    const tool = toolNamed(snapshot, effect.call.name)
    return [...(effect.call.outage ? [effect.call.outage.cause] : []), ...(tool ? [toolCause(snapshot, tool)] : [])]
  }
  const isAnswered = event.type === 'model.answered' || (event.type === 'model.failed' && !event.outage)
  if (!isAnswered) return []
  const { state } = run
  const held = state.at === 'thinking' && state.outage ? [state.outage.cause] : []
  // The answer of another model says nothing about the one that was asked first.
  return 'fallback' in event ? held : [...held, modelCause(snapshot.model.provider)]
}
