/** The events of a save as readers get them from the store, made from what is still in memory. */
import type { RunId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { StoredEvent } from '../../spec/event.ts'
import { toTimelineItem } from '../../spec/view/timeline-item.ts'
import type { SessionUpdateEvent } from '../../store/session-update.ts'
import type { LiveSession } from '../session/live-session.ts'

/** @param live the session with the save applied; if it lacks a step, the result is undefined and readers ask the store */
export function freshEvents(
  live: LiveSession,
  events: readonly SessionUpdateEvent[],
): readonly StoredEvent[] | undefined {
  const runs = new Map(live.tree.runs.map((run) => [run.id, run]))
  const fresh: StoredEvent[] = []
  for (const event of events) {
    if (!('ordinal' in event)) {
      fresh.push(event)
      continue
    }
    const { ordinal, sessionId, seq, runId, ts, kind, subject } = event
    const run = runs.get(runId)
    const step = stepOf(live, runId, ordinal)
    if (!run || !step) return undefined
    // A started event shows the step without its end, even if the step ended in the same save.
    const shown = subject === 'engine.step.started' ? { ...step, error: null, finishedAt: null } : step
    const item = toTimelineItem(shown, run) as unknown as JsonObject
    fresh.push({ sessionId, seq, runId, ts, kind, subject, data: { sessionId, runId, step: item } })
  }
  return fresh
}

const stepOf = ({ steps }: LiveSession, runId: RunId, ordinal: number) =>
  steps.get(runId)?.findLast((step) => step.ordinal === ordinal)
