import type { Database } from 'better-sqlite3'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { AgentId, RunId, SessionId, VersionId, WorkspaceId } from '../../base/ids.ts'
import { isTerminal, NOTHING_USED } from '../../spec/run.ts'
import type { ErrorCode, Run, RunOrigin, RunState, RunStatusName, RunUsage } from '../../spec/run.ts'
import type { RunStarter } from '../../spec/starter.ts'
import type { RunFilter } from '../queries.ts'
import type { Store } from '../store.ts'
import type { AgentTable } from './agents.ts'
import { joinClauses, listClause, statementCache } from './database/filter.ts'
import { toObject, toText, toValue } from './database/json-column.ts'
import { endingRange, tailOf } from './database/tail.ts'
import { openRunText, toMatch, WITH_APPROVER, WITH_EFFECT, WITH_METADATA, WITH_TEXT, WITH_TOOL } from './run-text.ts'

export interface RunTable {
  readonly reads: Pick<Store, 'run' | 'runs' | 'runsOfSession' | 'runsEndingWith'>
  numberOf(id: RunId): number | undefined
  ofSession(sessionN: number): readonly Run[]
  /** Inserts or updates a run and returns its row number. */
  put(sessionN: number, run: Run): number
}

export function openRuns(db: Database, agents: AgentTable): RunTable {
  const prepared = statementCache(db)
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
  // Separate, because naming an indexed column rewrites its index entry and naming the status evaluates its check constraint,
  // even when the values stay the same. That takes as long as the rest of the update.
  const updateRowAndStatus = db.prepare(
    `update run set ${changes}, status = ?, finished_at = ? where n = ? and session_n = ?`,
  )
  const one = db.prepare<[string], RunRow>(`${SELECT} where r.id = ?`)
  const ofSession = db.prepare<[number], RunRow>(`${SELECT} where r.session_n = ? order by r.n`)
  const ofSessionId = db.prepare<[string], RunRow>(
    `${SELECT} where r.session_n = (select n from session where id = ?) order by r.n`,
  )
  const ending = db.prepare<{ workspaceId: string; from: string; to: string; ending: string; limit: number }, RunRow>(
    `${SELECT}
     where r.tail >= :from and r.tail < :to
       and substr(replace(r.id, '-', ''), -length(:ending)) = :ending
       and a.workspace_id = :workspaceId
     order by r.started_at desc, r.n desc
     limit :limit`,
  )

  return {
    reads: {
      async run(id) {
        const row = one.get(id)
        return row && toRun(row)
      },
      async runs(filter, page) {
        const agent = filter.agentId && agents.find(filter.agentId, filter.workspaceId)
        if (filter.agentId && !agent) return { items: [], total: 0 }
        const { where, values: given } = joinClauses([
          agent ? ['r.agent_n = :agentN', agent.n] : ['a.workspace_id = :workspaceId', filter.workspaceId],
          // Redundant beside the statuses, but lets SQLite use the index of open runs.
          ['r.finished_at is null', matchesOnlyOpen(filter) || undefined],
          ['r.status in (select value from json_each(:status))', listClause(filter.status)],
          [`r.status like 'WaitingFor%'`, filter.waiting === true || undefined],
          [`r.status not like 'WaitingFor%'`, filter.waiting === false || undefined],
          ['r.started_at >= :since', filter.since],
          [`json_extract(r.origin, '$.runId') = :origin`, filter.origin],
          ['r.session_n = (select n from session where id = :sessionId)', filter.sessionId],
          ['r.parent_run_id is null', filter.roots === true || undefined],
          [WITH_TEXT, filter.text === undefined ? undefined : toMatch(filter.text)],
          [WITH_TOOL, filter.tool],
          [WITH_EFFECT, filter.effect],
          [WITH_APPROVER, filter.approver],
          [WITH_METADATA, filter.metadata && JSON.stringify(filter.metadata)],
        ])
        const values = { ...given, workspaceId: filter.workspaceId }
        const items = prepared<RunRow>(
          `${SELECT} where ${where} order by r.started_at desc, r.n desc limit :take offset :skip`,
        ).all({ ...values, take: page.take, skip: page.skip })
        const total = isFiltered(filter)
          ? prepared<{ total: number }>(
              `select count(*) as total from (select 1 ${FROM} where ${where} ${isSearch(filter) ? `limit ${MOST_COUNTED}` : ''})`,
            ).get(values)!.total
          : (agent ?? agents.totals(filter.workspaceId)).runs
        return { items: items.map(toRun), total }
      },
      async runsOfSession(sessionId) {
        return ofSessionId.all(sessionId).map(toRun)
      },
      async runsEndingWith(workspaceId, text, limit) {
        return ending.all({ workspaceId, limit, ...endingRange(text) }).map(toRun)
      },
    },
    numberOf: (id) => number.get(id),
    ofSession: (sessionN) => ofSession.all(sessionN).map(toRun),
    put(sessionN, run) {
      const known = stored.get(run.id)
      if (known) {
        if (known.finished_at !== null) text.resumed(known.n)
        const { changes } =
          run.status === known.status && run.finishedAt === null
            ? updateRow.run(...changingValues(run), known.n, sessionN)
            : updateRowAndStatus.run(...changingValues(run), run.status, run.finishedAt, known.n, sessionN)
        if (run.agentVersionId !== known.version_id) updateVersion.run(run.agentVersionId, run.versionLabel, known.n)
        if (changes === 0) throw new Error(`Run ${run.id} belongs to another session.`)
        if (run.finishedAt !== null) text.ended(known.n)
        return known.n
      }
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
    },
  }
}

