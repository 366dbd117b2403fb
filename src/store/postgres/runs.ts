import type { SessionId } from '../../base/ids.ts'
import type { Run } from '../../spec/run.ts'
import { joinClauses } from '../rows/filter.ts'
import { toText } from '../rows/json-column.ts'
import { isFilteredRuns, isRunSearch, matchesOnlyOpen, MOST_COUNTED } from '../rows/run-filter.ts'
import { isRanked, keptOfRanked, MOST_RANKED, orderOfRanked } from '../rows/run-rank.ts'
import { toRun, withoutZeros, type RunRow } from '../rows/run-rows.ts'
import { endingRange, tailOf } from '../rows/tail.ts'
import type { Store } from '../store.ts'
import { countOf } from './agents.ts'
import {
  toTextQuery,
  WITH_CALLED_TOOL,
  WITH_EFFECT_KEY,
  WITH_METADATA_MEMBER,
  WITH_PERSON_IN,
  WITH_TRIGGER_NAMED,
  WITH_VOTE_OF,
  WITH_WORDS,
} from './run-text.ts'
import type { PostgresPool } from './database/pool.ts'
import type { PostgresQueries } from './database/queries.ts'

export const runReads = (
  db: PostgresPool,
): Pick<Store, 'run' | 'runs' | 'runsOfSession' | 'newestRuns' | 'treesOf' | 'runsEndingWith'> => ({
  async run(id) {
    const row = await db.row<RunRow>(`${SELECT} where r.id = :id`, { id })
    return row && toRun(row)
  },
  async runs(filter, { skip, take }) {
    const text = filter.text === undefined ? undefined : toTextQuery(filter.text)
    if (filter.text !== undefined && text === undefined) return { items: [], total: 0 }
    const [member] = Object.entries(filter.metadata ?? {})
    const { where, values: given } = joinClauses([
      ['r.workspace_id = :workspaceId', filter.workspaceId],
      ['r.agent_id = :agentId', filter.agentId],
      // Redundant beside the statuses, but leads to the index of open runs.
      ['r.finished_at is null', matchesOnlyOpen(filter) || undefined],
      ['r.status = any (:status)', filter.status],
      [`r.status like 'WaitingFor%'`, filter.waiting === true || undefined],
      [`r.status not like 'WaitingFor%'`, filter.waiting === false || undefined],
      ['r.started_at >= :since', filter.since],
      ['r.started_at < :until', filter.until],
      ['r.session_id = :sessionId', filter.sessionId],
      ['r.origin_run_id = :origin', filter.origin],
      ['r.parent_run_id is null', filter.roots === true || undefined],
      [WITH_WORDS, text],
      [WITH_CALLED_TOOL, filter.tool],
      [WITH_EFFECT_KEY, filter.effect],
      ['r.version_label = :versionLabel', filter.versionLabel],
      [WITH_TRIGGER_NAMED, filter.trigger],
      [WITH_PERSON_IN, filter.person],
      [WITH_VOTE_OF, filter.approver],
      [WITH_METADATA_MEMBER, member && true],
    ])
    const values = {
      ...given,
      ...(member && { metadataKey: member[0], metadataValue: JSON.stringify(member[1]) }),
    }
    if (isRanked(filter)) {
      const kept = keptOfRanked(filter)
      const ranked = `from (select r.id, r.n, r.started_at as began, ${RANKS} ${FROM} where ${where}
        order by r.started_at desc, r.n desc limit ${MOST_RANKED}) k where ${kept.where}`
      const compared = { ...values, ...kept.values, now: filter.now ?? 0 }
      const found = await db.row<{ total: number }>(`select count(*) as total ${ranked}`, compared)
      const listed = await db.rows<{ id: string }>(
        `select id ${ranked} order by ${orderOfRanked(filter)} limit :take offset :skip`,
        { ...compared, take, skip },
      )
      const rows = await db.rows<RunRow>(`${SELECT} where r.id = any (:ids)`, { ids: listed.map(({ id }) => id) })
      const byId = new Map(rows.map((row) => [String(row.id), row]))
      return { items: listed.flatMap(({ id }) => byId.get(id) ?? []).map(toRun), total: found?.total ?? 0 }
    }
    const rows = await db.rows<RunRow>(
      `${SELECT} where ${where} order by r.started_at desc, r.n desc limit :take offset :skip`,
      { ...values, take, skip },
    )
    const items = rows.map(toRun)
    if (!isFilteredRuns(filter)) return { items, total: await countOf(db, filter, 'runs') }
    const counted = await db.row<{ total: number }>(
      `select count(*) as total from (select 1 ${FROM} where ${where} ${isRunSearch(filter) ? `limit ${MOST_COUNTED}` : ''}) c`,
      values,
    )
    return { items, total: counted?.total ?? 0 }
  },
  runsOfSession: (sessionId) => readRuns(db, sessionId),
  async newestRuns(sessionId, before, limit) {
    const rows = await db.rows<RunRow>(
      `${SELECT}
       where r.session_id = :sessionId
         and r.n < coalesce((select n from run where id = cast(:before as uuid)), 9223372036854775807)
       order by r.n desc
       limit :limit`,
      { sessionId, before, limit },
    )
    return rows.map(toRun).reverse()
  },
  async treesOf(sessionId, asked) {
    const rows = await db.rows<RunRow>(
      `with recursive ${treesAbove('select id, parent_run_id from run where id = any (cast(:asked as uuid[]))')}
       ${SELECT} where r.id in (select id from tree) and r.session_id = :sessionId order by r.n`,
      { sessionId, asked },
    )
    return rows.map(toRun)
  },
  async runsEndingWith(workspaceId, text, limit) {
    const rows = await db.rows<RunRow>(
      `${SELECT}
       where r.tail >= :from and r.tail < :to
         and right(replace(r.id::text, '-', ''), length(:ending)) = :ending
         and r.workspace_id = :workspaceId
       order by r.started_at desc, r.n desc
       limit :limit`,
      { workspaceId, limit, ...endingRange(text) },
    )
    return rows.map(toRun)
  },
})

