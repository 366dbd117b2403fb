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
  -- The reason that the person who yanked the version gave; null without one.
  yank_reason text check (yank_reason is null or yanked = 1),
  -- The message that the publisher gave.
  message text,
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
  deployed_by text not null,
  -- The message that the deployer gave.
  message text
) strict;

create index deployment_of_agent on deployment (agent_n, n);

-- Published documents never change, so a yank is a row of its own.
create table yanked_document (
  workspace_id text not null,
  kind text not null,
  id text not null,
  version text not null,
  reason text,
  primary key (workspace_id, kind, id, version),
  foreign key (workspace_id, kind, id, version) references document (workspace_id, kind, id, version)
) strict, without rowid;

-- The documents of publications as they were written, each text once.
create table source_text (
  digest text primary key,
  text text not null
) strict;

-- Files of a publication. The closure digest does not cover comments and order: the first publication is kept.
create table source_file (
  workspace_id text not null,
  closure_digest text not null,
  path text not null,
  digest text not null references source_text (digest),
  primary key (workspace_id, closure_digest, path)
) strict, without rowid;

-- The publication with which a version came.
create table source_member (
  workspace_id text not null,
  kind text not null check (kind in ('Agent', 'Tool', 'Policy')),
  id text not null,
  version text not null,
  closure_digest text not null,
  primary key (workspace_id, kind, id, version)
) strict, without rowid;

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
  -- The operator for whose command a key was made. That person, and not the key, counts as the one who started or answered.
  person text,
  metadata text check (json_valid(metadata)),
  tags text check (json_valid(tags)),
  -- Digests of the stored texts of large values, so that a list can name a value without reading it. Null where the value is small.
  input_digest text,
  output_digest text,
  -- Money of all runs of the session, as JSON; null where nothing was billed.
  cost text check (json_valid(cost)),
  -- The process that performs the effects of the session, and until when. Only a session with work in progress has an owner.
  owner text,
  -- Grows with every change of owner.
  epoch integer not null default 0,
  lease_until integer,
  -- A continued session has several root runs, one after the other. Null while the newest root run is the first.
  entry_run_id text,
  title text,
  erased_at integer,
  -- Exempt from erasure and retention.
  legal_hold integer not null default 0 check (legal_hold in (0, 1)),
  check ((finished_at is not null) = (status in ('Completed', 'Failed', 'Cancelled')))
) strict;

create index session_of_agent on session (agent_n, started_at);
create index session_started on session (started_at);
-- For lists by status: the rows in order, and a kept count.
create index session_of_status on session (agent_n, status, started_at);
create index session_open on session (trigger_id) where finished_at is null;
-- Free sessions are claimed in turn: one trigger after the other, and one agent after the other for sessions that operators
-- started. The index finds the next trigger or agent with free sessions, and its oldest session.
create index session_free on session (ifnull(trigger_id, 'agent ' || agent_n), started_at) where busy = 1 and owner is null;
create index session_held on session (started_at) where owner is not null;

create table session_count (
  agent_n integer not null references agent (n),
  status text not null,
  sessions integer not null check (sessions >= 0),
  primary key (agent_n, status)
) strict, without rowid;

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

create table session_tag (
  agent_n integer not null references agent (n),
  tag text not null,
  started_at integer not null,
  session_n integer not null references session (n),
  primary key (agent_n, tag, started_at, session_n)
) strict, without rowid;

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
  -- Who started a root run that continues a session, as JSON; null for the first, whose starter is in the session.
  starter text check (json_valid(starter)),
  -- The run that the run repeats, from the start or from a step on.
  origin text check (json_valid(origin)),
  check ((finished_at is not null) = (status in ('Completed', 'Failed', 'Cancelled')))
) strict;

create index run_of_session on run (session_n);
create index run_of_agent on run (agent_n, started_at);
create index run_started on run (started_at);
create index run_tail on run (tail);
create index run_open on run (started_at) where finished_at is null;
create index run_of_origin on run (json_extract(origin, '$.runId')) where origin is not null;
-- Open root runs that continue a session. They count for the trigger that started them, whoever started the session.
create index run_open_of_starter on run (json_extract(starter, '$.triggerId')) where starter is not null and finished_at is null;
-- A session goes on for thousands of runs: only those that may still change are read, each with its whole tree.
create index run_at_work on run (session_n) where finished_at is null or origin is not null;
create index run_of_parent on run (parent_run_id) where parent_run_id is not null;

-- The searchable text of runs: input, output and error, and nothing of erased runs. Escaped line ends and tabs of JSON texts
-- become spaces, because the index would read them as letters. Only the beginning is searched, so that no run fills the index.
create view run_text (n, session_n, input, output) as
select r.n, r.session_n,
  replace(replace(substr(case when r.id = s.root_run_id then s.input else r.input end, 1, 20000), '\n', ' '), '\t', ' '),
  case when r.finished_at is null then '' else
    replace(replace(substr(coalesce(r.output, ''), 1, 20000), '\n', ' '), '\t', ' ') || ' ' || coalesce(r.error, '') || ' '
      || coalesce(r.error_code, '') end
