-- The tables have the names and meanings of those of SQLite; comments give the reason for each difference.
-- Ids of sessions, runs and steps are UUIDs, whose beginning is their time, so new rows stand together. Moments are milliseconds.
-- JSON is canonical text: jsonb would drop the order of members, repeated names and \u0000, and with them digests.

-- Leases, timers, rates and days follow the clock of the database, so that processes need not agree on the time. A test may set it.
create function svc_now(given bigint) returns bigint language sql volatile as
  $$ select coalesce(given, (extract(epoch from clock_timestamp()) * 1000)::bigint) $$;

create table agent (
  id text primary key,
  workspace_id text not null,
  name text collate "C" not null,
  deployed_version_id text,
  previous_version_id text
);
create index agent_of_workspace on agent (workspace_id, name);

-- Kept counts, in shards, so that processes that count at the same time do not wait for each other. `what` is a status or `runs`.
create table agent_count (
  workspace_id text not null,
  agent_id text not null,
  what text not null,
  shard smallint not null,
  counted bigint not null,
  primary key (agent_id, what, shard)
);
create index agent_count_of_workspace on agent_count (workspace_id, what);

create table version (
  n bigint generated always as identity,
  id text primary key,
  agent_id text not null references agent (id),
  label text not null,
  digest text not null,
  closure_digest text not null,
  snapshot text not null,
  published_at bigint not null,
  published_by text not null,
  -- In the words of who published.
  message text,
  yanked boolean not null default false,
  yank_reason text check (yank_reason is null or yanked),
  unique (agent_id, label)
);
create index version_digest on version (digest);
alter table agent
  add foreign key (deployed_version_id) references version (id),
  add foreign key (previous_version_id) references version (id);

create table document (
  n bigint generated always as identity,
  workspace_id text not null,
  kind text not null check (kind in ('Tool', 'Policy')),
  id text not null,
  version text not null,
  digest text not null,
  document text not null,
  published_at bigint not null,
  published_by text not null,
  primary key (workspace_id, kind, id, version)
);

create table yanked_document (
  workspace_id text not null,
  kind text not null,
  id text not null,
  version text not null,
  reason text,
  primary key (workspace_id, kind, id, version),
  foreign key (workspace_id, kind, id, version) references document (workspace_id, kind, id, version)
);

create table deployment (
  n bigint generated always as identity primary key,
  agent_id text not null references agent (id),
  version_id text not null references version (id),
  from_version_id text references version (id),
  deployed_at bigint not null,
  deployed_by text not null,
  -- In the words of who deployed.
  message text
);
create index deployment_of_agent on deployment (agent_id, n);

-- The documents of publications as they were written, each text once, as JSON.
create table source_text (
  digest text primary key,
  text text not null
);

-- Files of a publication. The closure digest does not cover comments and order: the first publication is kept.
create table source_file (
  workspace_id text not null,
  closure_digest text not null,
  path text collate "C" not null,
  digest text not null references source_text (digest),
  primary key (workspace_id, closure_digest, path)
);

-- The publication with which a version came.
create table source_member (
  workspace_id text not null,
  kind text not null check (kind in ('Agent', 'Tool', 'Policy')),
  id text not null,
  version text not null,
  closure_digest text not null,
  primary key (workspace_id, kind, id, version)
);

-- No foreign key to `agent`: agents are never deleted, and each start would lock the row of its agent.
-- Columns that saves change come last: PostgreSQL then logs only the end of a row that stays on its page.
create table session (
  id uuid primary key,
  -- Orders sessions that started at the same moment.
  n bigint generated always as identity,
  started_at bigint not null,
  workspace_id text not null,
  agent_id text not null,
  agent_name text not null,
  trigger_type text not null check (trigger_type in ('api', 'scheduled', 'operator')),
  triggered_by text,
  person text,
  trigger_id text,
  trigger_name text,
  entry_run_id uuid,
  root_run_id uuid not null,
  input text not null,
  input_digest text,
  start_context text not null,
  title text,
  metadata text,
  tags text,
  legal_hold boolean not null default false,
  erased_at bigint,
  -- Since when a restore holds the session.
  restored_at bigint,
  version_id text not null,
  version_label text not null,
  llm_model text,
  status text not null check (status in
    ('Running', 'WaitingForHITL', 'WaitingForAITL', 'WaitingForResponse', 'Completed', 'Failed', 'Cancelled')),
  busy boolean not null,
  finished_at bigint,
  owner text,
  epoch bigint not null default 0,
  lease_until bigint,
  run_count bigint not null check (run_count >= 0),
  output text,
  output_digest text,
  error text,
  total_tokens_used bigint not null check (total_tokens_used >= 0),
  cost text,
  last_seq bigint not null check (last_seq >= 0),
  last_ordinal bigint not null check (last_ordinal >= 0),
  -- Grows by one with every save: the fence between two writers.
  version bigint not null check (version > 0),
  -- Names the last save, so that a writer that lost its reply finds out whether it was stored.
  last_turn uuid,
  check ((finished_at is not null) = (status in ('Completed', 'Failed', 'Cancelled')))
) with (fillfactor = 80);
create index session_of_agent on session (agent_id, started_at, n);
create index session_started on session (workspace_id, started_at, n);
create index session_of_status on session (agent_id, status, started_at, n);
create index session_open on session (trigger_id) where finished_at is null;
create index session_ended on session (started_at) where finished_at is not null;
create index session_free on session (started_at, n) where busy and owner is null;
create index session_held on session (owner) where owner is not null;

