-- Free sessions are claimed in turn: one trigger after the other, and one agent after the other for sessions that operators
-- started. The index finds the next trigger or agent with free sessions, and its oldest session.
drop index session_free;
create index session_free on session ((coalesce(trigger_id, agent_id)), started_at, n)
  where busy and owner is null and restored_at is null;
