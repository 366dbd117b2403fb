/**
 * The pauses in force, as this process knows them. Alone on its store, a process sees every pause itself; otherwise, and where time
 * alone pauses things, it asks again and again, and no effect leaves on an answer older than a second.
 * Source: docs/design/steering.md#pauses
 */
import type { WorkspaceId } from '../../base/ids.ts'
import { systemTimers } from '../../queue/timers.ts'
import { pauseForCheckpoint } from '../../spec/steer/checkpoint-demand.ts'
import type { PauseAct } from '../../spec/steer/pause.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { EngineParts } from '../interface/engine.ts'

/** How often the store is asked where other processes, or missing checkpoints, pause things, too. */
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

export type PausesParts = Pick<EngineParts, 'store' | 'clock' | 'log' | 'leaseTimes' | 'checkpoints' | 'timers'>

interface PausesAnswer {
  readonly pauses: readonly PauseAct[]
  /** Monotonic time before the store was asked. */
  readonly askedAt: number
}

/** @param onChange called when the pauses have changed */
export function createPauses(parts: PausesParts, onChange: () => void): Pauses {
  const { clock, log, leaseTimes, checkpoints, timers = systemTimers } = parts
  const answers = new Map<WorkspaceId, PausesAnswer>()
  /** Queries under way, shared by callers that would ask the same. */
  const asking = new Map<WorkspaceId, { readonly askedAt: number; readonly answer: Promise<readonly PauseAct[]> }>()
  const isAskedAgain = leaseTimes?.claimEveryMs !== undefined || checkpoints !== undefined
  let timer: unknown
  let closed = false

  async function ask(workspaceId: WorkspaceId): Promise<readonly PauseAct[]> {
    const askedAt = clock.monotonic()
    const pauses = await readPausesInForce(parts, workspaceId)
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
    if (!isAskedAgain || closed || timer !== undefined) return
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
    !isAskedAgain || clock.monotonic() - askedAt < longestMs

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

/** What is paused now: by operators, and everything for want of a checkpoint. Source: docs/design/audit.md#checkpoints-that-are-required */
export async function readPausesInForce(
  { store, clock, checkpoints }: Pick<EngineParts, 'store' | 'clock' | 'checkpoints'>,
  workspaceId: WorkspaceId,
): Promise<readonly PauseAct[]> {
  const byOperators = await store.pauses(workspaceId)
  if (!checkpoints) return byOperators
  const pause = pauseForCheckpoint(checkpoints, await store.checkpointReport(workspaceId), clock.now())
  return pause ? [...byOperators, pause] : byOperators
}