from run r join session s on s.n = r.session_n
where s.erased_at is null;

-- A run's input is written when it starts, its output when it ends: each once. Sizes of texts would only serve a ranking.
create virtual table run_input using fts5 (input, content = 'run_text', content_rowid = 'n', columnsize = 0);
create virtual table run_output using fts5 (output, content = 'run_text', content_rowid = 'n', columnsize = 0);

-- Results of tools that are too long for a row, each stored once however many steps have it, and deleted with the last of them.
create table large_result (
  digest text primary key,
  result text not null check (json_valid(result))
) strict;

create table step (
  session_n integer not null references session (n),
  ordinal integer not null check (ordinal > 0),
  run_n integer not null references run (n),
  sequence integer not null check (sequence > 0),
  id text not null,
  type text not null,
  content text not null check (json_valid(content)),
  hidden text check (json_valid(hidden)),
  tokens_used integer check (tokens_used >= 0),
  error text,
  started_at integer not null,
  finished_at integer,
  result_digest text references large_result (digest),
  primary key (session_n, ordinal),
  unique (run_n, sequence)
) strict, without rowid;

create index step_with_large_result on step (result_digest) where result_digest is not null;

-- An event that shows a stored step refers to it and has no data of its own, so a step may only be completed, never changed. An
-- erasure empties the content of steps and events and changes nothing else.
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

create trigger large_result_goes after delete on step when old.result_digest is not null
begin
  delete from large_result
  where digest = old.result_digest
    and not exists (select 1 from step where result_digest = old.result_digest);
end;

create trigger large_result_erased after update of result_digest on step
when old.result_digest is not null and new.result_digest is null
begin
  delete from large_result
  where digest = old.result_digest
    and not exists (select 1 from step where result_digest = old.result_digest);
end;

create table event (
  session_n integer not null references session (n),
  seq integer not null check (seq > 0),
  run_n integer not null references run (n),
  ts integer not null,
  kind text not null,
  subject text not null,
  data text not null check (json_valid(data)),
  -- Of the step that the event shows.
  ordinal integer,
  primary key (session_n, seq)
) strict, without rowid;

create trigger event_is_final before update on event
when not (new.session_n = old.session_n and new.seq = old.seq and new.run_n = old.run_n and new.ts = old.ts
  and new.kind = old.kind and new.subject = old.subject and new.ordinal is old.ordinal
  and (select erased_at from session where n = old.session_n) is not null)
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
create index call_of_tool on call (substr(ref, 1, instr(ref || '@', '@') - 1), at);

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
  body text not null check (json_valid(body)),
  -- Agent and trigger of the task's session, so that the tasks of one key are found without reading those of others.
  scope_agent_n integer references agent (n),
  scope_trigger_id text
) strict;

create index user_task_of_session on user_task (session_n);
create index user_task_tail on user_task (tail);
create index user_task_pending on user_task (expires_at, created_at) where status = 'pending';
create index user_task_pending_of_session on user_task (session_n) where status = 'pending';
create index user_task_of_scope on user_task (scope_agent_n, scope_trigger_id, status);
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
create index vote_of_approver on vote (approver, at);
create unique index vote_counts_once on vote (task_n, approver) where voided = 0;

-- People who are looking at a task, and until when that holds. It is a hint: it keeps nobody from deciding.
create table task_claim (
  task_id text not null,
  workspace_id text not null,
  operator text not null,
  at integer not null,
  until integer not null,
  primary key (task_id, operator)
) strict, without rowid;

create index task_claim_of_workspace on task_claim (workspace_id, at);

create table timer (
  session_n integer not null references session (n),
  run_n integer not null references run (n),
  kind text not null,
  ref text not null,
  at integer not null,
  primary key (session_n, run_n, kind, ref)
) strict, without rowid;

create index timer_at on timer (at);

-- Calls that took an effect key. A row stays when its run is deleted, because the effect stays done; so it has the ids of run and
-- session as text and no foreign key.
create table effect (
  id text primary key,
  workspace_id text not null,
  -- The key, or its digest beyond 512 bytes; `shown` is its beginning for people.
  key text not null,
  shown text not null,
  session_id text not null,
  run_id text not null,
  call_id text not null,
  tool text not null,
  tool_version text not null,
  agent text not null,
  agent_version text not null,
  arguments_digest text not null,
  at integer not null,
  not_after integer not null,
  -- Null for ever.
  expires_at integer,
  state text not null check (state in ('in_flight', 'unknown', 'done', 'not_made')),
  result text check (json_valid(result)),
  approved_by text not null check (json_valid(approved_by)),
  replaces text,
  released_at integer,
  released_by text,
  release_reason text,
  -- 1 for the call that holds the key. An approved repetition takes it over from the call that it repeats.
  holds integer not null check (holds in (0, 1))
) strict, without rowid;

-- At most one call of a workspace holds a key: the guarantee of effect keys.
create unique index effect_held on effect (workspace_id, key) where holds = 1;
create index effect_of_key on effect (workspace_id, key, at);
create index effect_at on effect (workspace_id, at);
create index effect_of_call on effect (run_id, call_id) where state in ('in_flight', 'unknown');
create index effect_of_session on effect (session_id, at);

