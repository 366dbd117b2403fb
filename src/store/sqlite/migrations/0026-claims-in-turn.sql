-- A claim takes sessions of each trigger in turn, and those that operators started of each agent: it looks for the next trigger
-- that has any, and for the oldest of it.
drop index session_free;
create index session_free on session (ifnull(trigger_id, 'agent ' || agent_n), started_at) where busy = 1 and owner is null;