create table session_tag (
  agent_id text not null,
  tag text not null,
  started_at bigint not null,
  session_n bigint not null,
  session_id uuid not null references session (id) on delete cascade,
  primary key (agent_id, tag, started_at, session_n)
);
create index session_tag_of_session on session_tag (session_id);

-- Rows of a session have no foreign key to it: the function that writes them holds a lock on the session's row and refuses a run
-- that does not exist.
create table run (
  id uuid primary key,
  n bigint generated always as identity,
  started_at bigint not null,
  session_id uuid not null,
  parent_run_id uuid,
  workspace_id text not null,
  agent_id text not null,
  tail text not null collate "C",
  agent_name text not null,
  parent_call_id text,
  depth integer not null check (depth >= 0),
  starter text,
  -- Of the starter: a run that continues a session counts for the trigger that started it.
  starter_trigger_id text,
  -- The run that the run repeats, from the start or from a step on.
  origin text,
  origin_run_id uuid,
  input text not null,
  version_id text not null,
  version_label text not null,
  llm_model text,
  status text not null check (status in
    ('Running', 'WaitingForHITL', 'WaitingForAITL', 'WaitingForResponse', 'Completed', 'Failed', 'Cancelled')),
  finished_at bigint,
  output text,
  error text,
  error_code text,
  usage text not null,
  state text not null,
  last_sequence bigint not null check (last_sequence >= 0),
  check ((finished_at is not null) = (status in ('Completed', 'Failed', 'Cancelled')))
) with (fillfactor = 80);
create index run_of_session on run (session_id, n);
create index run_of_agent on run (agent_id, started_at, n);
create index run_started on run (workspace_id, started_at, n);
create index run_tail on run (tail);
create index run_of_origin on run (origin_run_id) where origin_run_id is not null;
create index run_open_of_starter on run (starter_trigger_id) where starter_trigger_id is not null and finished_at is null;
create index run_open on run (workspace_id, started_at) where finished_at is null;

-- The searchable text of runs: a row for the input and, once the run has ended, one for output and error.
create table run_words (
  session_id uuid not null,
  run_id uuid not null,
  is_output boolean not null,
  words tsvector not null
);
create index run_words_of_session on run_words (session_id);
create index run_words_all on run_words using gin (words);

-- Words are letters and digits; everything else separates them. Only the beginning is searched, so that no run fills the index.
-- Escaped line ends and tabs of JSON texts become spaces, because they would be read as letters.
create function words_of(content text) returns tsvector language sql immutable as $$
  select to_tsvector('simple', regexp_replace(
    lower(replace(replace(left(content, 20000), '\n', ' '), '\t', ' ')), '[^[:alnum:]]+', ' ', 'g'
  ))
$$;

create table large_result (
  digest text primary key,
  result text not null
);

create table step (
  session_id uuid not null,
  ordinal bigint not null check (ordinal > 0),
  run_id uuid not null,
  sequence bigint not null check (sequence > 0),
  id uuid not null,
  type text not null,
  content text not null,
  result_digest text references large_result (digest),
  hidden text,
  tokens_used bigint check (tokens_used >= 0),
  error text,
  started_at bigint not null,
  finished_at bigint,
  -- That the number of a step is unique in its run is checked where steps are written: an index would double what a step costs.
  primary key (session_id, ordinal)
) with (fillfactor = 85);
create index step_with_large_result on step (result_digest) where result_digest is not null;

create table event (
  session_id uuid not null,
  seq bigint not null check (seq > 0),
  run_id uuid not null,
  ts bigint not null,
  kind text not null,
  subject text not null,
  ordinal bigint,
  data text not null,
  primary key (session_id, seq)
);

