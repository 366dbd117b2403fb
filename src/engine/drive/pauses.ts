/**
 * The pauses that operators have set, as this process knows them. Alone on its store, a process sees every pause itself; otherwise
 * it asks the store again and again, and no effect leaves on an answer older than a second. Source: docs/design/steering.md#pauses
 */
import type { Clock } from '../../base/clock.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { systemTimers, type QueueTimers } from '../../queue/timers.ts'
import type { PauseAct } from '../../spec/steer/pause.ts'
import type { LeaseTimes } from '../../store/lease.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { SessionStore } from '../../store/session-store.ts'

/** How often the store is asked where other processes pause things, too. */
const ASK_EVERY_MS = 400
/** An older answer lets no effect leave. */
const LONGEST_MS = 1000

export interface Pauses {
  /** The pauses as last read; undefined if they were never read, or too long ago: then nothing may leave. */
  known(workspaceId: WorkspaceId): readonly PauseAct[] | undefined
  /** The pauses now; reads the store if the last answer may be too old. */
  read(workspaceId: WorkspaceId): Promise<readonly PauseAct[]>
  /** Asks the store now, because a pause was set or ended. */
  changed(): Promise<void>
  close(): void
}

export interface PausesParts {
  readonly store: SessionStore
  readonly clock: Clock
  readonly log: Log
  readonly leaseTimes?: LeaseTimes
  readonly timers?: QueueTimers
}

interface PausesAnswer {
  readonly pauses: readonly PauseAct[]
  /** Monotonic time before the store was asked. */
  readonly askedAt: number
}

/** @param onChange called when the pauses have changed */
export function createPauses(
  { store, clock, log, leaseTimes, timers = systemTimers }: PausesParts,
  onChange: () => void,
): Pauses {
  const answers = new Map<WorkspaceId, PausesAnswer>()
  /** Queries under way, shared by callers that would ask the same. */
  const asking = new Map<WorkspaceId, { readonly askedAt: number; readonly answer: Promise<readonly PauseAct[]> }>()
  const isShared = leaseTimes?.claimEveryMs !== undefined
  let timer: unknown
  let closed = false

  async function ask(workspaceId: WorkspaceId): Promise<readonly PauseAct[]> {
    const askedAt = clock.monotonic()
    const pauses = await store.pauses(workspaceId)
    const before = answers.get(workspaceId)
    // An older query may be answered later.
    if (before && before.askedAt > askedAt) return before.pauses
    answers.set(workspaceId, { pauses, askedAt })
    if (before && JSON.stringify(before.pauses) !== JSON.stringify(pauses)) onChange()
    return pauses
  }

  async function askAll(): Promise<void> {
    for (const workspaceId of answers.keys()) await ask(workspaceId)
  }

  function scheduleQuestion(): void {
    if (!isShared || closed || timer !== undefined) return
    timer = timers.set(() => {
      timer = undefined
      void askAll()
        .catch((error: unknown) => {
          if (!isStoreAway(error)) log.write('warn', 'What is paused could not be read.', { error: String(error) })
        })
        .finally(scheduleQuestion)
    }, ASK_EVERY_MS)
  }

  const isRecent = ({ askedAt }: PausesAnswer, longestMs: number): boolean =>
    !isShared || clock.monotonic() - askedAt < longestMs

  return {
    known(workspaceId) {
      const answer = answers.get(workspaceId)
      return answer && isRecent(answer, LONGEST_MS) ? answer.pauses : undefined
    },
    async read(workspaceId) {
      const answer = answers.get(workspaceId)
      if (answer && isRecent(answer, ASK_EVERY_MS)) return answer.pauses
      scheduleQuestion()
      const other = asking.get(workspaceId)
      if (other && clock.monotonic() - other.askedAt < ASK_EVERY_MS) return other.answer
      const own = { askedAt: clock.monotonic(), answer: ask(workspaceId) }
      asking.set(workspaceId, own)
      return own.answer.finally(() => {
        if (asking.get(workspaceId) === own) asking.delete(workspaceId)
      })
    },
    changed: askAll,
    close() {
      closed = true
      timers.clear(timer)
    },
  }
}