-- Raised by each save that decided calls by counting those of other sessions, and by each revocation. A save that counted at an
-- older version is refused and counts again.
create table history_fence (
  workspace_id text primary key,
  version integer not null
) strict, without rowid;

-- Revocations and renewals of standing authorities, in order. The last row of a name is in force.
create table standing_act (
  n integer primary key,
  workspace_id text not null,
  name text not null,
  revoked integer not null check (revoked in (0, 1)),
  at integer not null,
  by text not null,
  reason text not null
) strict;

create index standing_act_of_name on standing_act (workspace_id, name, n);

-- Pauses and resumptions by operators, in order. The last row of a kind and name is in force.
create table pause_act (
  n integer primary key,
  workspace_id text not null,
  kind text not null check (kind in ('all', 'agent', 'version', 'tool', 'provider')),
  name text not null,
  paused integer not null check (paused in (0, 1)),
  at integer not null,
  by text not null,
  reason text
) strict;

create index pause_act_of_target on pause_act (workspace_id, kind, name, n);

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

-- What each completion in flight may use at most of the daily spend cap of the workspace. The row is deleted when the completion ends.
create table plan_reservation (
  run_n integer primary key references run (n) on delete cascade,
  workspace_id text not null,
  tokens integer not null,
  -- Exact decimal text; null where the completion costs nothing in the currency of the cap.
  amount text,
  currency text,
  check ((amount is null) = (currency is null))
) strict;
create index plan_reservation_workspace on plan_reservation (workspace_id);

-- What completions used and cost, summed by day, agent, version and model as they are stored, so that no report scans the steps.
create table cost_day (
  workspace_id text not null,
  -- Days since the epoch, UTC.
  day integer not null,
  agent_n integer not null references agent (n),
  version text not null,
  provider text not null,
  model text not null,
  -- Empty for completions without a price.
  currency text not null,
  completions integer not null,
  -- Completions that are billed at a price nobody knows.
  unpriced integer not null,
  input_tokens integer not null,
  cached_input_tokens integer not null,
  cache_write_tokens integer not null,
  output_tokens integer not null,
  reasoning_tokens integer not null,
  -- Exact decimal: SQLite has no type that adds money without rounding or overflow.
  amount text not null,
  primary key (workspace_id, day, agent_n, version, provider, model, currency)
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
  created_at integer not null,
  -- The moment up to which the ticks of the schedule were handled. A server that was down has missed the ticks after it.
  ticked_at integer,
  allow_delete integer not null default 0 check (allow_delete in (0, 1)),
  allow_approvals integer not null default 0 check (allow_approvals in (0, 1)),
  allow_older_versions integer not null default 0 check (allow_older_versions in (0, 1)),
  -- With which a schedule starts runs, and why its last tick started none: {at, code, message}.
  input text check (input is null or json_valid(input)),
  refusal text check (refusal is null or json_valid(refusal))
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
  last_used_at integer,
  -- See session.person.
  person text
) strict;

create index api_key_of_workspace on api_key (workspace_id);

-- Credentials of people on the operator channel. They are not in api_key, so no lookup by the API can find one.
create table operator_key (
  id text primary key,
  workspace_id text not null,
  email text not null,
  roles text not null check (json_valid(roles)),
  name text,
  prefix text not null,
  hash text not null unique,
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  last_used_at integer
) strict;

create index operator_key_of_workspace on operator_key (workspace_id);

-- Browsers in which an operator is signed in to the console. Their ids and secrets are never those of a key.
create table console_session (
  id text primary key,
  workspace_id text not null,
  -- SHA-256 of the cookie's value, hexadecimal.
  hash text not null unique,
  operator text not null,
  -- The credential that signed in; null for the local identity of the operator channel.
  key_id text references operator_key (id),
  browser text not null,
  created_at integer not null,
  last_used_at integer not null,
  ended_at integer
) strict;

create index console_session_of_workspace on console_session (workspace_id);

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
-- A presigned address accepts uploads until it expires, even after its upload was finalized. What arrives that late is removed
-- once; an empty staging key marks that this was done.
create index file_upload on file (expires_at) where staging_key <> '';
create index file_pending on file (workspace_id, expires_at) where finalized_at is null;

-- Number and size of the finalized files of a workspace, kept so that no request sums them.
create table file_total (
  workspace_id text primary key,
  files integer not null check (files >= 0),
  bytes integer not null check (bytes >= 0)
) strict, without rowid;

-- Backups -------------------------------------------------------------------------------------------------------------

-- Restored from a backup and not released yet: these runs stand still, and these triggers start no runs.
create table restored_session (
  session_n integer primary key references session (n) on delete cascade,
  at integer not null
) strict;

create table restored_trigger (
  trigger_id text primary key references run_trigger (id) on delete cascade,
  at integer not null
) strict;

-- The restore that made this database from a backup; at most one row. Until `released_at`, ended and new sessions are held too.
create table restore (
  at integer primary key,
  backed_up_at integer not null,
  released_at integer,
  -- Until when calls ask a person that may have been made after the backup; null until the release.
  asks_until integer
) strict;
