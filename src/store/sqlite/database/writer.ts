import type { Database } from 'better-sqlite3'
import { startWork } from '../../../base/event-loop.ts'
import { dieAtFailpoint } from '../../../base/failpoint.ts'
import { fail, type Failure } from '../../../base/failure.ts'
import type { OutageLog } from '../../outage-log.ts'
import { NO_BALLAST } from './ballast.ts'
import type { GroupMemory } from './group-memory.ts'

/** Writes per commit; bounds how long one group blocks the event loop. */
const GROUP = 200

/**
 * Promises settled in one iteration of the event loop. The continuation of each may take a good part of a millisecond, and
 * requests and readers wait meanwhile.
 */
const SETTLED_AT_ONCE = 16

/** `Retry-After` of `storage_full`: time for somebody to free disk space. */
const FULL_RETRY_SECONDS = 30

/** The only writer of a database. All writes that arrive in one tick share one commit, and so one wait for the disk. */
export interface GroupWriter {
  /**
   * Runs `work` in the next group. Resolves with its value once the group is durable. When `work` throws, only its own writes
   * are rolled back and the promise rejects with the error.
   * @param mustSucceed true for a record of something that already happened: the ballast makes room for it when the disk is full
   * @throws Failure `storage_full`
   */
  readonly write: <T>(work: () => T, mustSucceed?: boolean) => Promise<T>
  /** Commits everything that waits, now. */
  readonly flush: () => void
}

/**
 * @param memories of the writes of a group
 * @param beforeCommit adds writes that do not justify a commit of their own
 */
export function createWriter(
  db: Database,
  memories: readonly GroupMemory[] = [],
  beforeCommit: () => void = () => {},
  ballast = NO_BALLAST,
  outages?: OutageLog,
): GroupWriter {
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')
  const rollback = db.prepare('rollback')
  const savepoint = db.prepare('savepoint one')
  const release = db.prepare('release one')
  const rollbackOne = db.prepare('rollback to one')
  const writeMemories = (): void => {
    for (const each of memories) each.write()
  }
  const dropMemories = (): void => {
    for (const each of memories) each.drop()
  }

  let waiting: WaitingWrite[] = []
  let scheduled = false
  /** Settles the promises of writes that are durable, in the order of their commits. */
  let unsettled: (() => void)[] = []

  // Waits until all promises are settled, so that the next writes of those callers share one commit.
  const schedule = () => {
    if (scheduled || waiting.length === 0 || unsettled.length > 0) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      if (waiting.length > 0) commitGroup()
      schedule()
    })
  }

  const commitGroup = () => {
    const group = waiting.slice(0, GROUP)
    waiting = waiting.slice(GROUP)
    let settle: (() => void)[] | undefined
    const tookLong = startWork()
    try {
      begin.run()
      settle = runTogether(group)
      if (!settle) {
        begin.run()
        settle = group.map(runAlone)
      }
      writeMemories()
      beforeCommit()
      dieAtFailpoint('commit.before')
      commit.run()
      dieAtFailpoint('commit.after')
      if (outages && ballast.isHeld()) outages.answered()
    } catch (error) {
      if (db.inTransaction) rollback.run()
      dropMemories()
      outages?.failed(toFailure(error))
      const retried = isFull(error) && ballast.release() ? group.filter(({ mustSucceed }) => mustSucceed) : []
      waiting.unshift(...retried)
      for (const each of group) if (!retried.includes(each)) each.reject(toFailure(error))
      return
    }
    const wasIdle = unsettled.length === 0
    unsettled.push(...settle)
    if (!wasIdle) return
    if (tookLong()) setImmediate(settleSome)
    else settleSome()
  }

  /** Settles some promises and leaves the rest for later, so that the event loop can do other work in between. */
  const settleSome = () => {
    for (const each of unsettled.slice(0, SETTLED_AT_ONCE)) each()
    unsettled = unsettled.slice(SETTLED_AT_ONCE)
    if (unsettled.length > 0) setImmediate(settleSome)
    else schedule()
  }

  /**
   * Runs all writes of a group without savepoints, which nearly always succeeds. When one throws, rolls back the whole
   * transaction and returns undefined; the caller then runs each write alone.
   */
  const runTogether = (group: readonly WaitingWrite[]): (() => void)[] | undefined => {
    try {
      return group.map(({ work, resolve }) => {
        const value = work()
        return () => resolve(value)
      })
    } catch (error) {
      if (!db.inTransaction) throw error
      rollback.run()
      dropMemories()
      return undefined
    }
  }

  /** Runs one write under its own savepoint. */
  const runAlone = ({ work, resolve, reject }: WaitingWrite) => {
    savepoint.run()
    try {
      const value = work()
      writeMemories()
      release.run()
      return () => resolve(value)
    } catch (error) {
      // On a full disk or an I/O error SQLite may end the transaction itself; then nothing of the group is stored.
      if (!db.inTransaction) throw error
      rollbackOne.run()
      release.run()
      dropMemories()
      return () => reject(toFailure(error))
    }
  }

  return {
    write<T>(work: () => T, mustSucceed = false) {
      if (!mustSucceed && !ballast.isHeld()) {
        const failure = storageFull()
        outages?.failed(failure)
        return Promise.reject(failure)
      }
      return new Promise<T>((resolve, reject) => {
        waiting.push({ work, mustSucceed, resolve: resolve as (value: unknown) => void, reject })
        schedule()
      })
    },
    flush() {
      while (waiting.length > 0) commitGroup()
    },
  }
}

interface WaitingWrite {
  readonly work: () => unknown
  readonly mustSucceed: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const storageFull = (cause?: unknown): Failure =>
  fail('storage_full', undefined, { cause, retryAfterSeconds: FULL_RETRY_SECONDS })

const isFull = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'SQLITE_FULL'

const toFailure = (error: unknown): unknown => (isFull(error) ? storageFull(error) : error)