create table call (
  session_id uuid not null,
  run_id uuid not null,
  call_id text not null,
  workspace_id text not null,
  agent_id text not null,
  ref text not null,
  arguments_digest text not null,
  arguments text not null,
  state text not null,
  attempt integer not null,
  idempotency_key text not null,
  at bigint not null,
  primary key (session_id, run_id, call_id)
);
create index call_of_agent on call (agent_id, at);
create index call_of_tool on call (split_part(ref, '@', 1), at);

create table kept_call (
  n bigint generated always as identity primary key,
  agent_id text not null,
  session_id uuid not null,
  run_id uuid not null,
  call_id text not null,
  ref text not null,
  arguments_digest text not null,
  state text not null,
  attempt integer not null,
  idempotency_key text not null,
  at bigint not null,
  unique (run_id, call_id)
);
create index kept_call_at on kept_call (at);

create table user_task (
  id text primary key,
  n bigint generated always as identity,
  tail text not null collate "C",
  session_id uuid not null,
  run_id uuid not null,
  workspace_id text not null,
  agent_id text not null,
  scope_agent_id text not null,
  scope_trigger_id text,
  kind text not null,
  status text not null check (status in ('pending', 'completed', 'expired', 'cancelled')),
  call_id text,
  expires_at bigint,
  created_at bigint not null,
  -- The task as it is shown and answered, without its votes.
  body text not null
);
create index user_task_of_session on user_task (session_id, n);
create index user_task_tail on user_task (tail);
create index user_task_pending on user_task (workspace_id, expires_at, created_at) where status = 'pending';
create unique index user_task_of_call on user_task (run_id, call_id) where status = 'pending' and call_id is not null;
create index user_task_of_scope on user_task (scope_agent_id, scope_trigger_id, status, n);
create index user_task_of_workspace on user_task (workspace_id, status, n);

create table vote (
  n bigint generated always as identity primary key,
  task_id text not null references user_task (id),
  approver text not null,
  approved boolean not null,
  at bigint not null,
  comment text,
  -- An edit of the arguments voids the votes given before it; they are kept for the audit.
  voided boolean not null default false
);
create index vote_of_task on vote (task_id);
create index vote_of_approver on vote (approver, at);
create unique index vote_counts_once on vote (task_id, approver) where not voided;

create table timer (
  session_id uuid not null,
  run_id uuid not null,
  kind text not null,
  ref text not null,
  at bigint not null,
  primary key (session_id, run_id, kind, ref)
);
create index timer_at on timer (at);

create table idempotency (
  principal text not null,
  route text not null,
  key text not null,
  body_digest text not null,
  response text not null,
  expires_at bigint not null,
  primary key (principal, route, key)
);
create index idempotency_expiry on idempotency (expires_at);

create table rate_bucket (
  trigger_id text not null,
  span text not null check (span in ('minute', 'day')),
  -- Microseconds since the epoch at which the bucket is full again if nothing more is taken.
  full_at bigint not null,
  primary key (trigger_id, span)
);

create table plan_day (
  workspace_id text not null,
  -- Days since the epoch, UTC.
  day bigint not null,
  shard smallint not null,
  runs bigint not null default 0,
  tokens bigint not null default 0,
  primary key (workspace_id, day, shard)
);

-- What each completion in flight may use at most of the daily spend cap of the workspace. The row is deleted when the completion ends.
create table plan_reservation (
  run_id uuid primary key,
  session_id uuid not null,
  workspace_id text not null,
  tokens bigint not null,
  -- Null where the completion costs nothing in the currency of the cap.
  amount numeric,
  currency text,
  check ((amount is null) = (currency is null))
);
create index plan_reservation_workspace on plan_reservation (workspace_id);
create index plan_reservation_session on plan_reservation (session_id);

create table cost_day (
  workspace_id text not null,
  day bigint not null,
  agent_id text not null,
  provider text not null collate "C",
  model text not null collate "C",
  -- Empty for completions without a price.
  currency text not null collate "C",
  shard smallint not null,
  completions bigint not null,
  unpriced bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  amount numeric not null,
  primary key (workspace_id, day, agent_id, provider, model, currency, shard)
);

create table run_trigger (
  n bigint generated always as identity,
  id text primary key,
  workspace_id text not null,
  agent_id text not null,
  type text not null check (type in ('api', 'schedule')),
  name text not null,
  active boolean not null,
  expose_timeline boolean not null,
  allow_ips text not null,
  allow_delete boolean not null default false,
  rate_per_minute bigint,
  rate_per_day bigint,
  max_concurrent_runs bigint,
  cron text,
  time_zone text,
  created_at bigint not null,
  ticked_at bigint,
  -- Since when a restore holds the trigger.
  restored_at bigint
);
create index run_trigger_of_workspace on run_trigger (workspace_id, agent_id);

