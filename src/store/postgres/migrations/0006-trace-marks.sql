-- How far spans of sessions are exported. Only a server that exports traces writes rows.
create table trace_mark (
  session_id uuid primary key,
  workspace_id text not null,
  -- Numbers of events: the spans up to `sent` are exported, those up to `ready` can be.
  sent bigint not null,
  ready bigint not null,
  -- When they are exported; while a process exports them, when another one may. Null where nothing is to be exported.
  due_at bigint,
  since bigint
);
create index trace_mark_due on trace_mark (due_at) where due_at is not null;
