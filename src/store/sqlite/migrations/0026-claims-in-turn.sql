-- Claims take turns between triggers, and between agents for sessions that operators started. The index finds the next one that
-- has free sessions, and its oldest session.
drop index session_free;
create index session_free on session (ifnull(trigger_id, 'agent ' || agent_n), started_at) where busy = 1 and owner is null;
