-- Everything the server of one data directory keeps. Times are integer milliseconds since the epoch, UTC; JSON is text.
-- Rows refer to agents, sessions, runs and tasks by a small number (`n`) that only this database knows: a UUID in every step and
-- event would take more room than their content. `tail` is the end of an id, reversed, so that a search by ending is a prefix search.

-- Versions ------------------------------------------------------------------------------------------------------------

create table agent (
  n integer primary key,
  id text not null,
  workspace_id text not null,
  name text not null,
  deployed_version_id text references version (id),
  previous_version_id text references version (id),
  -- Kept counts: the total of a list is one row, not a count over all of them.
  sessions integer not null default 0 check (sessions >= 0),
  runs integer not null default 0 check (runs >= 0),
  unique (id, workspace_id)
) strict;

create index agent_of_workspace on agent (workspace_id);

create table version (
  id text primary key,
  agent_n integer not null references agent (n),
  label text not null,
  digest text not null,
  closure_digest text not null,
  snapshot text not null check (json_valid(snapshot)),
  published_at integer not null,
  published_by text not null,
  yanked integer not null default 0 check (yanked in (0, 1)),
  unique (agent_n, label)
) strict;

create index version_digest on version (digest);

create trigger version_is_final before update of id, agent_n, label, digest, closure_digest, snapshot on version
begin
  select raise(abort, 'a published version never changes');
end;

create table document (
  workspace_id text not null,
  kind text not null check (kind in ('Tool', 'Policy')),
  id text not null,
  version text not null,
  digest text not null,
  document text not null check (json_valid(document)),
  published_at integer not null,
  published_by text not null,
  primary key (workspace_id, kind, id, version)
) strict;

create trigger document_is_final before update on document
begin
  select raise(abort, 'a published document never changes');
end;

-- The deployments, in order: who deployed which version.
create table deployment (
  n integer primary key,
  agent_n integer not null references agent (n),
  version_id text not null references version (id),
  from_version_id text references version (id),
  deployed_at integer not null,
  deployed_by text not null
) strict;

-- Sessions ------------------------------------------------------------------------------------------------------------

create table session (
  n integer primary key,
  id text not null unique,
  agent_n integer not null references agent (n),
  agent_name text not null,
  version_id text not null,
  version_label text not null,
  llm_model text,
  trigger_type text not null check (trigger_type in ('api', 'scheduled', 'operator')),
  triggered_by text,
  trigger_id text,
  trigger_name text,
  root_run_id text not null,
  status text not null check (status in
    ('Running', 'WaitingForHITL', 'WaitingForAITL', 'WaitingForResponse', 'Completed', 'Failed', 'Cancelled')),
  total_tokens_used integer not null check (total_tokens_used >= 0),
  run_count integer not null check (run_count >= 0),
  input text not null check (json_valid(input)),
  start_context text not null check (json_valid(start_context)),
  output text check (json_valid(output)),
  error text,
  started_at integer not null,
  finished_at integer,
  -- Grows by one with every save: the fence between two writers.
  version integer not null check (version > 0),
  last_seq integer not null check (last_seq >= 0),
  last_ordinal integer not null check (last_ordinal >= 0),
  busy integer not null check (busy in (0, 1)),
  check ((finished_at is not null) = (status in ('Completed', 'Failed', 'Cancelled')))
) strict;

create index session_of_agent on session (agent_n, started_at);
create index session_started on session (started_at);
create index session_busy on session (started_at) where busy = 1;
create index session_open on session (trigger_id) where finished_at is null;

create table run (
  n integer primary key,
  id text not null unique,
  tail text not null,
  session_n integer not null references session (n),
  agent_n integer not null references agent (n),
  agent_name text not null,
  version_id text not null,
  version_label text not null,
  llm_model text,
  parent_run_id text,
  parent_call_id text,
  depth integer not null check (depth >= 0),
  input text not null check (json_valid(input)),
  state text not null check (json_valid(state)),
  status text not null check (status in
    ('Running', 'WaitingForHITL', 'WaitingForAITL', 'WaitingForResponse', 'Completed', 'Failed', 'Cancelled')),
  usage text not null check (json_valid(usage)),
  last_sequence integer not null check (last_sequence >= 0),
  output text check (json_valid(output)),
  error text,
  error_code text,
  started_at integer not null,
  finished_at integer,
  check ((finished_at is not null) = (status in ('Completed', 'Failed', 'Cancelled')))
) strict;

create index run_of_session on run (session_n);
create index run_of_agent on run (agent_n, started_at);
create index run_started on run (started_at);
create index run_tail on run (tail);
create index run_open on run (started_at) where finished_at is null;

create table step (
  session_n integer not null references session (n),
  ordinal integer not null check (ordinal > 0),
  run_n integer not null references run (n),
  sequence integer not null check (sequence > 0),
  id text not null,
  event_id text not null,
  type text not null,
  content text not null check (json_valid(content)),
  hidden text check (json_valid(hidden)),
  tokens_used integer check (tokens_used >= 0),
  error text,
  started_at integer not null,
  finished_at integer,
  primary key (session_n, ordinal),
  unique (run_n, sequence)
) strict, without rowid;

create index step_open on step (id) where finished_at is null;

