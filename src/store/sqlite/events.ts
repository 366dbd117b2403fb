import type { Database } from 'better-sqlite3'
import type { AgentId, RunId, SessionId, VersionId, WorkspaceId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import type { EventKind, StoredEvent } from '../../spec/event.ts'
import type { Store } from '../store.ts'
import type { Run } from '../../spec/run.ts'
import { toText } from './json-column.ts'
import { fromColumn, toColumn, type Owner } from './step-event.ts'

export interface Events {
  readonly reads: Pick<Store, 'events'>
  /** @param run the event's run, where the turn has it: what it says is then not written again */
  add(sessionN: number, runN: number, event: StoredEvent, run: Run | undefined): void
}

export function openEvents(db: Database): Events {
  const insert = db.prepare(
    `insert into event (session_n, seq, run_n, ts, kind, subject, data)
     values (?, ?, ?, ?, ?, ?, ?)`,
  )
  const after = db.prepare<{ sessionId: string; after: number; limit: number }, Row>(
    `select e.seq, r.id as run_id, a.workspace_id, a.id as agent_id, r.version_id, e.ts, e.kind, e.subject, e.data
     from event e
       join run r on r.n = e.run_n
       join agent a on a.n = r.agent_n
     where e.session_n = (select n from session where id = :sessionId) and e.seq > :after
     order by e.seq
     limit :limit`,
  )

  return {
    reads: {
      async events(sessionId, seq, limit) {
        return after.all({ sessionId, after: seq, limit }).map((row) => toEvent(sessionId, row))
      },
    },
    // Of all statements this one runs most often, so its values are bound by place.
    add: (sessionN, runN, event, run) =>
      void insert.run(
        sessionN,
        event.seq,
        runN,
        event.ts,
        event.kind,
        event.subject,
        toText(toColumn(event, run && ownerOf(run))),
      ),
  }
}

interface Row {
  seq: number
  run_id: RunId
  workspace_id: WorkspaceId
  agent_id: AgentId
  version_id: VersionId
  ts: number
  kind: EventKind
  subject: string
  data: string
}

const toEvent = (sessionId: SessionId, row: Row): StoredEvent => ({
  sessionId,
  seq: row.seq,
  runId: row.run_id,
  ts: row.ts,
  kind: row.kind,
  subject: row.subject,
  data: fromColumn(JSON.parse(row.data) as JsonValue, {
    sessionId,
    runId: row.run_id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    agentVersionId: row.version_id,
  }),
})

const ownerOf = ({ sessionId, id, workspaceId, agentId, agentVersionId }: Run): Owner => ({
  sessionId,
  runId: id,
  workspaceId,
  agentId,
  agentVersionId,
})
