-- Free sessions are claimed in turn: one trigger after the other, and one agent after the other for sessions that operators
-- started. The index finds the next trigger or agent with free sessions, and its oldest session.
drop index session_free;
create index session_free on session (ifnull(trigger_id, 'agent ' || agent_n), started_at) where busy = 1 and owner is null;
