import type { Instant } from '../../../base/clock.ts'
import type { SessionId, VersionId } from '../../../base/ids.ts'
import type { RunStatusName } from '../../../spec/run/run.ts'
import type { Session } from '../../../spec/run/session.ts'
import type { LeaseHolder, WorkerId } from '../../lease.ts'
import { toText, toColumnText } from '../../rows/json-column.ts'
import { largeDigest, toListed, withoutInput } from '../../rows/session-rows.ts'
import type { SessionUpdate } from '../../session-update.ts'
import type { Store } from '../../store.ts'
import type { AgentTable } from '../agents.ts'
import { openSessionLists } from './session-lists.ts'
import type { Database } from 'better-sqlite3'

/** Stored values that a writer compares its update with. */
export interface SessionFence {
  readonly n: number
  readonly version: number
  readonly lastSeq: number
  readonly tokens: number
  readonly status: RunStatusName
  readonly busy: 0 | 1
  readonly erasedAt: number | null
  readonly versionId: VersionId
  readonly owner: WorkerId | null
  readonly epoch: number
  readonly leaseUntil: Instant | null
}

/** The lease of a session, as a save leaves it. */
export type LeaseColumns = Pick<SessionFence, 'owner' | 'epoch' | 'leaseUntil'>

export interface SessionTable {
  readonly reads: Pick<Store, 'sessions'>
  numberOf(id: SessionId): number | undefined
  readFence(id: SessionId): SessionFence | undefined
  /** Writes a new session with version 1 and returns its row number. */
  insert(update: SessionUpdate, lease: LeaseColumns): number
  /**
   * Stores the update of a session that goes on under the same lease, which is what nearly every save is, in one statement.
   * @param tokens that the update counts
   * @returns the row number; undefined where the stored session is not the one that `update` follows, or more of it changes
   */
  advance(update: SessionUpdate, tokens: number, holder: LeaseHolder, now: Instant): number | undefined
  update(stored: SessionFence, update: SessionUpdate, lease: LeaseColumns): void
  /** Counts as a save to whoever read the session before. */
  raiseVersion(n: number): void
  /** Writes what a new root run replaces; the root run before it keeps its input. */
  replaceRoot(n: number, session: Session): void
}

export function openSessions(db: Database, agents: AgentTable): SessionTable {
  const list = openSessionLists(db, agents)
  const number = db.prepare<[string], number>('select n from session where id = ?').pluck()
  const fence = db.prepare<[string], SessionFence>(
    `select n, version, last_seq as lastSeq, total_tokens_used as tokens, status, busy, owner, epoch,
       lease_until as leaseUntil, erased_at as erasedAt, version_id as versionId
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
  const updateRow = db.prepare(`update session set ${changes} where n = ?`)
  const advance = db
    .prepare<unknown[], number>(
      `update session set ${changes}
       where id = ? and version = ? and last_seq = ? and total_tokens_used = ? and version_id = ? and status = ?
         and finished_at is null and busy = 1 and owner = ? and epoch = ? and lease_until > ?
       returning n`,
    )
    .pluck()
  // Separate, because naming an indexed column rewrites its index entry and naming the status evaluates its check constraint,
  // even when the values stay the same. That takes as long as the rest of the update.
  const updateRowAndStatus = db.prepare(
    `update session set ${changes}, status = ?, finished_at = ?, busy = ?, owner = ?, epoch = ?, lease_until = ? where n = ?`,
  )
  // The input stands with the session while its root run is the newest one.
  const keepInput = db.prepare<[number]>(
    `update run
     set input = (select input from session where n = run.session_n)
     where id = (select root_run_id from session where n = ?)`,
  )
  const replaceRoot = db.prepare(
    `update session
     set entry_run_id = coalesce(entry_run_id, root_run_id), root_run_id = :rootRunId, version_id = :versionId,
       version_label = :versionLabel, input = :input, input_digest = :inputDigest, start_context = :startContext
     where n = :n`,
  )
  const raise = db.prepare<[number]>('update session set version = version + 1 where n = ?')
  const updateVersion = db.prepare('update session set version_id = ?, version_label = ? where n = ?')
  return {
    reads: {
      async sessions(filter, page) {
        const agent = filter.agentId && agents.find(filter.agentId, filter.workspaceId)
        if (filter.agentId && !agent) return { items: [], total: 0, next: null }
        const { items, next, total } = list(filter, agent, page)
        return { items: items.map(toListed), total, next }
      },
    },
    numberOf: (id) => number.get(id),
    readFence: (id) => fence.get(id),
    insert({ session, busy }, lease) {
      const agentN = agents.numberOf(session.agentId, session.workspaceId, session.agentName)
      agents.countSession(agentN)
      const input = toColumnText(session.input)
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
    raiseVersion: (n) => void raise.run(n),
    replaceRoot(n, session) {
      keepInput.run(n)
      const input = toColumnText(session.input)
      replaceRoot.run({
        n,
        rootRunId: session.rootRunId,
        versionId: session.agentVersionId,
        versionLabel: session.versionLabel,
        input,
        inputDigest: largeDigest(input),
        startContext: toText(withoutInput(session)),
      })
    },
    advance({ session, busy, events }, tokens, { worker, epoch }, now) {
      if (!busy || session.finishedAt !== null || epoch === undefined) return undefined
      return advance.get(
        ...changingValues(session),
        session.id,
        session.version,
        session.lastSeq - events.length,
        session.totalTokensUsed - tokens,
        session.agentVersionId,
        session.status,
        worker,
        epoch,
        now,
      )
    },
    update(stored, { session, busy: isBusy }, { owner, epoch, leaseUntil }) {
      const busy = isBusy ? 1 : 0
      const { status, finishedAt } = session
      if (session.agentVersionId !== stored.versionId)
        updateVersion.run(session.agentVersionId, session.versionLabel, stored.n)
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
