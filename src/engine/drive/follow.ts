/** Follows a run: its events as they are stored, and model text as it arrives. Source: docs/design/http.md#stream */
import { giveWay, startWork } from '../../base/event-loop.ts'
import { fail } from '../../base/failure.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { LiveText, StoredEvent } from '../../spec/event.ts'
import { isTerminal } from '../../spec/run/run.ts'
import type { SessionStore } from '../../store/session-store.ts'
import type { SessionDriver } from './drive.ts'
import type { SessionNotifier } from './notifier.ts'
import { endsAfter, EVENT_PAGE, findEventsBefore, isLastEvent } from './run-events.ts'
import type { FollowedEvent, FollowedRun } from '../interface/engine.ts'

const NO_EVENTS: readonly never[] = []

export interface FollowParts {
  readonly store: SessionStore
  readonly notifier: SessionNotifier
  readonly driver: Pick<SessionDriver, 'eventsInMemory'>
}

/**
 * Events of a run after `after`, without a gap and without a repeat: first what is stored, then what arrives. The store is
 * the only buffer, so a slow reader costs one page of memory and a reader that was away misses nothing.
 */
export async function* followRunEvents(
  { store, notifier, driver }: FollowParts,
  run: RunId | FollowedRun,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly FollowedEvent[]> {
  const { id, sessionId, isRoot, isFirst, hasEnded, before } = await readFollowedRun(store, run, after)
  const family = await createRunFamily(store, { id, sessionId, isRoot, isFirst })
  const isLast = isLastEvent(id, isRoot)
  const subscription = notifier.subscribe(sessionId)
  let cursor = Math.max(after, before)
  let isLive = false
  /** Notifications counted before the last page was read. */
  let readAt = -1
  try {
    if (hasEnded) return
    while (!signal.aborted) {
      const seen = subscription.count() // before the read: an event stored meanwhile notifies again
      // Drops text that arrives during the replay: it would be out of order.
      if (!isLive) subscription.takeDeltas(Infinity)
      // A wake-up for model text alone needs no query.
      const tookLong = startWork()
      const page =
        seen === readAt
          ? NO_EVENTS
          : await subscription.readPage(
              cursor,
              async () => driver.eventsInMemory(sessionId, cursor) ?? store.events(sessionId, cursor, EVENT_PAGE),
            )
      // Large events take as long again to be written to the reader.
      if (tookLong()) await giveWay()
      const batch: FollowedEvent[] = []
      const addDeltas = async (deltas: readonly LiveText[]): Promise<void> => {
        for (const delta of deltas) {
          if (family.isWholeSession || (await family.has(delta.runId))) batch.push(delta)
        }
      }
      let hasLast = false
      for (const [at, event] of page.entries()) {
        cursor = event.seq
        const earlier = isLive ? subscription.takeDeltas(cursor) : NO_EVENTS
        if (earlier.length > 0) await addDeltas(earlier)
        if (family.isWholeSession || (await family.sees(event))) batch.push(event)
        if (!isLast(event)) continue
        // A run that was resumed goes on after such an event.
        const isNewest = at === page.length - 1 && page.length < EVENT_PAGE
        hasLast = isNewest || (await isOver(store, id, cursor))
        if (hasLast) break
      }
      const isCaughtUp = hasLast || page.length < EVENT_PAGE
      // Marks the end of the replay, even if the run has ended and the stream ends here.
      if (isCaughtUp && !isLive) batch.push('live')
      isLive ||= isCaughtUp
      // The remaining text belongs to a step that is not stored yet.
      if (isLive && !hasLast) await addDeltas(subscription.takeDeltas(cursor + 1))
      if (batch.length > 0) yield batch
      if (hasLast) return
      if (!isCaughtUp) continue
      readAt = seen
      await subscription.waitBeyond(seen, signal)
    }
  } finally {
    subscription.close()
  }
}

/** The part of a run that a reader keeps: the run with its input may be large, and thousands may read it. */
interface ReadersRun {
  readonly id: RunId
  readonly sessionId: SessionId
  readonly isRoot: boolean
  /** True for the first root run of its session: nothing comes before it, and its stream ends before anything follows. */
  readonly isFirst: boolean
}

async function readFollowedRun(
  store: SessionStore,
  given: RunId | FollowedRun,
  after: number,
): Promise<ReadersRun & { readonly hasEnded: boolean; readonly before: number }> {
  const run = typeof given === 'string' ? await store.run(given) : given
  if (!run) throw fail('not_found', { what: 'run' })
  const { id, sessionId, parentRunId, starter } = run
  const isRoot = parentRunId === null
  const isFirst = isRoot && starter === undefined
  const [hasEnded, before] = await Promise.all([
    isReadToEnd(store, run, after),
    isFirst ? 0 : findEventsBefore(store, sessionId, run.startedAt),
  ])
  return { id, sessionId, isRoot, isFirst, hasEnded, before }
}

/** True if the event at the cursor ended the run, and the run was not resumed after it. */
async function isOver(store: SessionStore, id: RunId, cursor: number): Promise<boolean> {
  const run = await store.run(id)
  return !run || (isTerminal(run.status) && isReadToEnd(store, run, cursor))
}

/** True when the last event of the run is at or before the cursor. */
const isReadToEnd = async (store: SessionStore, run: FollowedRun, after: number): Promise<boolean> =>
  after > 0 && isTerminal(run.status) && !(await endsAfter(store, run, after))

interface RunFamily {
  /** True where every run of the session belongs to it. */
  readonly isWholeSession: boolean
  has(id: RunId): Promise<boolean>
  /** Events of the family, and those of the session that concern its root run. */
  sees(event: StoredEvent): Promise<boolean>
}

/** A run and its descendants. Runs are only ever added, so their parents are read again only for an unknown run. */
async function createRunFamily(store: SessionStore, run: ReadersRun): Promise<RunFamily> {
  const yes = (): Promise<boolean> => Promise.resolve(true)
  if (run.isFirst) return { isWholeSession: true, has: yes, sees: yes }
  let parents = new Map<RunId, RunId | null>()
  /** Runs of the session beside the family. */
  const others = new Set<RunId>()
  const read = async (): Promise<void> => {
    parents = new Map((await store.treesOf(run.sessionId, [run.id])).map((each) => [each.id, each.parentRunId]))
  }
  await read()
  const rootOf = (id: RunId): RunId => {
    const above = parents.get(id) ?? null
    return above === null ? id : rootOf(above)
  }
  const root = rootOf(run.id)
  const has = async (id: RunId): Promise<boolean> => {
    if (others.has(id)) return false
    if (!parents.has(id)) await read()
    if (!parents.has(id)) others.add(id)
    for (let at: RunId | null = id; at !== null; at = parents.get(at) ?? null) if (at === run.id) return true
    return false
  }
  return {
    isWholeSession: false,
    has,
    sees: async ({ kind, runId }) => (kind === 'session' && runId === root) || has(runId),
  }
}
