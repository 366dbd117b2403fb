import type { RunId, VersionId } from '../../base/ids.ts'
import type { Run, RunStatusName } from '../../spec/run/run.ts'
import { toText } from '../rows/json-column.ts'
import { withoutZeros } from '../rows/run-rows.ts'
import { tailOf } from '../rows/tail.ts'
import type { AgentTable } from './agents.ts'
import type { Database } from 'better-sqlite3'
import { openRunText } from './run-text.ts'

export interface RunTable {
  numberOf(id: RunId): number | undefined
  /** Runs of a session that work, or undo something. */
  atWork(sessionN: number): readonly RunId[]
  /** Inserts a run and returns its row number. */
  add(sessionN: number, run: Run): number
  /** Inserts or updates a run and returns its row number. */
  put(sessionN: number, run: Run): number
}

export function openRuns(db: Database, agents: AgentTable): RunTable {
  const number = db.prepare<[string], number>('select n from run where id = ?').pluck()
  const text = openRunText(db)
  const stored = db.prepare<
    [string],
    { n: number; status: RunStatusName; finished_at: number | null; version_id: VersionId }
  >('select n, status, finished_at, version_id from run where id = ?')
  const updateVersion = db.prepare('update run set version_id = ?, version_label = ? where n = ?')
  const insert = db.prepare(
    `insert into run (
       id, tail, session_n, agent_n, agent_name, version_id, version_label, parent_run_id, parent_call_id, depth, input,
       started_at, finished_at, starter, origin, status, state, usage, llm_model, last_sequence, output, error, error_code
     ) values (
       :id, :tail, :sessionN, :agentN, :agentName, :versionId, :versionLabel, :parentRunId, :parentCallId, :depth, :input,
       :startedAt, :finishedAt, :starter, :origin, :status, ?, ?, ?, ?, ?, ?, ?
     )`,
  )
  const changes = `state = ?, usage = ?, llm_model = ?, last_sequence = ?, output = ?, error = ?, error_code = ?`
  const updateRow = db.prepare(`update run set ${changes} where n = ? and session_n = ?`)
  // What nearly every save does: a run goes on, and keeps its status and version.
  const advance = db
    .prepare<[...ReturnType<typeof changingValues>, RunId, number, RunStatusName, VersionId], number>(
      `update run set ${changes}
       where id = ? and session_n = ? and status = ? and version_id = ? and finished_at is null
       returning n`,
    )
    .pluck()
  // Separate, because naming an indexed column rewrites its index entry and naming the status evaluates its check constraint,
  // even when the values stay the same. That takes as long as the rest of the update.
  const updateRowAndStatus = db.prepare(
    `update run set ${changes}, status = ?, finished_at = ? where n = ? and session_n = ?`,
  )
  const atWork = db
    .prepare<[number], RunId>(
      'select id from run where session_n = ? and (finished_at is null or origin is not null) order by n',
    )
    .pluck()

  return {
    numberOf: (id) => number.get(id),
    add,
    atWork: (sessionN) => atWork.all(sessionN),
    put(sessionN, run) {
      const values = changingValues(run)
      const n =
        run.finishedAt === null ? advance.get(...values, run.id, sessionN, run.status, run.agentVersionId) : undefined
      if (n !== undefined) return n
      const known = stored.get(run.id)
      if (known) {
        if (known.finished_at !== null) text.resumed(known.n)
        const { changes } =
          run.status === known.status && run.finishedAt === null
            ? updateRow.run(...values, known.n, sessionN)
            : updateRowAndStatus.run(...values, run.status, run.finishedAt, known.n, sessionN)
        if (run.agentVersionId !== known.version_id) updateVersion.run(run.agentVersionId, run.versionLabel, known.n)
        if (changes === 0) throw new Error(`Run ${run.id} belongs to another session.`)
        if (run.finishedAt !== null) text.ended(known.n)
        return known.n
      }
      return add(sessionN, run)
    },
  }

  function add(sessionN: number, run: Run): number {
    const agentN = agents.numberOf(run.agentId, run.workspaceId, run.agentName)
    agents.countRun(agentN)
    const { lastInsertRowid } = insert.run(...changingValues(run), {
      id: run.id,
      tail: tailOf(run.id),
      sessionN,
      agentN,
      agentName: run.agentName,
      versionId: run.agentVersionId,
      versionLabel: run.versionLabel,
      parentRunId: run.parentRunId,
      parentCallId: run.parentCallId,
      depth: run.depth,
      // The input of the newest root run is stored with its session only, so that no save of the run writes it again.
      input: run.parentRunId === null ? 'null' : toText(run.input),
      startedAt: run.startedAt,
      finishedAt: run.finishedAt,
      starter: run.starter ? toText({ ...run.starter }) : null,
      origin: run.origin ? toText({ ...run.origin }) : null,
      status: run.status,
    })
    const n = Number(lastInsertRowid)
    text.started(n)
    if (run.finishedAt !== null) text.ended(n)
    return n
  }
}

/** Values that an update may change, in the order of the statements. Bound by position, which is the fastest way. */
const changingValues = (run: Run) =>
  [
    toText(run.state),
    toText(withoutZeros(run.usage)),
    run.llmModel,
    run.lastSequence,
    toText(run.output),
    run.error,
    run.errorCode,
  ] as const
