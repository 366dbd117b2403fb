-- A continued session has several root runs, one after the other. Null while the newest root run is the first.
alter table session add column entry_run_id text;

-- Who started a root run that continues a session, as JSON; null for the first, whose starter is in the session.
alter table run add column starter text check (json_valid(starter));

alter table session add column title text;

alter table session add column erased_at integer;

-- Exempt from erasure and retention.
alter table session add column legal_hold integer not null default 0 check (legal_hold in (0, 1));

alter table run_trigger add column allow_delete integer not null default 0 check (allow_delete in (0, 1));

-- For lists by status: the rows in order, and a kept count.
create index session_of_status on session (agent_n, status, started_at);

create table session_count (
  agent_n integer not null references agent (n),
  status text not null,
  sessions integer not null check (sessions >= 0),
  primary key (agent_n, status)
) strict, without rowid;

insert into session_count (agent_n, status, sessions)
select agent_n, status, count(*) from session group by agent_n, status;

create trigger session_counted after insert on session
begin
  insert into session_count (agent_n, status, sessions) values (new.agent_n, new.status, 1)
  on conflict (agent_n, status) do update set sessions = sessions + 1;
end;

create trigger session_counted_by_status after update of status on session when new.status <> old.status
begin
  update session_count set sessions = sessions - 1 where agent_n = old.agent_n and status = old.status;
  insert into session_count (agent_n, status, sessions) values (new.agent_n, new.status, 1)
  on conflict (agent_n, status) do update set sessions = sessions + 1;
end;

create trigger session_uncounted after delete on session
begin
  update session_count set sessions = sessions - 1 where agent_n = old.agent_n and status = old.status;
end;

-- An erasure empties the content of steps and events and changes nothing else.
drop trigger step_only_ends;

create trigger step_only_ends
before update of session_n, ordinal, run_n, sequence, id, type, content, hidden, tokens_used, started_at, result_digest on step
when not (new.content = 'null' and new.hidden is null and new.result_digest is null
  and new.session_n = old.session_n and new.ordinal = old.ordinal and new.run_n = old.run_n
  and new.sequence = old.sequence and new.id = old.id and new.type = old.type
  and new.tokens_used is old.tokens_used and new.started_at = old.started_at
  and (select erased_at from session where n = old.session_n) is not null)
begin
  select raise(abort, 'of a step only its end is written later');
end;

create trigger large_result_erased after update of result_digest on step
when old.result_digest is not null and new.result_digest is null
begin
  delete from large_result
  where digest = old.result_digest
    and not exists (select 1 from step where result_digest = old.result_digest);
end;

drop trigger event_is_final;

create trigger event_is_final before update on event
when not (new.session_n = old.session_n and new.seq = old.seq and new.run_n = old.run_n and new.ts = old.ts
  and new.kind = old.kind and new.subject = old.subject and new.ordinal is old.ordinal
  and (select erased_at from session where n = old.session_n) is not null)
begin
  select raise(abort, 'an event never changes');
end;

-- Calls of sessions that retention has deleted: the tool, the moment, the effect key and the outcome.
create table kept_call (
  n integer primary key,
  agent_n integer not null references agent (n),
  session_id text not null,
  run_id text not null,
  call_id text not null,
  ref text not null,
  arguments_digest text not null,
  state text not null,
  attempt integer not null,
  idempotency_key text not null,
  at integer not null,
  unique (run_id, call_id)
) strict;

create index kept_call_at on kept_call (at);