/** The counters that are not zero: most runs use few of them, and only those are stored. */
function withoutZeros(usage: RunUsage): JsonObject {
  const used: JsonObject = {}
  for (const [name, value] of Object.entries(usage)) {
    const isUsed = isJsonObject(value) ? Object.keys(value).length > 0 : value !== NOTHING_USED[name as keyof RunUsage]
    if (isUsed) used[name] = value
  }
  return used
}

const matchesOnlyOpen = ({ status, waiting }: RunFilter): boolean =>
  waiting === true || (status !== undefined && !status.some(isTerminal))

const isFiltered = (filter: RunFilter): boolean =>
  isSearch(filter) ||
  [filter.status, filter.waiting, filter.since, filter.sessionId, filter.origin].some((each) => each !== undefined)

const isSearch = ({ roots, text, tool, effect, approver, metadata }: RunFilter): boolean =>
  roots === true || [text, tool, effect, approver, metadata].some((each) => each !== undefined)

/** Runs of a search that are counted. */
const MOST_COUNTED = 10_000

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

// SQLite keeps the written order of cross joins: it follows an index of the runs.
const FROM = 'from run r cross join session s on s.n = r.session_n cross join agent a on a.n = r.agent_n'

const SELECT = `
  select r.id, s.id as session_id, a.workspace_id, a.id as agent_id, r.agent_name, r.version_id, r.version_label, r.llm_model,
    r.parent_run_id, r.parent_call_id, r.depth,
    case when r.id = s.root_run_id then s.input else r.input end as input, r.starter, r.origin,
    r.state, r.status, r.usage, r.last_sequence, r.output, r.error, r.error_code, r.started_at, r.finished_at
  ${FROM}`

interface RunRow {
  id: RunId
  session_id: SessionId
  workspace_id: WorkspaceId
  agent_id: AgentId
  agent_name: string
  version_id: VersionId
  version_label: string
  llm_model: string | null
  parent_run_id: RunId | null
  parent_call_id: string | null
  depth: number
  input: string
  state: string
  status: RunStatusName
  usage: string
  last_sequence: number
  output: string | null
  error: string | null
  error_code: ErrorCode | null
  starter: string | null
  origin: string | null
  started_at: number
  finished_at: number | null
}

const toRun = (row: RunRow): Run => ({
  id: row.id,
  sessionId: row.session_id,
  workspaceId: row.workspace_id,
  agentId: row.agent_id,
  agentName: row.agent_name,
  agentVersionId: row.version_id,
  versionLabel: row.version_label,
  llmModel: row.llm_model,
  parentRunId: row.parent_run_id,
  parentCallId: row.parent_call_id,
  depth: row.depth,
  input: toObject(row.input),
  state: JSON.parse(row.state) as RunState,
  status: row.status,
  usage: { ...NOTHING_USED, ...(JSON.parse(row.usage) as Partial<RunUsage>) },
  lastSequence: row.last_sequence,
  output: toValue(row.output),
  error: row.error,
  errorCode: row.error_code,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
  ...(row.starter !== null && { starter: JSON.parse(row.starter) as RunStarter }),
  ...(row.origin !== null && { origin: JSON.parse(row.origin) as RunOrigin }),
})
