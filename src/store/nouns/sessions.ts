/** Sessions, one at a time. Lists stand with the indexes of each database. */
import type { Dialect } from '../dialect.ts'
import { toSession, type SessionRow } from '../rows/session-rows.ts'
import { readRow, readRows, type NounWork } from '../statement.ts'

/** Columns of a session `s` but its input and output, and the tables that they come from. */
export function sessionColumns({ owner }: Dialect): { readonly fields: string; readonly from: string } {
  const { workspace, agent, join } = owner('s')
  return {
    fields: `s.id, ${workspace} as workspace_id, ${agent} as agent_id, s.agent_name, s.version_id, s.version_label, s.llm_model,
      s.trigger_type, s.triggered_by, s.person, s.trigger_id, s.trigger_name, s.root_run_id, s.entry_run_id, s.status,
      s.total_tokens_used, s.run_count, s.start_context, s.error, s.metadata, s.tags, s.started_at, s.finished_at, s.version,
      s.last_seq, s.last_ordinal, s.cost, s.title, s.erased_at, s.legal_hold`,
    from: `from session s ${join}`,
  }
}

/**
 * Columns of a listed session: values larger than `:whole` are left out. The size of a value is known without reading it, so that a page
 * of large values costs no more than one of small ones.
 */
export const listedColumns = (dialect: Dialect): string => `
  ${sessionColumns(dialect).fields}, s.n, s.input_digest, s.output_digest,
  octet_length(s.input) as input_bytes, octet_length(s.output) as output_bytes,
  case when octet_length(s.input) <= cast(:whole as bigint) then s.input else 'null' end as input,
  case when octet_length(s.output) <= cast(:whole as bigint) then s.output end as output`

const VALUES = {
  input: 'select input as value from session where id = :id',
  output: 'select output as value from session where id = :id',
}

export function prepareSessions(dialect: Dialect): NounWork<'session' | 'sessionValue' | 'sessionsEndingWith', never> {
  const { fields, from } = sessionColumns(dialect)
  const select = `select ${fields}, s.input, s.output ${from}`
  const one = `${select} where s.id = :id`
  // A rare query of people: a scan is cheaper than an index that every start would have to write.
  const endingWith = `${select}
    where ${dialect.ending('s.id')} = :ending and ${dialect.owner('s').workspace} = :workspaceId
    order by s.started_at desc, s.n desc
    limit :limit`
  return {
    reads: {
      *session(id) {
        const row = yield* readRow<SessionRow>(one, { id })
        return row && toSession(row)
      },
      *sessionValue(id, name) {
        return (yield* readRow<{ value: string | null }>(VALUES[name], { id }))?.value ?? undefined
      },
      *sessionsEndingWith(workspaceId, text, limit) {
        return (yield* readRows<SessionRow>(endingWith, { workspaceId, ending: text, limit })).map(toSession)
      },
    },
    writes: {},
    transactions: {},
  }
}
