-- The outbox: what is told outside of svc. Each row is written by the transaction of the change that it tells of.
create table notice (
  -- Derived from channel and thing, so that a channel is told once of a thing.
  id text primary key,
  workspace_id text not null,
  channel text not null,
  event text not null,
  at integer not null,
  -- When it is sent next; while a process sends it, when another one may.
  due_at integer not null,
  data text not null check (json_valid(data)),
  session_id text,
  run_id text,
  task_id text,
  while_pending integer not null check (while_pending in (0, 1)),
  state text not null check (state in ('waiting', 'delivered', 'moot', 'dead')),
  attempts integer not null,
  claims integer not null,
  ended_at integer,
  error text
) strict;

create index notice_due on notice (channel, due_at) where state = 'waiting';
create index notice_ended on notice (ended_at) where ended_at is not null;
create index notice_of_task on notice (task_id) where task_id is not null;
-- The overview counts them often.
create index notice_dead on notice (workspace_id) where state = 'dead';
