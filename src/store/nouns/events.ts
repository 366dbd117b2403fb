/** Events of sessions, for their readers. */
import type { Dialect } from '../dialect.ts'
import { toEvent, type EventRow } from '../rows/event-rows.ts'
import { readRows, type NounWork } from '../statement.ts'

export function prepareEvents({ key, column, find, owner }: Dialect): NounWork<'events', never> {
  const { workspace, agent, join } = owner('r')
  const after = `
    select e.seq, r.id as run_id, ${workspace} as workspace_id, ${agent} as agent_id, r.version_id, e.ts, e.kind, e.subject,
      e.data, e.ordinal, t.id as step_id, t.sequence, t.type, t.content, l.result, t.tokens_used, t.error, t.started_at,
      t.finished_at
    from event e
      join run r on r.${key} = e.${column('run')}
      ${join}
      left join step t on t.${column('session')} = e.${column('session')} and t.ordinal = e.ordinal
      left join large_result l on l.digest = t.result_digest
    where e.${column('session')} = ${find('session', 'sessionId')} and e.seq > :after
    order by e.seq
    limit :limit`
  return {
    reads: {
      *events(sessionId, seq, limit) {
        const rows = yield* readRows<EventRow>(after, { sessionId, after: seq, limit })
        return rows.map((row) => toEvent(sessionId, row))
      },
    },
    writes: {},
    transactions: {},
  }
}
