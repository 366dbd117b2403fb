import type { Database } from 'better-sqlite3'
import { dieAtFailpoint } from '../../../base/failpoint.ts'
import { fail, type Failure } from '../../../base/failure.ts'
import { NO_BALLAST } from './ballast.ts'

/** Writes per commit; bounds how long one group holds the event loop. */
const GROUP = 200

/**
 * Writers told of their commit in one turn of the event loop. What each does then may take a good part of a millisecond, and
 * requests and readers wait meanwhile.
 */
const TOLD = 16

/** Seconds after which a client may hope that somebody has made room. */
const FULL_RETRY_SECONDS = 30

/** The one writer. Everything that arrives in a tick shares one commit, and with it one wait for the disk. */
export interface GroupWriter {
  /**
   * Runs `work` in the next group. Resolves with its value once the group is durable; when `work` throws, what it wrote is
   * taken back alone and the promise rejects with what it threw.
   * @param kept true for what tells of something that has happened: it is written from the ballast when the disk is full
   * @throws Failure `storage_full`
   */
  readonly write: <T>(work: () => T, kept?: boolean) => Promise<T>
  /** Commits what waits, now. */
  readonly flush: () => void
}

/** @param beforeCommit writes what is worth no commit of its own */
export function createWriter(db: Database, beforeCommit: () => void = () => {}, ballast = NO_BALLAST): GroupWriter {
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')
  const rollback = db.prepare('rollback')
  const savepoint = db.prepare('savepoint one')
  const release = db.prepare('release one')
  const takeBack = db.prepare('rollback to one')

  let waiting: WaitingWrite[] = []
  let scheduled = false
  /** Writers whose commit is durable and who have yet to hear of it. */
  let told: (() => void)[] = []

  // Not while some are yet to be told: what they write next shares the commit of those who were told first.
  const schedule = () => {
    if (scheduled || waiting.length === 0 || told.length > 0) return
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
    try {
      begin.run()
      settle = together(group)
      if (!settle) {
        begin.run()
        settle = group.map(attempt)
      }
      beforeCommit()
      dieAtFailpoint('commit.before')
      commit.run()
      dieAtFailpoint('commit.after')
    } catch (error) {
      if (db.inTransaction) rollback.run()
      const saved = isFull(error) && ballast.release() ? group.filter(({ kept }) => kept) : []
      waiting.unshift(...saved)
      for (const each of group) if (!saved.includes(each)) each.reject(toFailure(error))
      return
    }
    const alone = told.length === 0
    told.push(...settle)
    if (alone) tellSome()
  }

  /** In the order of their commits; the rest after whatever else the event loop has to do. */
  const tellSome = () => {
    for (const each of told.slice(0, TOLD)) each()
    told = told.slice(TOLD)
    if (told.length > 0) setImmediate(tellSome)
    else schedule()
  }

  /**
   * All writes of a group without a savepoint each, which nearly always is enough. When one throws, everything is taken back
   * and the transaction is over; the answer is undefined, and each may then be tried by itself.
   */
  const together = (group: readonly WaitingWrite[]): (() => void)[] | undefined => {
    try {
      return group.map(({ work, resolve }) => {
        const value = work()
        return () => resolve(value)
      })
    } catch (error) {
      if (!db.inTransaction) throw error
      rollback.run()
      return undefined
    }
  }

  const attempt = ({ work, resolve, reject }: WaitingWrite) => {
    savepoint.run()
    try {
      const value = work()
      release.run()
      return () => resolve(value)
    } catch (error) {
      // For a full disk or an I/O error SQLite may end the transaction itself: then nothing of the group is kept.
      if (!db.inTransaction) throw error
      takeBack.run()
      release.run()
      return () => reject(toFailure(error))
    }
  }

  return {
    write<T>(work: () => T, kept = false) {
      if (!kept && !ballast.isHeld()) return Promise.reject(full())
      return new Promise<T>((resolve, reject) => {
        waiting.push({ work, kept, resolve: resolve as (value: unknown) => void, reject })
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
  readonly kept: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const full = (cause?: unknown): Failure =>
  fail('storage_full', undefined, { cause, retryAfterSeconds: FULL_RETRY_SECONDS })

const isFull = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'SQLITE_FULL'

const toFailure = (error: unknown): unknown => (isFull(error) ? full(error) : error)
