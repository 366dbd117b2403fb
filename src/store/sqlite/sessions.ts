import type { Database } from 'better-sqlite3'
import type { Instant } from '../../base/clock.ts'
import { digestOf, type Digest } from '../../base/digest.ts'
import type { AgentId, RunId, SessionId, TriggerId, VersionId, WorkspaceId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { CostSum } from '../../spec/price.ts'
import type { RunStatusName } from '../../spec/run.ts'
import type { Session, TriggerType } from '../../spec/session.ts'
import type { WorkerId } from '../lease.ts'
import type { LeftOutValue, ListedSession } from '../queries.ts'
import type { Store } from '../store.ts'
import type { SessionUpdate } from '../session-update.ts'
import type { AgentTable } from './agents.ts'
import { joinClauses, listClause, statementCache } from './database/filter.ts'
import { toObject, toText, toValue } from './database/json-column.ts'

/** Stored values that a writer compares its update with. */
export interface SessionFence {
  readonly n: number
  readonly version: number
  readonly lastSeq: number
  readonly tokens: number
  readonly status: RunStatusName
  readonly busy: 0 | 1
  readonly owner: WorkerId | null
  readonly epoch: number
  readonly leaseUntil: Instant | null
}

/** Who holds the lease of a session, as a save leaves it. */
export type LeaseColumns = Pick<SessionFence, 'owner' | 'epoch' | 'leaseUntil'>

export interface SessionTable {
  readonly reads: Pick<Store, 'session' | 'sessions' | 'sessionValue' | 'sessionsEndingWith'>
  numberOf(id: SessionId): number | undefined
  get(id: SessionId): Session | undefined
  readFence(id: SessionId): SessionFence | undefined
  /** Writes a new session with version 1 and returns its row number. */
  insert(update: SessionUpdate, lease: LeaseColumns): number
  update(stored: SessionFence, update: SessionUpdate, lease: LeaseColumns): void
}

export function openSessions(db: Database, agents: AgentTable): SessionTable {
  const prepared = statementCache(db)
  const number = db.prepare<[string], number>('select n from session where id = ?').pluck()
  const fence = db.prepare<[string], SessionFence>(
    `select n, version, last_seq as lastSeq, total_tokens_used as tokens, status, busy, owner, epoch,
       lease_until as leaseUntil
     from session
     where id = ?`,
  )
  const insert = db.prepare(
    `insert into session (
       id, agent_n, agent_name, version_id, version_label, trigger_type, triggered_by, person, trigger_id, trigger_name,
       root_run_id, input, input_digest, start_context, metadata, tags, started_at, finished_at, busy,
       owner, epoch, lease_until, version,
       status, llm_model, total_tokens_used, run_count, output, output_digest, error, last_seq, last_ordinal, cost
     ) values (
       :id, :agentN, :agentName, :versionId, :versionLabel, :triggerType, :triggeredBy, :person, :triggerId, :triggerName,
       :rootRunId, :input, :inputDigest, :startContext, :metadata, :tags, :startedAt, :finishedAt, :busy,
       :owner, :epoch, :leaseUntil, 1,
       :status, ?, ?, ?, ?, ?, ?, ?, ?, ?
     )`,
  )
  const changes = `llm_model = ?, total_tokens_used = ?, run_count = ?, output = ?, output_digest = ?, error = ?,
    last_seq = ?, last_ordinal = ?, cost = ?, version = version + 1`
  const insertTag = db.prepare<[number, string, number, number]>(
    'insert into session_tag (agent_n, tag, started_at, session_n) values (?, ?, ?, ?)',
  )
  const values = {
    input: db.prepare<[string], string>('select input from session where id = ?').pluck(),
    output: db.prepare<[string], string | null>('select output from session where id = ?').pluck(),
  }
  const updateRow = db.prepare(`update session set ${changes} where n = ?`)
  // Separate, because naming an indexed column rewrites its index entry and naming the status evaluates its check constraint,
  // even when the values stay the same. That takes as long as the rest of the update.
  const updateRowAndStatus = db.prepare(
    `update session set ${changes}, status = ?, finished_at = ?, busy = ?, owner = ?, epoch = ?, lease_until = ? where n = ?`,
  )
  const one = db.prepare<[string], SessionRow>(`${SELECT} where s.id = ?`)
  // A rare query of people: a scan is cheaper than an index that every start would have to write.
  const ending = db.prepare<{ workspaceId: string; ending: string; limit: number }, SessionRow>(
    `${SELECT}
     where substr(replace(s.id, '-', ''), -length(:ending)) = :ending and a.workspace_id = :workspaceId
     order by s.started_at desc, s.n desc
     limit :limit`,
  )
  const get = (id: SessionId) => {
    const row = one.get(id)
    return row && toSession(row)
  }

  return {
    reads: {
      async session(id) {
        return get(id)
      },
      async sessions(filter, page) {
        const agent = filter.agentId && agents.find(filter.agentId, filter.workspaceId)
        if (filter.agentId && !agent) return { items: [], total: 0, next: null }
        const isTagged = filter.tag !== undefined && agent !== undefined
        const filters = joinClauses([
          agent ? ['s.agent_n = :agentN', agent.n] : ['a.workspace_id = :workspaceId', filter.workspaceId],
          ['g.agent_n = :taggedAgentN', isTagged ? agent.n : undefined],
          ['g.tag = :tag', isTagged ? filter.tag : undefined],
          ['s.version_id = :versionId', filter.versionId],
          ['s.status in (select value from json_each(:status))', listClause(filter.status)],
          [`${isTagged ? 'g' : 's'}.started_at >= :from`, filter.from],
          [`${isTagged ? 'g' : 's'}.started_at < :to`, filter.to],
        ])
        const tables = isTagged ? `from session_tag g cross join session s on s.n = g.session_n ${OWNER}` : FROM
        const order = isTagged ? ['g.started_at', 'g.session_n'] : ['s.started_at', 's.n']
        const position = page.after && `and (${order.join(', ')}) < (:afterAt, :afterN)`
        const rows = prepared<ListedRow>(
          `${LISTED} ${tables}
           where ${filters.where} ${position ?? ''}
           order by ${order[0]} desc, ${order[1]} desc
           limit :take offset :skip`,
        ).all({
          ...filters.values,
          ...(page.after && { afterAt: page.after.startedAt, afterN: page.after.n }),
          whole: page.wholeBytes ?? Number.MAX_SAFE_INTEGER,
          // One more, to see whether there is a next page.
          take: page.take + 1,
          skip: page.skip,
        })
        const { workspaceId: _workspaceId, agentId: _agentId, ...narrowed } = filter
        const total = Object.values(narrowed).every((each) => each === undefined)
          ? (agent ?? agents.totals(filter.workspaceId)).sessions
          : prepared<{ total: number }>(`select count(*) as total ${tables} where ${filters.where}`).get(
              filters.values,
            )!.total
        const items = rows.slice(0, page.take)
        const last = rows.length > page.take ? items.at(-1) : undefined
        return { items: items.map(toListed), total, next: last ? { startedAt: last.started_at, n: last.n } : null }
      },
      async sessionValue(id, name) {
        return values[name].get(id) ?? undefined
      },
      async sessionsEndingWith(workspaceId, text, limit) {
        return ending.all({ workspaceId, ending: text, limit }).map(toSession)
      },
    },
    numberOf: (id) => number.get(id),
    get,
    readFence: (id) => fence.get(id),
    insert({ session, busy }, lease) {
      const agentN = agents.numberOf(session.agentId, session.workspaceId, session.agentName)
      agents.countSession(agentN)
      const input = toText(session.input)!
      const { lastInsertRowid } = insert.run(...changingValues(session), {
        id: session.id,
        agentN,
        agentName: session.agentName,
        versionId: session.agentVersionId,
        versionLabel: session.versionLabel,
        triggerType: session.triggerType,
        triggeredBy: session.triggeredBy,
        person: session.person,
        triggerId: session.triggerId,
        triggerName: session.triggerName,
        rootRunId: session.rootRunId,
        input,
        inputDigest: largeDigest(input),
        startContext: toText(withoutInput(session)),
        metadata: toText(session.metadata),
        tags: toText(session.tags),
        startedAt: session.startedAt,
        finishedAt: session.finishedAt,
        busy: busy ? 1 : 0,
        ...lease,
        status: session.status,
      })
      const n = Number(lastInsertRowid)
      for (const tag of session.tags ?? []) insertTag.run(agentN, tag, session.startedAt, n)
      return n
    },
    update(stored, { session, busy: isBusy }, { owner, epoch, leaseUntil }) {
      const busy = isBusy ? 1 : 0
      const { status, finishedAt } = session
      if (busy === stored.busy && epoch === stored.epoch && status === stored.status && finishedAt === null)
        updateRow.run(...changingValues(session), stored.n)
      else
        updateRowAndStatus.run(...changingValues(session), status, finishedAt, busy, owner, epoch, leaseUntil, stored.n)
    },
  }
}

/** Values that an update may change, in the order of the statements. Bound by position, which is the fastest way. */
function changingValues(session: Session) {
  const output = toText(session.output)
  return [
    session.llmModel,
    session.totalTokensUsed,
    session.runCount,
    output,
    output === null ? null : largeDigest(output),
    session.error,
    session.lastSeq,
    session.lastOrdinal,
    session.cost === undefined ? null : toText({ ...session.cost }),
  ] as const
}

/** Beyond this size a list may leave a value out, and name it by its digest. */
const LARGE_BYTES = 1024

const largeDigest = (text: string): Digest | null => (Buffer.byteLength(text) > LARGE_BYTES ? digestOf(text) : null)

/** A start context repeats the input. It is stored once; null marks its place, which no other start context has there. */
const withoutInput = ({ startContext, input }: Session): JsonObject =>
  startContext['userInput'] === input ? { ...startContext, userInput: null } : startContext

const withInput = (startContext: JsonObject, input: JsonObject): JsonObject =>
  startContext['userInput'] === null ? { ...startContext, userInput: input } : startContext

// SQLite keeps the written order of a cross join: it follows the index of sessions, newest first, and not agent by agent.
const OWNER = 'cross join agent a on a.n = s.agent_n'
const FROM = `from session s ${OWNER}`

const COLUMNS = `s.id, a.workspace_id, a.id as agent_id, s.agent_name, s.version_id, s.version_label, s.llm_model,
  s.trigger_type, s.triggered_by, s.person, s.trigger_id, s.trigger_name, s.root_run_id, s.status, s.total_tokens_used,
  s.run_count, s.start_context, s.error, s.metadata, s.tags, s.started_at, s.finished_at, s.version,
  s.last_seq, s.last_ordinal, s.cost`

const SELECT = `select ${COLUMNS}, s.input, s.output ${FROM}`

// `octet_length` reads the size alone: a page of large values costs no more than one of small ones.
const LISTED = `
  select ${COLUMNS}, s.n, s.input_digest, s.output_digest,
    octet_length(s.input) as input_bytes, octet_length(s.output) as output_bytes,
    case when octet_length(s.input) <= :whole then s.input else 'null' end as input,
    case when octet_length(s.output) <= :whole then s.output end as output`

interface SessionRow {
  id: SessionId
  workspace_id: WorkspaceId
  agent_id: AgentId
  agent_name: string
  version_id: VersionId
  version_label: string
  llm_model: string | null
  trigger_type: TriggerType
  triggered_by: string | null
  person: string | null
  trigger_id: TriggerId | null
  trigger_name: string | null
  root_run_id: RunId
  status: RunStatusName
  total_tokens_used: number
  run_count: number
  input: string
  start_context: string
  output: string | null
  error: string | null
  metadata: string | null
  tags: string | null
  started_at: number
  finished_at: number | null
  version: number
  last_seq: number
  last_ordinal: number
  cost: string | null
}

interface ListedRow extends SessionRow {
  n: number
  input_digest: Digest | null
  output_digest: Digest | null
  input_bytes: number
  output_bytes: number | null
}

function toListed(row: ListedRow): ListedSession {
  const session = toSession(row)
  const input = row.input_bytes > 4 && row.input === 'null' ? leftOut(row.input_bytes, row.input_digest) : undefined
  const output =
    row.output_bytes !== null && row.output === null ? leftOut(row.output_bytes, row.output_digest) : undefined
  return input || output ? { ...session, leftOut: { ...(input && { input }), ...(output && { output }) } } : session
}

const leftOut = (bytes: number, digest: Digest | null): LeftOutValue => ({ bytes, digest })

function toSession(row: SessionRow): Session {
  const input = toObject(row.input)
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    agentVersionId: row.version_id,
    versionLabel: row.version_label,
    llmModel: row.llm_model,
    triggerType: row.trigger_type,
    triggeredBy: row.triggered_by,
    person: row.person,
    triggerId: row.trigger_id,
    triggerName: row.trigger_name,
    rootRunId: row.root_run_id,
    status: row.status,
    totalTokensUsed: row.total_tokens_used,
    runCount: row.run_count,
    output: toValue(row.output),
    error: row.error,
    input,
    startContext: withInput(toObject(row.start_context), input),
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    version: row.version,
    lastSeq: row.last_seq,
    lastOrdinal: row.last_ordinal,
    ...(row.cost !== null && { cost: toObject(row.cost) as unknown as CostSum }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as Record<string, string> }),
    ...(row.tags !== null && { tags: JSON.parse(row.tags) as string[] }),
  }
}