/** The runs of a session in the order in which they were stored. */
export const readRuns = async (on: PostgresQueries, sessionId: string): Promise<readonly Run[]> =>
  (await on.rows<RunRow>(`${SELECT} where r.session_id = :sessionId order by r.n`, { sessionId })).map(toRun)

/** The tables `above` and `tree`: the runs that a query finds and those above them, and the whole trees that they belong to. */
export const treesAbove = (found: string): string => `
  above (id, parent_run_id) as (
    ${found}
    union
    select r.id, r.parent_run_id from above join run r on r.id = above.parent_run_id
  ),
  tree (id) as (
    select id from above where parent_run_id is null
    union
    select r.id from tree join run r on r.parent_run_id = tree.id
  )`

const FROM = 'from run r join session s on s.id = r.session_id'

/** What a run took. */
const RANKS = `
  coalesce(r.finished_at, :now) - r.started_at as duration,
  coalesce((r.usage::jsonb ->> 'inputTokens')::bigint, 0) + coalesce((r.usage::jsonb ->> 'outputTokens')::bigint, 0) as tokens,
  (select coalesce(sum(value::numeric), 0) from jsonb_each_text(r.usage::jsonb #> '{cost,amounts}')) as cost`

const SELECT = `
  select r.id, r.session_id, r.workspace_id, r.agent_id, r.agent_name, r.version_id, r.version_label, r.llm_model,
    r.parent_run_id, r.parent_call_id, r.depth,
    case when r.id = s.root_run_id then s.input else r.input end as input, r.starter, r.origin,
    r.state, r.status, r.usage, r.last_sequence, r.output, r.error, r.error_code, r.started_at, r.finished_at
  ${FROM}`

export const toRunColumns = (sessionId: SessionId, run: Run) => ({
  id: run.id,
  session_id: sessionId,
  workspace_id: run.workspaceId,
  agent_id: run.agentId,
  tail: tailOf(run.id),
  agent_name: run.agentName,
  version_id: run.agentVersionId,
  version_label: run.versionLabel,
  llm_model: run.llmModel,
  parent_run_id: run.parentRunId,
  parent_call_id: run.parentCallId,
  depth: run.depth,
  // The input of the newest root run is stored with its session only, so that no save of the run writes it again.
  input: run.parentRunId === null ? 'null' : toText(run.input),
  state: toText(run.state),
  status: run.status,
  usage: toText(withoutZeros(run.usage)),
  last_sequence: run.lastSequence,
  output: toText(run.output),
  error: run.error,
  error_code: run.errorCode,
  starter: run.starter ? toText({ ...run.starter }) : null,
  starter_trigger_id: run.starter?.triggerId ?? null,
  origin: run.origin ? toText({ ...run.origin }) : null,
  origin_run_id: run.origin?.runId ?? null,
  started_at: run.startedAt,
  finished_at: run.finishedAt,
})
