-- A claim takes sessions of each trigger in turn, and those that operators started of each agent: it looks for the next trigger
-- that has any, and for the oldest of it.
drop index session_free;
create index session_free on session ((coalesce(trigger_id, agent_id)), started_at, n)
  where busy and owner is null and restored_at is null;
