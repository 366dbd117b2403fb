/**
 * Where the events of a run are in its session, which may go on for thousands of runs. Events are in the order of their times, so the
 * first and the last of a run are found by halving.
 */
import type { Instant } from '../../base/clock.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { StoredEvent } from '../../spec/event.ts'
import type { SessionStore } from '../../store/session-store.ts'
import type { FollowedRun } from '../interface/engine.ts'

/** Events read per query; bounds memory per reader to one page. */
export const EVENT_PAGE = 256

const LAST_OF_SESSION = new Set(['engine.session.completed', 'engine.session.failed', 'engine.session.cancelled'])
const LAST_OF_RUN = new Set(['engine.run.completed', 'engine.run.failed', 'engine.run.cancelled'])

export const isLastEvent =
  (id: RunId, isRoot: boolean) =>
  ({ runId, subject }: StoredEvent): boolean =>
    runId === id && (isRoot ? LAST_OF_SESSION : LAST_OF_RUN).has(subject)

/** Number of the last event before an instant; 0 where there is none. */
export async function findEventsBefore(store: SessionStore, sessionId: SessionId, at: Instant): Promise<number> {
  let [low, high] = [0, (await store.session(sessionId))?.lastSeq ?? 0]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await store.events(sessionId, middle, 1)
    if (!event || event.ts >= at) high = middle
    else low = event.seq
  }
  return low
}

/** True if the event that ends a run comes after a cursor. */
export async function endsAfter(store: SessionStore, run: FollowedRun, after: number): Promise<boolean> {
  const { id, sessionId, parentRunId, finishedAt } = run
  if (finishedAt === null) return false
  const isLast = isLastEvent(id, parentRunId === null)
  // What is older or newer than its end belongs to its work, and to later runs.
  for (let cursor = Math.max(after, await findEventsBefore(store, sessionId, finishedAt)); ;) {
    const page = await store.events(sessionId, cursor, EVENT_PAGE)
    if (page.some(isLast)) return true
    const last = page.at(-1)
    if (!last || page.length < EVENT_PAGE || last.ts > finishedAt) return false
    cursor = last.seq
  }
}
