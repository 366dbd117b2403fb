/**
 * Sessions that wait for their client's next call, as they were saved. To read one costs more than the rest of a call, and more with
 * each call that it had. Only memory: whoever changes the session meanwhile gives it another version, and it is read again.
 * Source: docs/design/gate.md#what-a-call-costs
 */
import type { SessionId } from '../../base/ids.ts'
import type { Run } from '../../spec/run/run.ts'
import type { SessionStore } from '../../store/session-store.ts'
import type { LiveSession } from '../session/live-session.ts'

/** Characters of all steps that are kept. */
const MAX_CHARS = 32 * 1024 * 1024
/** One of few steps takes more memory than its characters. */
const MAX_SESSIONS = 1000

export interface RestingSessions {
  /** Keeps a session that waits for its client and was saved; forgets any other. */
  keep(id: SessionId, live: LiveSession | undefined): void
  /** The session, which is kept no longer, if nobody has changed it since. */
  take(id: SessionId): Promise<LiveSession | undefined>
  forget(id: SessionId): void
  forgetAll(): void
}

interface Resting {
  readonly live: LiveSession
  readonly chars: number
}

export function createRestingSessions(store: SessionStore, maxChars = MAX_CHARS): RestingSessions {
  /** The one that was kept last is last. */
  const kept = new Map<SessionId, Resting>()
  let chars = 0

  function forget(id: SessionId): void {
    chars -= kept.get(id)?.chars ?? 0
    kept.delete(id)
  }

  return {
    keep(id, live) {
      forget(id)
      if (!live || !awaitsClient(live)) return
      live.events = []
      const resting = { live, chars: countChars(live) }
      kept.set(id, resting)
      chars += resting.chars
      for (const oldest of kept.keys()) {
        if (chars <= maxChars && kept.size <= MAX_SESSIONS) break
        forget(oldest)
      }
    },
    async take(id) {
      const { live } = kept.get(id) ?? {}
      forget(id)
      const session = live && (await store.session(id))
      if (!session || session.version !== live.tree.session.version) return undefined
      // What people call it is written without a new version.
      live.tree = { ...live.tree, session }
      return live
    },
    forget,
    forgetAll() {
      kept.clear()
      chars = 0
    },
  }
}

/** True where nothing is under way, and nobody but the client of the newest run is waited for. */
function awaitsClient({ tree: { runs, tasks }, isHeld }: LiveSession): boolean {
  const awaits = ({ state }: Run): boolean => state.at === 'thinking' && state.outside !== undefined
  return (
    !isHeld && tasks.length === 0 && runs.some(awaits) && runs.every((run) => run.state.at === 'done' || awaits(run))
  )
}

/** Counts only the steps that are new since it was counted last. */
function countChars(live: LiveSession): number {
  let { steps, chars } = counted.get(live) ?? { steps: 0, chars: 0 }
  const all = [...live.steps.values()].flat()
  for (const { content, hidden } of all.slice(steps)) chars += JSON.stringify([content, hidden]).length
  steps = all.length
  counted.set(live, { steps, chars })
  return chars
}

const counted = new WeakMap<LiveSession, { readonly steps: number; readonly chars: number }>()
