/** Holds the work of a restored database. Source: docs/design/runs-and-recovery.md#restoring */
import type { Database } from 'better-sqlite3'
import type { Instant } from '../../../base/clock.ts'
import type { SessionId } from '../../../base/ids.ts'
import { restoredHold } from '../../../spec/run/hold.ts'
import type { Run, RunUsage } from '../../../spec/run/run.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'
import { SQLITE } from '../../dialect.ts'
import { prepareRuns } from '../../nouns/runs.ts'
import { prepareSessions } from '../../nouns/sessions.ts'
import { toText } from '../../rows/json-column.ts'
import { toNewLink } from '../../rows/link-rows.ts'
import { withoutZeros } from '../../rows/run-rows.ts'
import type { SessionUpdate } from '../../session-update.ts'
import { openDatabase } from '../database/database.ts'
import { createWorkRunner } from '../database/run-work.ts'
import { openEvents } from '../events.ts'
import { openSessionLinks } from './session-links.ts'

export interface HeldCounts {
  /** Open root runs, one per session. */
  readonly runs: number
  readonly triggers: number
}

/**
 * Holds every session and every trigger of a restored database that no process uses, because calls may have been made after the
 * backup was taken; also ended sessions, of which runs may be resumed, continued and undone. The time since then uses no limit of
 * a run.
 * @param backedUpAt when the backup was taken
 */
export function holdRestoredWork(path: string, at: Instant, backedUpAt: Instant): HeldCounts {
  const db = openDatabase(path)
  try {
    const held = db.transaction((): HeldCounts => {
      db.exec('delete from restored_session')
      db.exec('delete from restored_trigger')
      // A held session spends nothing; its completion reserves again after the release.
      db.exec('delete from plan_reservation')
      db.exec('delete from restore')
      db.prepare('insert into restore (at, backed_up_at) values (?, ?)').run(at, backedUpAt)
      db.prepare('insert into restored_session (session_n, at) select n, ? from session').run(at)
      const runs = db.prepare<[], number>('select count(*) from session where finished_at is null').pluck().get() ?? 0
      holdRuns(db, at, Math.max(0, at - backedUpAt))
      const triggers = db
        .prepare('insert into restored_trigger (trigger_id, at) select id, ? from run_trigger')
        .run(at).changes
      return { runs, triggers }
    })()
    // The caller moves one file, so the log must be merged into it.
    db.pragma('wal_checkpoint(truncate)')
    return held
  } finally {
    db.close()
  }
}

interface OpenSessionRow {
  readonly n: number
  readonly id: SessionId
  readonly busy: 0 | 1
}

/**
 * Leaves the time since the backup out of the limits of each run, and tells the readers of each that was working that it is held: one
 * that waits for somebody was told of as paused before. It is a save of the session like any other, with a link in its chain.
 */
function holdRuns(db: Database, at: Instant, gap: number): void {
  const [sessions, runs, read] = [prepareSessions(SQLITE).reads, prepareRuns(SQLITE).reads, createWorkRunner(db)]
  const [events, links] = [openEvents(db), openSessionLinks(db)]
  const open = db
    .prepare<[], OpenSessionRow>(
      `select n, id, busy from session s
       where exists (select 1 from run r where r.session_n = s.n and r.finished_at is null)
       order by n`,
    )
    .all()
  const runNumber = db.prepare<[string], number>('select n from run where id = ?').pluck()
  const setUsage = db.prepare<[string | null, string]>('update run set usage = ? where id = ?')
  const setLastSeq = db.prepare<[number, number]>('update session set last_seq = ?, version = version + 1 where n = ?')
  for (const { n, id, busy } of open) {
    const session = read(sessions.session(id))
    if (!session) continue
    const held = read(runs.runsOfSession(id))
      .filter(({ finishedAt }) => finishedAt === null)
      .map((run): Run => ({ ...run, usage: withGap(run.usage, at, gap) }))
    for (const run of held) setUsage.run(toText(withoutZeros(run.usage)), run.id)
    let { lastSeq } = session
    const told = session.finishedAt === null ? held.filter(({ status }) => status === 'Running') : []
    const pauses = told
      .toSorted((one, other) => other.depth - one.depth)
      .map(({ id: runId }) => {
        const data = { sessionId: id, runId, status: 'Running', output: null, error: null, ...restoredHold(at) }
        return {
          sessionId: id,
          runId,
          seq: ++lastSeq,
          ts: at,
          kind: 'run',
          subject: 'engine.run.paused',
          data,
        } as const
      })
    const update: SessionUpdate = {
      ...NOTHING_SAVED,
      session: { ...session, lastSeq },
      runs: held,
      events: pauses,
      busy: busy === 1,
    }
    const data = events.add(n, pauses, (runId) => expectDefined(runNumber.get(runId), 'a run was read'), [])
    const link = toNewLink(update, { steps: [], data })
    if (link) links.add(n, link)
    setLastSeq.run(lastSeq, n)
  }
}

const NOTHING_SAVED = {
  steps: [],
  closedSteps: [],
  tasks: [],
  calls: [],
  setTimers: [],
  clearTimers: [],
  spends: [],
} as const satisfies Partial<SessionUpdate>

const withGap = (usage: RunUsage, at: Instant, gap: number): RunUsage => ({
  ...usage,
  heldMs: (usage.heldMs ?? 0) + gap,
  waitingSince: usage.waitingSince === null ? null : usage.waitingSince + gap,
  holdCountedTo: at,
})
