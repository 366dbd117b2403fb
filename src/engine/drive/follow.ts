/** Events of a run as they are stored, and model text as it arrives. Source: decisions, section 7. */
import { fail } from '../../base/failure.ts'
import type { RunId } from '../../base/ids.ts'
import type { TextDelta, StoredEvent } from '../../spec/event.ts'
import { isTerminal, type Run } from '../../spec/run.ts'
import type { Store } from '../../store/store.ts'
import type { SessionNotifier } from './notifier.ts'
import type { FollowedEvent } from '../session/engine.ts'

/** Events read per query; bounds memory per reader to one page. */
const PAGE = 256

const NOTHING: readonly never[] = []

const LAST_OF_SESSION = new Set(['engine.session.completed', 'engine.session.failed', 'engine.session.cancelled'])
const LAST_OF_RUN = new Set(['engine.run.completed', 'engine.run.failed', 'engine.run.cancelled'])

/**
 * Events of a run after `after`, without a gap and without a repeat: what is stored first, then what arrives. The store is
 * the only buffer, so a slow reader costs one page of memory and a reader that was away misses nothing.
 */
export async function* followRunEvents(
  store: Store,
  bell: SessionNotifier,
  id: RunId,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly FollowedEvent[]> {
  const run = await store.run(id)
  if (!run) throw fail('not_found', { what: 'run' })
  const family = await createFamily(store, run)
  const isLast = (event: StoredEvent): boolean =>
    run.depth === 0 ? LAST_OF_SESSION.has(event.subject) : event.runId === id && LAST_OF_RUN.has(event.subject)
  const ear = bell.listen(run.sessionId)
  let cursor = after
  let live = false
  let read = -1
  try {
    if (await hasEnded(store, run, after, isLast)) return
    while (!signal.aborted) {
      const heard = ear.count() // before the read: what is stored meanwhile rings again
      // Text said before the replay has ended would be out of place.
      if (!live) ear.deltas(Infinity)
      // Model text alone asks nothing of the store.
      const page = heard === read ? NOTHING : await ear.read(cursor, () => store.events(run.sessionId, cursor, PAGE))
      const together: FollowedEvent[] = []
      const tell = async (deltas: readonly TextDelta[]): Promise<void> => {
        for (const delta of deltas) {
          if (family.all || (await family.has(delta.runId))) together.push(delta)
        }
      }
      let last = false
      for (const event of page) {
        cursor = event.seq
        const ahead = live ? ear.deltas(cursor) : NOTHING
        if (ahead.length > 0) await tell(ahead)
        if (family.all || event.kind === 'session' || (await family.has(event.runId))) together.push(event)
        last ||= isLast(event)
        if (last) break
      }
      const whole = last || page.length < PAGE
      // Where the replay ends for good, so does the stream.
      if (whole && !live) together.push('live')
      live ||= whole
      // What goes on belongs to a step that is not stored yet.
      if (live && !last) await tell(ear.deltas(cursor + 1))
      if (together.length > 0) yield together
      if (last) return
      if (!whole) continue
      read = heard
      await ear.after(heard, signal)
    }
  } finally {
    ear.close()
  }
}

/** True when everything up to the end of the run lies at or before the cursor. */
async function hasEnded(
  store: Store,
  run: Run,
  after: number,
  isLast: (event: StoredEvent) => boolean,
): Promise<boolean> {
  if (after === 0 || !isTerminal(run.status)) return false
  for (let cursor = after; ;) {
    const page = await store.events(run.sessionId, cursor, PAGE)
    if (page.some(isLast)) return false
    if (page.length < PAGE) return true
    cursor = page.at(-1)!.seq
  }
}

interface Family {
  /** True for a root: every run of the session is its own. */
  readonly all: boolean
  has(id: RunId): Promise<boolean>
}

/** The run and its descendants. Runs are only added, so one that is known stays where it is. */
async function createFamily(store: Store, run: Run): Promise<Family> {
  if (run.depth === 0) return { all: true, has: () => Promise.resolve(true) }
  let parents = new Map<RunId, RunId | null>()
  const read = async (): Promise<void> => {
    parents = new Map((await store.runsOf(run.sessionId)).map((each) => [each.id, each.parentRunId]))
  }
  await read()
  return {
    all: false,
    async has(id) {
      if (!parents.has(id)) await read()
      for (let at: RunId | null = id; at !== null; at = parents.get(at) ?? null) if (at === run.id) return true
      return false
    },
  }
}
