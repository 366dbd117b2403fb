import type { Database } from 'better-sqlite3'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import type { AgentId, RunId, SessionId, VersionId, WorkspaceId } from '../../base/ids.ts'
import { isTerminal, NOTHING_USED } from '../../spec/run.ts'
import type { ErrorCode, Run, RunState, RunStatusName, RunUsage } from '../../spec/run.ts'
import type { RunFilter, Store } from '../store.ts'
import type { AgentTable } from './agents.ts'
import { allOf, listClause, statementCache } from './database/filter.ts'
import { toObject, toText, toValue } from './database/json-column.ts'
import { endingRange, tailOf } from './database/tail.ts'

export interface RunTable {
  readonly reads: Pick<Store, 'run' | 'runs' | 'runsOf' | 'runsEndingWith'>
  numberOf(id: RunId): number | undefined
  ofSession(sessionN: number): readonly Run[]
  /** Inserts or updates a run and answers its number. */
  put(sessionN: number, run: Run): number
}

export function openRuns(db: Database, agents: AgentTable): RunTable {
  const prepared = statementCache(db)
  const number = db.prepare<[string], number>('select n from run where id = ?').pluck()
  const seen = db.prepare<[string], { n: number; status: RunStatusName }>('select n, status from run where id = ?')
  const insert = db.prepare(
    `insert into run (
       id, tail, session_n, agent_n, agent_name, version_id, version_label, parent_run_id, parent_call_id, depth, input,
       started_at, finished_at, status, state, usage, llm_model, last_sequence, output, error, error_code
     ) values (
       :id, :tail, :sessionN, :agentN, :agentName, :versionId, :versionLabel, :parentRunId, :parentCallId, :depth, :input,
       :startedAt, :finishedAt, :status, ?, ?, ?, ?, ?, ?, ?
     )`,
  )
  const changes = `state = ?, usage = ?, llm_model = ?, last_sequence = ?, output = ?, error = ?, error_code = ?`
  const move = db.prepare(`update run set ${changes} where n = ? and session_n = ?`)
  // Apart, since to name a column of an index is to write its entry anew, and to name the status to build the lists that it is
  // checked against, which takes as long as all the rest; whether or not they differ.
  const turnOver = db.prepare(`update run set ${changes}, status = ?, finished_at = ? where n = ? and session_n = ?`)
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
        const { where, values } = allOf([
          agent ? ['r.agent_n = :agentN', agent.n] : ['a.workspace_id = :workspaceId', filter.workspaceId],
          // Said besides the statuses, for then the index of open runs answers.
          ['r.finished_at is null', onlyOpen(filter) || undefined],
          ['r.status in (select value from json_each(:status))', listClause(filter.status)],
          [`r.status like 'WaitingFor%'`, filter.waiting === true || undefined],
          [`r.status not like 'WaitingFor%'`, filter.waiting === false || undefined],
          ['r.started_at >= :since', filter.since],
          ['r.session_n = (select n from session where id = :sessionId)', filter.sessionId],
        ])
        const items = prepared<RunRow>(
          `${SELECT} where ${where} order by r.started_at desc, r.n desc limit :take offset :skip`,
        ).all({ ...values, take: page.take, skip: page.skip })
        const total = isFiltered(filter)
          ? prepared<{ total: number }>(`select count(*) as total ${FROM} where ${where}`).get(values)!.total
          : (agent ?? agents.totals(filter.workspaceId)).runs
        return { items: items.map(toRun), total }
      },
      async runsOf(sessionId) {
        return ofSessionId.all(sessionId).map(toRun)
      },
      async runsEndingWith(workspaceId, text, limit) {
        return ending.all({ workspaceId, limit, ...endingRange(text) }).map(toRun)
      },
    },
    numberOf: (id) => number.get(id),
    ofSession: (sessionN) => ofSession.all(sessionN).map(toRun),
    put(sessionN, run) {
      const known = seen.get(run.id)
      if (known) {
        const { changes } =
          run.status === known.status && run.finishedAt === null
            ? move.run(...changing(run), known.n, sessionN)
            : turnOver.run(...changing(run), run.status, run.finishedAt, known.n, sessionN)
        if (changes === 0) throw new Error(`Run ${run.id} is of another session.`)
        return known.n
      }
      const agentN = agents.numberOf(run.agentId, run.workspaceId, run.agentName)
      agents.countRun(agentN)
      const { lastInsertRowid } = insert.run(...changing(run), {
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
        // A root's is its session's, which every save of a run would otherwise write again.
        input: run.parentRunId === null ? 'null' : toText(run.input),
        startedAt: run.startedAt,
        finishedAt: run.finishedAt,
        status: run.status,
      })
      return Number(lastInsertRowid)
    },
  }
}

/** Most runs use few of the things that are counted: the others are not written down. */
function used(usage: RunUsage): JsonObject {
  const found: JsonObject = {}
  for (const [name, value] of Object.entries(usage)) {
    const isUsed = isJsonObject(value) ? Object.keys(value).length > 0 : value !== NOTHING_USED[name as keyof RunUsage]
    if (isUsed) found[name] = value
  }
  return found
}

const onlyOpen = ({ status, waiting }: RunFilter): boolean =>
  waiting === true || (status !== undefined && !status.some(isTerminal))

const isFiltered = ({ status, waiting, since, sessionId }: RunFilter): boolean =>
  [status, waiting, since, sessionId].some((each) => each !== undefined)

/** What a move may change, in the order of the statements: bound by place, which is the quickest. */
const changing = (run: Run) =>
  [
    toText(run.state),
    toText(used(run.usage)),
    run.llmModel,
    run.lastSequence,
    toText(run.output),
    run.error,
    run.errorCode,
  ] as const

// Cross joins keep the order written: along an index of the runs.
const FROM = 'from run r cross join session s on s.n = r.session_n cross join agent a on a.n = r.agent_n'

const SELECT = `
  select r.id, s.id as session_id, a.workspace_id, a.id as agent_id, r.agent_name, r.version_id, r.version_label, r.llm_model,
    r.parent_run_id, r.parent_call_id, r.depth,
    case when r.parent_run_id is null then s.input else r.input end as input,
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
})