create table api_key (
  n bigint generated always as identity,
  id text primary key,
  workspace_id text not null,
  agent_id text not null,
  trigger_id text not null,
  name text,
  person text,
  prefix text not null,
  hash text not null unique,
  allow_uploads boolean not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);
create index api_key_of_workspace on api_key (workspace_id);

create table operator_key (
  n bigint generated always as identity,
  id text primary key,
  workspace_id text not null,
  email text not null,
  roles text not null,
  name text,
  prefix text not null,
  hash text not null unique,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);
create index operator_key_of_workspace on operator_key (workspace_id);

create table console_session (
  n bigint generated always as identity,
  id text primary key,
  workspace_id text not null,
  hash text not null unique,
  operator text not null,
  key_id text references operator_key (id),
  browser text not null,
  created_at bigint not null,
  last_used_at bigint not null,
  ended_at bigint
);
create index console_session_of_workspace on console_session (workspace_id);

create table file (
  n bigint generated always as identity,
  id text primary key,
  workspace_id text not null,
  object_key text not null,
  staging_key text not null,
  filename text not null,
  media_type text not null,
  max_bytes bigint not null check (max_bytes > 0),
  size_bytes bigint check (size_bytes >= 0),
  created_at bigint not null,
  expires_at bigint not null,
  finalized_at bigint,
  unique (workspace_id, object_key),
  unique (workspace_id, filename),
  check ((finalized_at is null) = (size_bytes is null))
);
create index file_stored on file (workspace_id, finalized_at) where finalized_at is not null;
create index file_upload on file (expires_at) where staging_key <> '';
create index file_pending on file (workspace_id, expires_at) where finalized_at is null;

create table file_total (
  workspace_id text primary key,
  files bigint not null check (files >= 0),
  bytes bigint not null check (bytes >= 0)
);

create table effect (
  id text collate "C" primary key,
  workspace_id text not null,
  key text not null,
  shown text not null,
  session_id uuid not null,
  run_id uuid not null,
  call_id text not null,
  tool text not null,
  tool_version text not null,
  agent text not null,
  agent_version text not null,
  arguments_digest text not null,
  at bigint not null,
  not_after bigint not null,
  -- Null for ever.
  expires_at bigint,
  state text not null check (state in ('in_flight', 'unknown', 'done', 'not_made')),
  result text,
  approved_by text not null,
  replaces text,
  released_at bigint,
  released_by text,
  release_reason text,
  -- True for the call that holds the key. An approved repetition takes it over from the call that it repeats.
  holds boolean not null
);
create unique index effect_held on effect (workspace_id, key) where holds;
create index effect_of_key on effect (workspace_id, key, at);
create index effect_at on effect (workspace_id, at);
create index effect_of_call on effect (run_id, call_id) where state in ('in_flight', 'unknown');
create index effect_of_session on effect (session_id);

create table history_fence (
  workspace_id text primary key,
  version bigint not null
);

create table standing_act (
  n bigint generated always as identity primary key,
  workspace_id text not null,
  name text not null collate "C",
  revoked boolean not null,
  at bigint not null,
  by text not null,
  reason text not null
);
create index standing_act_of_name on standing_act (workspace_id, name, n);

-- Pauses and resumptions by operators, in order. The last row of a kind and name is in force.
create table pause_act (
  n bigint generated always as identity primary key,
  workspace_id text not null,
  kind text not null check (kind in ('all', 'agent', 'version', 'tool', 'provider')),
  name text not null,
  paused boolean not null,
  at bigint not null,
  by text not null,
  reason text
);
create index pause_act_of_target on pause_act (workspace_id, kind, name, n);

create function refuse_change() returns trigger language plpgsql as
  $$ begin raise exception '%', tg_argv[0] using errcode = '23000'; end $$;

create trigger version_is_final before update of id, agent_id, label, digest, closure_digest, snapshot on version
  for each row execute function refuse_change('a published version never changes');
create trigger document_is_final before update on document
  for each row execute function refuse_change('a published document never changes');

-- Only an erasure may change recorded steps and events, and it removes their whole content.
create function refuse_change_unless_erased() returns trigger language plpgsql as $$
begin
  if exists (select 1 from session where id = old.session_id and erased_at is not null) then return new; end if;
  raise exception '%', tg_argv[0] using errcode = '23000';
end $$;
create trigger event_is_final before update on event
  for each row execute function refuse_change_unless_erased('an event never changes');
create trigger step_only_ends
  before update of session_id, ordinal, run_id, sequence, id, type, content, hidden, tokens_used, started_at, result_digest on step
  for each row execute function refuse_change_unless_erased('of a step only its end is written later');
