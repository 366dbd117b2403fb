-- The outbox: what is told outside of svc. Each row is written by the statement that makes the change of which it tells.
create table notice (
  n bigint generated always as identity,
  -- Derived from channel and thing, so that a channel is told once of a thing.
  id text primary key,
  workspace_id text not null,
  channel text not null,
  event text not null,
  at bigint not null,
  -- When it is sent next; while a process sends it, when another one may.
  due_at bigint not null,
  data text not null,
  session_id uuid,
  run_id uuid,
  task_id uuid,
  while_pending boolean not null,
  state text not null check (state in ('waiting', 'delivered', 'moot', 'dead')),
  attempts integer not null,
  claims integer not null,
  ended_at bigint,
  error text
);
create index notice_due on notice (channel, due_at) where state = 'waiting';
create index notice_ended on notice (ended_at) where ended_at is not null;
create index notice_of_task on notice (task_id) where task_id is not null;
create index notice_in_order on notice (n);
-- The overview counts them often.
create index notice_dead on notice (workspace_id) where state = 'dead';
