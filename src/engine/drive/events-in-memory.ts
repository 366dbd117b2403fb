/** Events of a session from its state in memory: readers that come while it is at work need no query. */
import type { RunId } from '../../base/ids.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { StoredEvent } from '../../spec/event.ts'
import type { SessionUpdateEvent } from '../../store/session-update.ts'
import { toTimelineItem } from '../../view/timeline-item.ts'
import type { LiveSession } from '../session/live-session.ts'
import { EVENT_PAGE } from './run-events.ts'

/** All events after a cursor, less than a page of them; undefined if memory does not have them all. */
export function eventsAfter(live: LiveSession, cursor: number): readonly StoredEvent[] | undefined {
  const count = live.tree.session.lastSeq - cursor
  if (count < 0 || count > live.events.length || count >= EVENT_PAGE) return undefined
  return wholeEvents(live, live.events.slice(live.events.length - count))
}

/** @param live the session with the events' saves applied; if it lacks a step, the result is undefined and readers ask the store */
export function wholeEvents(
  live: LiveSession,
  events: readonly SessionUpdateEvent[],
): readonly StoredEvent[] | undefined {
  const runs = new Map(live.tree.runs.map((run) => [run.id, run]))
  const whole: StoredEvent[] = []
  for (const event of events) {
    if (!('ordinal' in event)) {
      whole.push(event)
      continue
    }
    const { ordinal, sessionId, seq, runId, ts, kind, subject } = event
    const run = runs.get(runId)
    const step = stepOf(live, runId, ordinal)
    if (!run || !step) return undefined
    // A started event shows the step without its end, even if the step ended in the same save.
    const shown = subject === 'engine.step.started' ? { ...step, error: null, finishedAt: null } : step
    const item = toJson(toTimelineItem(shown, run))
    whole.push({ sessionId, seq, runId, ts, kind, subject, data: { sessionId, runId, step: item } })
  }
  return whole
}

const stepOf = ({ steps }: LiveSession, runId: RunId, ordinal: number) =>
  steps.get(runId)?.findLast((step) => step.ordinal === ordinal)