create table event (
  session_n integer not null references session (n),
  seq integer not null check (seq > 0),
  run_n integer not null references run (n),
  ts integer not null,
  kind text not null,
  subject text not null,
  data text not null check (json_valid(data)),
  primary key (session_n, seq)
) strict, without rowid;

create trigger event_is_final before update on event
begin
  select raise(abort, 'an event never changes');
end;

create table call (
  session_n integer not null references session (n),
  run_n integer not null references run (n),
  call_id text not null,
  agent_n integer not null references agent (n),
  ref text not null,
  arguments_digest text not null,
  arguments text not null check (json_valid(arguments)),
  state text not null,
  attempt integer not null,
  idempotency_key text not null,
  at integer not null,
  primary key (session_n, run_n, call_id)
) strict, without rowid;

create index call_of_agent on call (agent_n, at);

create table user_task (
  n integer primary key,
  id text not null unique,
  tail text not null,
  session_n integer not null references session (n),
  run_n integer not null references run (n),
  kind text not null,
  status text not null check (status in ('pending', 'completed', 'expired', 'cancelled')),
  call_id text,
  expires_at integer,
  created_at integer not null,
  -- The task as it is shown and answered, without its votes.
  body text not null check (json_valid(body))
) strict;

create index user_task_of_session on user_task (session_n);
create index user_task_tail on user_task (tail);
create index user_task_pending on user_task (expires_at, created_at) where status = 'pending';
-- A call has at most one pending task.
create unique index user_task_of_call on user_task (run_n, call_id) where status = 'pending' and call_id is not null;

create table vote (
  n integer primary key,
  task_n integer not null references user_task (n),
  approver text not null,
  approved integer not null check (approved in (0, 1)),
  at integer not null,
  comment text,
  -- An edit of the arguments voids the votes given before it; they are kept for the audit.
  voided integer not null default 0 check (voided in (0, 1))
) strict;

create index vote_of_task on vote (task_n);
create unique index vote_counts_once on vote (task_n, approver) where voided = 0;

create table timer (
  session_n integer not null references session (n),
  run_n integer not null references run (n),
  kind text not null,
  ref text not null,
  at integer not null,
  primary key (session_n, run_n, kind, ref)
) strict, without rowid;

create index timer_at on timer (at);

-- Starting ------------------------------------------------------------------------------------------------------------

create table idempotency (
  principal text not null,
  route text not null,
  key text not null,
  body_digest text not null,
  response text not null check (json_valid(response)),
  expires_at integer not null,
  primary key (principal, route, key)
) strict, without rowid;

create index idempotency_expiry on idempotency (expires_at);

create table rate_bucket (
  trigger_id text not null,
  span text not null check (span in ('minute', 'day')),
  -- Microseconds since the epoch at which the bucket is full again if nothing more is taken. Whole numbers, so that a limit
  -- that does not divide its span is still exact.
  full_at integer not null,
  primary key (trigger_id, span)
) strict, without rowid;

create table plan_day (
  workspace_id text not null,
  -- Days since the epoch, UTC.
  day integer not null,
  runs integer not null default 0,
  tokens integer not null default 0,
  primary key (workspace_id, day)
) strict, without rowid;

-- Keys ----------------------------------------------------------------------------------------------------------------

create table run_trigger (
  id text primary key,
  workspace_id text not null,
  agent_id text not null,
  type text not null check (type in ('api', 'schedule')),
  name text not null,
  active integer not null check (active in (0, 1)),
  expose_timeline integer not null check (expose_timeline in (0, 1)),
  allow_ips text not null check (json_valid(allow_ips)),
  rate_per_minute integer,
  rate_per_day integer,
  max_concurrent_runs integer,
  cron text,
  time_zone text,
  created_at integer not null
) strict;

create index run_trigger_of_workspace on run_trigger (workspace_id, agent_id);

-- A key is kept for the audit when its trigger is deleted, but no longer accepted.
create table api_key (
  id text primary key,
  workspace_id text not null,
  agent_id text not null,
  trigger_id text not null,
  name text,
  prefix text not null,
  hash text not null unique,
  allow_uploads integer not null check (allow_uploads in (0, 1)),
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  last_used_at integer
) strict;

create index api_key_of_workspace on api_key (workspace_id);

-- Files ---------------------------------------------------------------------------------------------------------------

create table file (
  n integer primary key,
  id text not null unique,
  workspace_id text not null,
  object_key text not null,
  staging_key text not null,
  filename text not null,
  media_type text not null,
  max_bytes integer not null check (max_bytes > 0),
  size_bytes integer check (size_bytes >= 0),
  created_at integer not null,
  expires_at integer not null,
  finalized_at integer,
  unique (workspace_id, object_key),
  unique (workspace_id, filename),
  check ((finalized_at is null) = (size_bytes is null))
) strict;

create index file_stored on file (workspace_id, finalized_at) where finalized_at is not null;
create index file_pending on file (expires_at) where finalized_at is null;

-- Number and size of the finalized files of a workspace, kept so that no request sums them.
create table file_total (
  workspace_id text primary key,
  files integer not null check (files >= 0),
  bytes integer not null check (bytes >= 0)
) strict, without rowid;
