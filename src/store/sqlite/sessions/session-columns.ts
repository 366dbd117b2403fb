/** The columns of sessions, and the tables that they come from. */
// SQLite keeps the written order of a cross join: it follows the index of sessions, newest first, and not agent by agent.
export const SESSION_OWNER = 'cross join agent a on a.n = s.agent_n'
export const FROM_SESSION = `from session s ${SESSION_OWNER}`

const COLUMNS = `s.id, a.workspace_id, a.id as agent_id, s.agent_name, s.version_id, s.version_label, s.llm_model,
  s.trigger_type, s.triggered_by, s.person, s.trigger_id, s.trigger_name, s.root_run_id,
  s.entry_run_id, s.status, s.total_tokens_used,
  s.run_count, s.start_context, s.error, s.metadata, s.tags, s.started_at, s.finished_at, s.version,
  s.last_seq, s.last_ordinal, s.cost, s.title, s.erased_at, s.legal_hold`

export const SELECT_SESSION = `select ${COLUMNS}, s.input, s.output ${FROM_SESSION}`

// `octet_length` reads the size alone: a page of large values costs no more than one of small ones.
export const SELECT_LISTED = `
  select ${COLUMNS}, s.n, s.input_digest, s.output_digest,
    octet_length(s.input) as input_bytes, octet_length(s.output) as output_bytes,
    case when octet_length(s.input) <= :whole then s.input else 'null' end as input,
    case when octet_length(s.output) <= :whole then s.output end as output`
