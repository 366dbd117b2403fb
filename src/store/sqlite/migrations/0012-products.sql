-- For products built on the API: titles, metadata and tags of sessions, lists of their tasks, and values by reference.
alter table session add column metadata text check (json_valid(metadata));

alter table session add column tags text check (json_valid(tags));

-- Digests of the stored texts of large values, so that a list can name a value without reading it. Null where the value is
-- small, and for values stored before this migration.
alter table session add column input_digest text;

alter table session add column output_digest text;

create table session_tag (
  agent_n integer not null references agent (n),
  tag text not null,
  started_at integer not null,
  session_n integer not null references session (n),
  primary key (agent_n, tag, started_at, session_n)
) strict, without rowid;

-- Agent and trigger of the task's session, so that the tasks of one key are found without reading those of others.
alter table user_task add column scope_agent_n integer references agent (n);

alter table user_task add column scope_trigger_id text;

update user_task
set scope_agent_n = (select agent_n from session where n = user_task.session_n),
  scope_trigger_id = (select trigger_id from session where n = user_task.session_n);

create index user_task_of_scope on user_task (scope_agent_n, scope_trigger_id, status);
