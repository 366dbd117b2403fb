/** Rows that the drivers of both databases hand over, and sessions with as many runs as a test wants. */
import type { Database } from 'better-sqlite3'
import pg from 'pg'
import { createIds, type SessionId } from '../../src/base/ids.ts'
import type { Store } from '../../src/store/store.ts'

let rows = 0

/** The same connection, whose rows are counted. */
export function countSqliteRows(db: Database): Database {
  const prepare = db.prepare.bind(db) as (sql: string) => object
  const counted = (sql: string): object => {
    const statement = prepare(sql) as Record<string, (...values: unknown[]) => unknown>
    for (const name of ['all', 'get'] as const) {
      const original = statement[name]!.bind(statement)
      statement[name] = (...values) => {
        const answer = original(...values)
        rows += Array.isArray(answer) ? answer.length : answer === undefined ? 0 : 1
        return answer
      }
    }
    return statement
  }
  return Object.assign(db, { prepare: counted })
}

/** Counts from now on what any PostgreSQL of this process answers. */
export function countPostgresRows(): void {
  const result = pg.Result.prototype as unknown as Record<string, (row: Record<string, unknown>) => void>
  const addRow = result['addRow']!
  result['addRow'] = function (this: unknown, row) {
    // Runs and tasks that are aggregated into one row count one by one.
    for (const value of Object.values(row)) rows += Array.isArray(value) ? value.length : 0
    rows++
    addRow.call(this, row)
  }
}

/** Rows that were read while this was done. */
export async function rowsOf(work: () => Promise<unknown>): Promise<number> {
  const before = rows
  await work()
  return rows - before
}

/** Between one copy and the next. */
const STEP_MS = 5000
/** Copies of a run written at once. */
const CHUNK = 200

/** Gives an ended session `count` more runs, each a copy of its newest one with all that it has. */
export async function lengthenSession(store: Store, id: SessionId, count: number): Promise<void> {
  const ids = createIds(() => Date.now())
  const { rootRunId } = (await store.session(id))!
  const run = (await store.run(rootRunId))!
  const steps = await store.stepsOfRun(rootRunId)
  const events = (await store.events(id, 0, 1000)).filter((event) => event.runId === rootRunId)
  const calls = await store.calls({ sessionId: id, runIds: [rootRunId] })
  const tasks = (await store.tasksOfSession(id)).filter(({ runId }) => runId === rootRunId)
  for (let done = 0; done < count; done += CHUNK) {
    const session = (await store.session(id))!
    let [ordinal, seq, later] = [session.lastOrdinal, session.lastSeq, done * STEP_MS]
    const copies = Array.from({ length: Math.min(CHUNK, count - done) }, () => {
      const runId = ids.next<'run'>()
      later += STEP_MS
      const at = (ms: number): number => ms + later
      const times = ({ startedAt, finishedAt }: { startedAt: number; finishedAt: number | null }) => ({
        startedAt: at(startedAt),
        finishedAt: finishedAt === null ? null : at(finishedAt),
      })
      const copiedIds = new Map(tasks.map((task) => [task.id as string, ids.next<'task'>()]))
      return {
        run: { ...run, ...times(run), id: runId },
        steps: steps.map((step) => ({ ...step, ...times(step), id: ids.next<'step'>(), runId, ordinal: ++ordinal })),
        events: events.map((event) => ({ ...event, ts: at(event.ts), runId, seq: ++seq, data: { status: 'Running' } })),
        calls: calls.map((call) => ({ ...call, runId })),
        tasks: tasks.map((task) => ({ ...task, id: copiedIds.get(task.id)!, runId })),
      }
    })
    await store.save({
      session: { ...session, runCount: session.runCount + copies.length, lastOrdinal: ordinal, lastSeq: seq },
      runs: copies.map((copy) => copy.run),
      steps: copies.flatMap((copy) => copy.steps),
      closedSteps: [],
      tasks: copies.flatMap((copy) => copy.tasks),
      calls: copies.flatMap((copy) => copy.calls),
      events: copies.flatMap((copy) => copy.events),
      setTimers: [],
      clearTimers: [],
      spends: [],
      busy: false,
    } as unknown as Parameters<Store['save']>[0])
  }
}
