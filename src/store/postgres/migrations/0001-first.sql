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
-- Free sessions are claimed in turn: one trigger after the other, and one agent after the other for sessions that operators
-- started. The index finds the next trigger or agent with free sessions, and its oldest session.
create index session_free on session ((coalesce(trigger_id, agent_id)), started_at, n)
  where busy and owner is null and restored_at is null;
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
-- A session goes on for thousands of runs: only those that may still change are read, each with its whole tree.
create index run_at_work on run (session_id) where finished_at is null or origin is not null;
create index run_of_parent on run (parent_run_id) where parent_run_id is not null;

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
create index user_task_pending_of_session on user_task (session_id) where status = 'pending';
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

-- People who are looking at a task, and until when that holds. It is a hint: it keeps nobody from deciding.
create table task_claim (
  task_id uuid not null,
  workspace_id text not null,
  operator text not null,
  at bigint not null,
  until bigint not null,
  primary key (task_id, operator)
);
create index task_claim_of_workspace on task_claim (workspace_id, at);

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
  -- Label.
  version text not null collate "C",
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
  primary key (workspace_id, day, agent_id, version, provider, model, currency, shard)
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
  allow_approvals boolean not null default false,
  allow_older_versions boolean not null default false,
  rate_per_minute bigint,
  rate_per_day bigint,
  max_concurrent_runs bigint,
  cron text,
  time_zone text,
  created_at bigint not null,
  ticked_at bigint,
  -- With which a schedule starts runs, and why its last tick started none: {at, code, message}.
  input text,
  refusal text,
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

-- The server processes that use the database. A killed one stays listed until the others have not seen it for a while.
create table worker (
  id text primary key,
  version text not null,
  started_at bigint not null,
  url text,
  -- Where the other processes reach it.
  peer_url text,
  draining boolean not null default false,
  asked boolean not null default false,
  seen_at bigint not null,
  -- Where it listens, so that tools and models of the others do not reach it.
  ports integer[] not null default '{}',
  addresses text[] not null default '{}'
) with (fillfactor = 50);

-- The restore that made this database from a backup; at most one row. Until `released_at`, ended and new sessions are held too.
create table restore (
  at bigint primary key,
  backed_up_at bigint not null,
  released_at bigint,
  -- Until when calls ask a person that may have been made after the backup; null until the release.
  asks_until bigint
);

-- A session that begins while the store is held is held with it, unless its trigger was released by name.
create function hold_new_session() returns trigger language plpgsql as $$
begin
  new.restored_at := (
    select greatest(r.at, new.started_at)
    from restore r
    where r.released_at is null
      and not exists (
        select 1 from run_trigger t
        where t.id = new.trigger_id and t.created_at <= r.at and t.restored_at is null
      )
  );
  if new.restored_at is not null then
    -- Nobody performs its effects, so nobody holds its lease.
    new.owner := null;
    new.epoch := 0;
    new.lease_until := null;
  end if;
  return new;
end $$;

create trigger hold_new_session before insert on session for each row
  when (new.restored_at is null) execute function hold_new_session();

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

-- Writes ------------------------------------------------------------------------------------------------------------------

-- What writes sessions: one call per batch, so one round trip and one wait for the disk for all saves that gathered meanwhile.
-- Each argument is a JSON list of rows of one table; contents inside are JSON text of their own and stay as they were written.
-- A save that is refused writes nothing and does not hinder the others of its batch; content that the database refuses fails the
-- whole batch, whose saves are then made one by one.
-- The two that are called keep the plans of their statements, since planning costs more than what they do: rows are found by their
-- keys, even while a table is so young that nothing is known of it. For that, what each batch calls is in PL/pgSQL.

-- What a batch adds to the sums that many sessions share: to the count of an agent's sessions in a status, or to the runs and tokens
-- of the workspace's day.
create type sum_change as (workspace_id text, agent_id text, status text, sessions bigint, runs bigint, tokens bigint);

-- Refuses where the version of the history is not the one that was seen; the row stays locked until the end of the transaction.
create function raise_history(of_workspace text, seen bigint) returns void language plpgsql as $$
begin
  update history_fence set version = version + 1 where workspace_id = of_workspace and version = seen;
  if found then return; end if;
  if seen = 0 then
    insert into history_fence (workspace_id, version) values (of_workspace, 1) on conflict do nothing;
    if found then return; end if;
  end if;
  raise exception 'history_moved_on' using errcode = 'SV001';
end $$;

create function apply_effects(of_workspace text, changes json) returns void language plpgsql as $$
declare
  change json;
  e effect;
  stored record;
begin
  for change in select value from json_array_elements(changes) loop
    if change -> 'take' is not null then
      e := json_populate_record(null::effect, change -> 'take');
      update effect set holds = false
      where workspace_id = of_workspace and key = e.key and holds
        and (id = e.replaces or (state = 'done' and expires_at is not null and expires_at <= e.at));
      insert into effect (
        id, workspace_id, key, shown, session_id, run_id, call_id, tool, tool_version, agent, agent_version, arguments_digest, at,
        not_after, expires_at, state, result, approved_by, replaces, holds
      ) values (
        e.id, of_workspace, e.key, e.shown, e.session_id, e.run_id, e.call_id, e.tool, e.tool_version, e.agent, e.agent_version,
        e.arguments_digest, e.at, e.not_after, e.expires_at, 'in_flight', null, e.approved_by, e.replaces, true
      ) on conflict do nothing;
      if not found then raise exception '%', e.shown using errcode = 'SV002'; end if;
    elsif change -> 'extend' is not null then
      e := json_populate_record(null::effect, change -> 'extend');
      update effect set state = 'in_flight', not_after = e.not_after where id = e.id;
    else
      e := json_populate_record(null::effect, change -> 'end');
      for stored in
        select id, key, holds from effect
        where run_id = e.run_id and call_id = e.call_id and state in ('in_flight', 'unknown')
      loop
        update effect set state = e.state, result = e.result, holds = stored.holds and e.state <> 'not_made'
        where id = stored.id;
        if stored.holds and e.state = 'not_made' then
          update effect set holds = true
          where id = (
            select id from effect
            where workspace_id = of_workspace and key = stored.key and state <> 'not_made' and released_at is null
            order by at desc, id desc
            limit 1
          );
        end if;
      end loop;
    end if;
  end loop;
end $$;

create function put_claims(claims json, now bigint) returns void language sql as $$
  -- More than one, so that expired claims never pile up.
  delete from idempotency
  where ctid = any (array(
    select ctid from idempotency where expires_at <= now order by expires_at limit 20 for update skip locked
  ));
  insert into idempotency (principal, route, key, body_digest, response, expires_at)
  select principal, route, key, body_digest, response, expires_at
  from json_populate_recordset(null::idempotency, claims)
  on conflict (principal, route, key) do update
  set body_digest = excluded.body_digest, response = excluded.response, expires_at = excluded.expires_at
$$;

-- @param locks names of what is counted or claimed: whoever counts the same waits here, in one order for all processes, so that
-- limits are exact and no two batches wait for each other
create function lock_all(locks text[]) returns void language plpgsql as $$
begin
  if cardinality(locks) = 0 then return; end if;
  perform pg_advisory_xact_lock(k)
  from (select distinct hashtextextended(current_schema() || ' ' || name, 0) as k from unnest(locks) as name order by 1 offset 0) x;
end $$;

-- Sets title, metadata, tags or legal hold. False for a session that is not there, or was erased.
create function label_session(
  of_session uuid, has_title boolean, new_title text, new_metadata text, has_metadata boolean, new_tags text[], new_hold boolean,
  tags_text text
) returns boolean language plpgsql as $$
declare
  s session;
begin
  select * into s from session where id = of_session and erased_at is null for update;
  if not found then return false; end if;
  if new_tags is not null then
    delete from session_tag where session_id = of_session;
    insert into session_tag (agent_id, tag, started_at, session_n, session_id)
    select s.agent_id, tag, s.started_at, s.n, s.id from unnest(new_tags) as tag
    on conflict do nothing;
  end if;
  update session
  set title = case when has_title then new_title else title end,
    metadata = case when has_metadata then new_metadata else metadata end,
    tags = case when new_tags is null then tags else tags_text end,
    legal_hold = coalesce(new_hold, legal_hold)
  where id = of_session;
  return true;
end $$;

-- The rows of accepted saves and starts, a statement per table.
create function write_rows(
  accepted uuid[], of_shard smallint, now bigint,
  results json, runs json, steps json, ends json, tasks json, votes json, calls json, events json, clears json, timers json
) returns void language plpgsql as $$
declare
  is_complete boolean;
  is_repeated boolean;
  missing uuid;
begin
  if runs is not null then
    insert into agent (id, workspace_id, name)
    select distinct on (r.agent_id) r.agent_id, r.workspace_id, r.agent_name
    from json_to_recordset(runs) as r(agent_id text, workspace_id text, agent_name text)
    where not exists (select 1 from agent a where a.id = r.agent_id)
    order by r.agent_id
    on conflict do nothing;

    with given as (
      select r.*, old.id is null as is_new, old.finished_at is not null as had_ended, coalesce(old.last_sequence, 0) as before
      from json_populate_recordset(null::run, runs) with ordinality as r
        left join run old on old.id = r.id
      where r.session_id = any (accepted)
    ),
    added as (
      insert into run (
        id, session_id, workspace_id, agent_id, tail, agent_name, version_id, version_label, llm_model, parent_run_id,
        parent_call_id, depth, input, state, status, usage, last_sequence, output, error, error_code, starter,
        starter_trigger_id, origin, origin_run_id, started_at, finished_at
      )
      select id, session_id, workspace_id, agent_id, tail, agent_name, version_id, version_label, llm_model, parent_run_id,
        parent_call_id, depth, input, state, status, usage, last_sequence, output, error, error_code, starter,
        starter_trigger_id, origin, origin_run_id, started_at, finished_at
      from given where is_new order by ordinality
      returning workspace_id, agent_id
    ),
    changed as (
      update run
      set state = g.state, usage = g.usage, llm_model = g.llm_model, last_sequence = g.last_sequence, output = g.output,
        error = g.error, error_code = g.error_code, status = g.status, finished_at = g.finished_at,
        version_id = g.version_id, version_label = g.version_label
      from given g
      where run.id = g.id and run.session_id = g.session_id and not g.is_new
      returning run.id
    ),
    -- The words of an input are stored once, and those of an output when it is there.
    worded as (
      insert into run_words (session_id, run_id, is_output, words)
      select g.session_id, g.id, false, words_of(case when g.parent_run_id is null then s.input else g.input end)
      from given g join session s on s.id = g.session_id
      where g.is_new
      union all
      select session_id, id, true, words_of(concat_ws(' ', left(output, 20000), error, error_code))
      from given
      where finished_at is not null
    ),
    unworded as (
      delete from run_words t
      using given g
      where g.had_ended and t.session_id = g.session_id and t.run_id = g.id and t.is_output
    ),
    counted as (
      insert into agent_count (workspace_id, agent_id, what, shard, counted)
      select workspace_id, agent_id, 'runs', of_shard, count(*)
      from added group by workspace_id, agent_id order by agent_id
      on conflict (agent_id, what, shard) do update set counted = agent_count.counted + excluded.counted
    )
    select (select count(*) from added) + (select count(*) from changed) = (select count(*) from given),
      exists (
        select 1
        from given g join json_to_recordset(steps) as x(run_id uuid, sequence bigint) on x.run_id = g.id
        group by g.id, g.before
        having min(x.sequence) <= g.before or count(*) <> count(distinct x.sequence)
      )
    into is_complete, is_repeated;
    if not is_complete then raise exception 'A run belongs to another session.' using errcode = 'SV003'; end if;
    if is_repeated then
      raise exception 'The number of a step must be unique in its run.' using errcode = 'unique_violation';
    end if;
  end if;

  -- One query for all rows that name a run, instead of a foreign key that would check each of them.
  select named.run_id into missing
  from (
    select session_id, run_id from json_to_recordset(steps) as x(session_id uuid, run_id uuid)
    union select session_id, run_id from json_to_recordset(tasks) as x(session_id uuid, run_id uuid)
    union select session_id, run_id from json_to_recordset(calls) as x(session_id uuid, run_id uuid)
    union select session_id, run_id from json_to_recordset(events) as x(session_id uuid, run_id uuid)
    union select session_id, run_id from json_to_recordset(timers) as x(session_id uuid, run_id uuid)
  ) named
  where named.session_id = any (accepted)
    and (select r.id from run r where r.id = named.run_id) is null
  limit 1;
  if missing is not null then raise exception 'Run % is not in the store.', missing using errcode = 'SV003'; end if;

  if results is not null then
    insert into large_result (digest, result)
    select digest, result from json_populate_recordset(null::large_result, results)
    order by digest
    on conflict do nothing;
  end if;
  if steps is not null then
    insert into step (
      session_id, ordinal, run_id, sequence, id, type, content, result_digest, hidden, tokens_used, error, started_at, finished_at
    )
    select session_id, ordinal, run_id, sequence, id, type, content, result_digest, hidden, tokens_used, error, started_at,
      finished_at
    from json_populate_recordset(null::step, steps)
    where session_id = any (accepted);
  end if;
  if ends is not null then
    update step t
    set finished_at = e.finished_at, error = e.error
    from json_populate_recordset(null::step, ends) e
    where t.session_id = e.session_id and t.ordinal = e.ordinal and t.finished_at is null and e.session_id = any (accepted);
  end if;

  if tasks is not null then
    -- Changed tasks first: a call may have one pending task, so an ended task must be stored before the next one.
    update user_task t
    set kind = g.kind, status = g.status, call_id = g.call_id, expires_at = g.expires_at, body = g.body
    from json_populate_recordset(null::user_task, tasks) g
    where t.id = g.id and t.session_id = g.session_id and g.session_id = any (accepted);
    insert into user_task (
      id, tail, session_id, run_id, workspace_id, agent_id, scope_agent_id, scope_trigger_id, kind, status, call_id, expires_at,
      created_at, body
    )
    select g.id, g.tail, g.session_id, g.run_id, r.workspace_id, r.agent_id, s.agent_id, s.trigger_id, g.kind, g.status,
      g.call_id, g.expires_at, g.created_at, g.body
    from json_populate_recordset(null::user_task, tasks) with ordinality as g
      join session s on s.id = g.session_id
      join run r on r.id = g.run_id
    where g.session_id = any (accepted)
      and not exists (select 1 from user_task t where t.id = g.id and t.session_id = g.session_id)
    order by g.ordinality;
    update vote v
    set voided = true
    from json_populate_recordset(null::user_task, tasks) g
    where g.session_id = any (accepted) and v.task_id = g.id and not v.voided
      and not exists (
        select 1 from json_populate_recordset(null::vote, votes) w
        where w.task_id = v.task_id and w.approver = v.approver and w.approved = v.approved and w.at = v.at
          and w.comment is not distinct from v.comment
      );
  end if;
  if votes is not null then
    insert into vote (task_id, approver, approved, at, comment)
    select w.task_id, w.approver, w.approved, w.at, w.comment
    from json_populate_recordset(null::vote, votes) with ordinality as w
      join user_task t on t.id = w.task_id and t.session_id = any (accepted)
    where not exists (
      select 1 from vote v
      where v.task_id = w.task_id and not v.voided and v.approver = w.approver and v.approved = w.approved and v.at = w.at
        and v.comment is not distinct from w.comment
    )
    order by w.ordinality;
  end if;

  if calls is not null then
    with given as (
      select c.*, r.workspace_id as of_workspace, r.agent_id as of_agent
      from json_populate_recordset(null::call, calls) c
        -- The agent is the run's: a call names only the one that it calls.
        join run r on r.id = c.run_id
      where c.session_id = any (accepted)
    ),
    changed as (
      update call c
      set ref = g.ref, arguments_digest = g.arguments_digest, arguments = g.arguments, state = g.state, attempt = g.attempt,
        idempotency_key = g.idempotency_key, at = g.at
      from given g
      where c.session_id = g.session_id and c.run_id = g.run_id and c.call_id = g.call_id
      returning c.session_id, c.run_id, c.call_id
    )
    insert into call (
      session_id, run_id, call_id, workspace_id, agent_id, ref, arguments_digest, arguments, state, attempt, idempotency_key, at
    )
    select session_id, run_id, call_id, of_workspace, of_agent, ref, arguments_digest, arguments, state, attempt,
      idempotency_key, at
    from given g
    where not exists (
      select 1 from changed c where c.session_id = g.session_id and c.run_id = g.run_id and c.call_id = g.call_id
    );
  end if;
  if events is not null then
    insert into event (session_id, seq, run_id, ts, kind, subject, ordinal, data)
    select session_id, seq, run_id, ts, kind, subject, ordinal, data
    from json_populate_recordset(null::event, events)
    where session_id = any (accepted);
  end if;

  -- Cleared first, so that an update may replace a timer.
  if clears is not null then
    delete from timer t
    using json_populate_recordset(null::timer, clears) c
    where t.session_id = c.session_id and t.run_id = c.run_id and t.kind = c.kind and t.ref = c.ref
      and t.at = coalesce(c.at, t.at) and c.session_id = any (accepted);
  end if;
  if timers is not null then
    insert into timer (session_id, run_id, kind, ref, at)
    select session_id, run_id, kind, ref, at
    from json_populate_recordset(null::timer, timers)
    where session_id = any (accepted)
    on conflict (session_id, run_id, kind, ref) do update set at = excluded.at;
  end if;
end $$;

-- Adds to the shared sums, each row once and in one order, so that two batches never wait for each other's. It is called last:
-- these rows are the only ones of a batch that others want, too, and stay locked until its end.
-- @param spends lists of completions, each for the costs of the day
create function add_sums(changes sum_change[], spends json[], of_shard smallint, now bigint) returns void
language plpgsql as $$
begin
  insert into agent_count (workspace_id, agent_id, what, shard, counted)
  select workspace_id, agent_id, status, of_shard, sum(sessions)
  from unnest(changes)
  where status is not null
  group by workspace_id, agent_id, status
  having sum(sessions) <> 0
  order by agent_id, status
  on conflict (agent_id, what, shard) do update set counted = agent_count.counted + excluded.counted;

  insert into plan_day (workspace_id, day, shard, runs, tokens)
  select workspace_id, now / 86400000, of_shard, coalesce(sum(runs), 0), coalesce(sum(tokens), 0)
  from unnest(changes)
  where runs > 0 or tokens > 0
  group by workspace_id
  order by workspace_id
  on conflict (workspace_id, day, shard) do update
  set runs = plan_day.runs + excluded.runs, tokens = plan_day.tokens + excluded.tokens;

  if cardinality(spends) = 0 then return; end if;
  insert into cost_day (
    workspace_id, day, agent_id, version, provider, model, currency, shard, completions, unpriced, input_tokens,
    cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, amount
  )
  select c.workspace_id, now / 86400000, c.agent_id, c.version, c.provider, c.model, c.currency, of_shard,
    count(*), sum(c.unpriced), sum(c.input_tokens), sum(c.cached_input_tokens), sum(c.cache_write_tokens),
    sum(c.output_tokens), sum(c.reasoning_tokens), sum(c.amount)
  from unnest(spends) as list, json_to_recordset(list) as c(
    workspace_id text, agent_id text, version text, provider text, model text, currency text, unpriced bigint,
    input_tokens bigint, cached_input_tokens bigint, cache_write_tokens bigint, output_tokens bigint,
    reasoning_tokens bigint, amount numeric
  )
  group by c.workspace_id, c.agent_id, c.version, c.provider, c.model, c.currency
  order by c.workspace_id, c.agent_id, c.version, c.provider, c.model, c.currency
  on conflict (workspace_id, day, agent_id, version, provider, model, currency, shard) do update
  set completions = cost_day.completions + excluded.completions, unpriced = cost_day.unpriced + excluded.unpriced,
    input_tokens = cost_day.input_tokens + excluded.input_tokens,
    cached_input_tokens = cost_day.cached_input_tokens + excluded.cached_input_tokens,
    cache_write_tokens = cost_day.cache_write_tokens + excluded.cache_write_tokens,
    output_tokens = cost_day.output_tokens + excluded.output_tokens,
    reasoning_tokens = cost_day.reasoning_tokens + excluded.reasoning_tokens,
    amount = cost_day.amount + excluded.amount;
end $$;

-- What a workspace has used today, with what the batch is about to add.
create function tokens_today(of_workspace text, now bigint, changes sum_change[]) returns numeric language sql as $$
  select coalesce(sum(tokens), 0) from (
    select tokens from plan_day where workspace_id = of_workspace and day = now / 86400000
    union all
    select tokens from unnest(changes) where workspace_id = of_workspace
  ) used
$$;

create function runs_today(of_workspace text, now bigint, changes sum_change[]) returns numeric language sql as $$
  select coalesce(sum(runs), 0) from (
    select runs from plan_day where workspace_id = of_workspace and day = now / 86400000
    union all
    select runs from unnest(changes) where workspace_id = of_workspace
  ) used
$$;

create function cost_today(of_workspace text, of_currency text, now bigint, spends json[]) returns numeric language sql as $$
  select coalesce(sum(amount), 0) from (
    select amount from cost_day where workspace_id = of_workspace and day = now / 86400000 and currency = of_currency
    union all
    select c.amount
    from unnest(spends) as list, json_to_recordset(list) as c(workspace_id text, currency text, amount numeric)
    where c.workspace_id = of_workspace and c.currency = of_currency
  ) used
$$;

-- Frees what ended, then reserves what begins. A completion begins while the day's spending and what others have reserved are below
-- the cap, so that those in flight together exceed it by one completion at most. The caller holds the lock of the plan.
create function apply_plan(
  of_workspace text, of_session uuid, plan json, now bigint, changes sum_change[], spends json[]
) returns void language plpgsql as $$
declare
  of_plan record;
  wanted record;
  held record;
begin
  delete from plan_reservation where run_id in (select value::uuid from json_array_elements_text(plan -> 'frees'));
  select * into of_plan from json_to_record(plan) as p(max_tokens bigint, max_cost numeric, currency text);
  for wanted in
    select * from json_to_recordset(plan -> 'reserves') as w(run_id uuid, tokens bigint, amount numeric, currency text)
  loop
    select coalesce(sum(tokens), 0) as tokens, coalesce(sum(amount) filter (where currency = of_plan.currency), 0) as amount
    into held from plan_reservation where workspace_id = of_workspace and run_id <> wanted.run_id;
    if of_plan.max_tokens is not null then
      perform check_plan(
        'tokens_per_day', tokens_today(of_workspace, now, changes), held.tokens, of_plan.max_tokens, now
      );
    end if;
    if of_plan.max_cost is not null then
      perform check_plan(
        'cost_per_day', cost_today(of_workspace, of_plan.currency, now, spends), held.amount, of_plan.max_cost, now
      );
    end if;
    insert into plan_reservation (run_id, session_id, workspace_id, tokens, amount, currency)
    values (wanted.run_id, of_session, of_workspace, wanted.tokens, wanted.amount, wanted.currency)
    on conflict (run_id) do update
    set tokens = excluded.tokens, amount = excluded.amount, currency = excluded.currency;
  end loop;
end $$;

create function check_plan(of_limit text, spent numeric, held numeric, most numeric, now bigint) returns void
language plpgsql as $$
begin
  if spent >= most then
    raise exception '% %', of_limit, (86400000 - now % 86400000 + 999) / 1000 using errcode = 'SV004';
  end if;
  if held > 0 and spent + held >= most then raise exception '%', of_limit using errcode = 'SV005'; end if;
end $$;

-- Writes the columns of a save into the row of its session, which the caller has locked.
create function update_session(stored session, given session) returns sum_change[] language plpgsql as $$
begin
  update session
  set version_id = given.version_id, version_label = given.version_label, llm_model = given.llm_model,
    total_tokens_used = given.total_tokens_used, run_count = given.run_count, output = given.output,
    output_digest = given.output_digest, error = given.error, last_seq = given.last_seq, last_ordinal = given.last_ordinal,
    cost = given.cost, version = stored.version + 1, status = given.status, finished_at = given.finished_at, busy = given.busy,
    owner = given.owner, epoch = given.epoch, lease_until = given.lease_until, last_turn = given.last_turn
  where id = stored.id;
  return array[
    (stored.workspace_id, stored.agent_id, stored.status, -1, 0, 0),
    (stored.workspace_id, stored.agent_id, given.status, 1, 0, given.total_tokens_used - stored.total_tokens_used)
  ]::sum_change[];
end $$;

-- @param asks each session, who saves it, the number of the event before the first one, and what else the save does
create function save_sessions(
  at_moment bigint, of_shard smallint, locks text[], asks json,
  results json, runs json, steps json, ends json, tasks json, votes json, calls json, events json, clears json, timers json
) returns table (i integer, outcome text, lease_epoch bigint, detail text)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  now bigint := svc_now(at_moment);
  accepted uuid[] := '{}';
  u record;
  s session;
  g session;
  is_held boolean;
  changes sum_change[] := '{}';
  spends json[] := '{}';
  own sum_change[];
begin
  perform lock_all(locks);
  -- In the order of their ids, so that two batches never wait for each other.
  for u in
    select a.*
    from json_to_recordset(asks) as a(
      i integer, id uuid, session json, worker text, ttl_ms bigint, held_epoch bigint, after_seq bigint, history_seen bigint,
      effects json, claims json, spends json, plan json
    )
    order by a.id
  loop
    i := u.i; lease_epoch := null; detail := null; g := json_populate_record(null::session, u.session);
    select * into s from session where session.id = u.id for update;
    if not found then outcome := 'not_found'; return next; continue; end if;
    if s.version <> g.version then outcome := 'run_moved_on'; return next; continue; end if;

    is_held := s.owner is not null and s.lease_until > now;
    g.owner := s.owner; g.epoch := s.epoch; g.lease_until := s.lease_until;
    if u.worker is not null then
      if (case when u.held_epoch is null then is_held and s.owner <> u.worker
        else not is_held or s.owner <> u.worker or s.epoch <> u.held_epoch end)
      then outcome := 'lease_lost'; return next; continue; end if;
      if u.held_epoch is null then
        g.owner := u.worker; g.epoch := s.epoch + 1; g.lease_until := now + u.ttl_ms;
      end if;
    end if;
    if not g.busy then
      g.owner := null; g.epoch := s.epoch; g.lease_until := null;
    end if;

    if s.last_seq <> u.after_seq then outcome := 'gap'; detail := s.last_seq; return next; continue; end if;
    if u.history_seen is null and u.effects is null and u.plan is null then
      own := update_session(s, g);
    else
      begin
        if u.history_seen is not null then perform raise_history(s.workspace_id, u.history_seen); end if;
        if u.effects is not null then perform apply_effects(s.workspace_id, u.effects); end if;
        own := update_session(s, g);
        -- What this save has spent is counted before.
        if u.plan is not null then
          perform apply_plan(s.workspace_id, s.id, u.plan, now, changes || own, spends || u.spends);
        end if;
      exception
        when sqlstate 'SV001' then outcome := 'history_moved_on'; return next; continue;
        when sqlstate 'SV002' then outcome := 'effect_taken'; detail := sqlerrm; return next; continue;
        when sqlstate 'SV004' then outcome := 'plan_spent'; detail := sqlerrm; return next; continue;
        when sqlstate 'SV005' then outcome := 'plan_reserved'; detail := sqlerrm; return next; continue;
      end;
    end if;
    changes := changes || own;
    if u.spends is not null then spends := spends || u.spends; end if;
    if u.claims is not null then perform put_claims(u.claims, now); end if;
    accepted := accepted || s.id;
    outcome := 'saved';
    if g.busy and g.owner is null then detail := 'free'; end if;
    if u.worker is not null and g.owner = u.worker then lease_epoch := g.epoch; end if;
    return next;
  end loop;
  if cardinality(accepted) > 0 then
    perform write_rows(
      accepted, of_shard, now, results, runs, steps, ends, tasks, votes, calls, events, clears, timers
    );
    perform add_sums(changes, spends, of_shard, now);
  end if;
end $$;

-- The wait in seconds until the bucket of a trigger lets a start through, 0 where it does now; and when it is full after that.
create function read_bucket(
  of_trigger text, of_span text, span_ms bigint, rate bigint, now bigint, out wait_seconds bigint, out next_full_at bigint
) language plpgsql as $$
declare
  -- In microseconds, rounded down so that an unused bucket is full again after its span.
  step_us bigint;
  full_us bigint;
  lacking bigint;
begin
  if rate is null then wait_seconds := 0; return; end if;
  if rate < 1 then wait_seconds := span_ms / 1000; return; end if;
  step_us := span_ms * 1000 / rate;
  select greatest(now * 1000, coalesce(max(full_at), 0)) into full_us
  from rate_bucket where trigger_id = of_trigger and span = of_span;
  lacking := full_us - now * 1000 - (rate - 1) * step_us;
  wait_seconds := case when lacking > 0 then greatest(1, (lacking + 999999) / 1000000) else 0 end;
  next_full_at := full_us + step_us;
end $$;

create function fill_bucket(of_trigger text, of_span text, next_full_at bigint) returns void language plpgsql as $$
begin
  if next_full_at is null then return; end if;
  insert into rate_bucket (trigger_id, span, full_at)
  values (of_trigger, of_span, next_full_at)
  on conflict (trigger_id, span) do update set full_at = excluded.full_at;
end $$;

create function start_sessions(
  at_moment bigint, of_shard smallint, locks text[], asks json,
  results json, runs json, steps json, ends json, tasks json, votes json, calls json, events json, clears json, timers json
) returns table (i integer, outcome text, about text, amount bigint)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  now bigint := svc_now(at_moment);
  accepted uuid[] := '{}';
  u record;
  s session;
  g session;
  claimed record;
  of_minute record;
  of_day record;
  existing uuid[];
  changes sum_change[] := '{}';
begin
  perform lock_all(locks);
  -- Sessions that are there are locked as saves do it, in the order of their ids.
  existing := array(
    select unnest(array[a.id, a.follows])
    from json_to_recordset(asks) as a(id uuid, after_seq bigint, follows uuid)
    where a.after_seq <> 0 or a.follows is not null
  );
  if cardinality(existing) > 0 then perform 1 from session where id = any (existing) order by id for update; end if;

  for u in
    select a.*
    from json_to_recordset(asks) as a(
      i integer, id uuid, session json, worker text, ttl_ms bigint, after_seq bigint, claim json, tags json, labels json,
      trigger_id text, per_minute bigint, per_day bigint, max_open bigint, plan_runs bigint, plan_tokens bigint, plan_cost numeric,
      plan_currency text, plan json, follows uuid, follows_version bigint
    )
    order by a.i
  loop
    i := u.i; about := null; amount := null; g := json_populate_record(null::session, u.session); s := null;
    if u.claim is not null then
      select c.body_digest as given_digest, e.body_digest, e.response into claimed
      from json_populate_record(null::idempotency, u.claim) c
        join idempotency e on e.principal = c.principal and e.route = c.route and e.key = c.key and e.expires_at > now;
      if found then
        if claimed.body_digest = claimed.given_digest then outcome := 'replayed'; about := claimed.response;
        else outcome := 'key_reused'; end if;
        return next; continue;
      end if;
    end if;
    if g.version > 0 then
      select * into s from session where session.id = u.id for update;
      if not found then outcome := 'not_found'; return next; continue; end if;
      if s.version <> g.version then outcome := 'run_moved_on'; return next; continue; end if;
    end if;
    -- Locked from here on, so that no save of that session comes between.
    if u.follows is not null then
      perform 1 from session where session.id = u.follows and session.version = u.follows_version for update;
      if not found then outcome := 'run_moved_on'; return next; continue; end if;
    end if;
    if coalesce(s.last_seq, 0) <> u.after_seq then
      outcome := 'gap'; about := coalesce(s.last_seq, 0); return next; continue;
    end if;

    if u.plan_runs is not null and u.plan_runs <= runs_today(g.workspace_id, now, changes) then
      outcome := 'plan_runs'; return next; continue;
    end if;
    if u.plan_tokens is not null and u.plan_tokens <= tokens_today(g.workspace_id, now, changes) then
      outcome := 'plan_tokens'; return next; continue;
    end if;
    if u.plan_cost is not null and u.plan_cost <= cost_today(g.workspace_id, u.plan_currency, now, '{}') then
      outcome := 'plan_cost'; return next; continue;
    end if;
    if u.trigger_id is not null then
      select * into of_minute from read_bucket(u.trigger_id, 'minute', 60000, u.per_minute, now);
      select * into of_day from read_bucket(u.trigger_id, 'day', 86400000, u.per_day, now);
      -- Both buckets must admit the start, so the longer wait counts.
      if greatest(of_minute.wait_seconds, of_day.wait_seconds) > 0 then
        outcome := case when coalesce(of_day.wait_seconds, 0) > coalesce(of_minute.wait_seconds, 0) then 'per_day'
          else 'per_minute' end;
        amount := greatest(of_minute.wait_seconds, of_day.wait_seconds);
        return next; continue;
      end if;
      -- Stops counting at the limit, because a trigger may have any number of waiting runs.
      if u.max_open is not null and u.max_open <= (
        select count(*) from (
          select 1 from session o where o.trigger_id = u.trigger_id and o.finished_at is null
          union all
          select 1 from run r join session o on o.id = r.session_id
          where r.starter_trigger_id = u.trigger_id and r.finished_at is null and o.trigger_id is distinct from u.trigger_id
          limit u.max_open
        ) counted
      ) then outcome := 'max_open'; return next; continue; end if;
    end if;
    if u.plan is not null then
      begin
        perform apply_plan(g.workspace_id, u.id, u.plan, now, changes, '{}');
      exception
        when sqlstate 'SV004' then outcome := 'plan_spent'; about := sqlerrm; return next; continue;
        when sqlstate 'SV005' then outcome := 'plan_reserved'; about := sqlerrm; return next; continue;
      end;
    end if;
    if u.trigger_id is not null then
      perform fill_bucket(u.trigger_id, 'minute', of_minute.next_full_at);
      perform fill_bucket(u.trigger_id, 'day', of_day.next_full_at);
    end if;
    changes := changes || (g.workspace_id, null, null, 0, 1, 0)::sum_change;
    if u.claim is not null then perform put_claims(json_build_array(u.claim), now); end if;
    if u.follows is not null then update session set version = version + 1 where session.id = u.follows; end if;

    if s.id is not null then
      -- The input stands with the session while its root run is the newest one.
      update run set input = s.input where run.id = s.root_run_id;
      update session
      set entry_run_id = coalesce(entry_run_id, root_run_id), root_run_id = g.root_run_id, version_id = g.version_id,
        version_label = g.version_label, input = g.input, input_digest = g.input_digest, start_context = g.start_context
      where session.id = s.id;
      if u.labels is not null then
        perform label_session(s.id, l.has_title, l.title, l.metadata, l.has_metadata, l.tags, l.legal_hold, l.tags_text)
        from json_to_record(u.labels) as l(
          has_title boolean, title text, metadata text, has_metadata boolean, tags text[], legal_hold boolean, tags_text text
        );
      end if;
      g.owner := case when g.busy then s.owner end;
      g.epoch := s.epoch;
      g.lease_until := case when g.busy then s.lease_until end;
      changes := changes || update_session(s, g);
    else
      if u.worker is not null and g.busy then
        g.owner := u.worker; g.epoch := 1; g.lease_until := now + u.ttl_ms;
      end if;
      insert into agent (id, workspace_id, name) values (g.agent_id, g.workspace_id, g.agent_name) on conflict do nothing;
      insert into session (
        id, workspace_id, agent_id, agent_name, version_id, version_label, llm_model, trigger_type, triggered_by, person,
        trigger_id, trigger_name, root_run_id, status, total_tokens_used, run_count, input, input_digest, start_context, output,
        output_digest, error, metadata, tags, cost, started_at, finished_at, version, last_seq, last_ordinal, last_turn, busy,
        owner, epoch, lease_until
      ) values (
        g.id, g.workspace_id, g.agent_id, g.agent_name, g.version_id, g.version_label, g.llm_model, g.trigger_type,
        g.triggered_by, g.person, g.trigger_id, g.trigger_name, g.root_run_id, g.status, g.total_tokens_used, g.run_count,
        g.input, g.input_digest, g.start_context, g.output, g.output_digest, g.error, g.metadata, g.tags, g.cost, g.started_at,
        g.finished_at, 1, g.last_seq, g.last_ordinal, g.last_turn, g.busy, g.owner, coalesce(g.epoch, 0), g.lease_until
      ) returning * into s;
      changes := changes || (s.workspace_id, s.agent_id, s.status, 1, 0, 0)::sum_change;
      if u.tags is not null then
        insert into session_tag (agent_id, tag, started_at, session_n, session_id)
        select s.agent_id, tag, s.started_at, s.n, s.id from json_array_elements_text(u.tags) as tag
        on conflict do nothing;
      end if;
    end if;
    accepted := accepted || g.id;
    outcome := 'started';
    return next;
  end loop;
  if cardinality(accepted) > 0 then
    perform write_rows(
      accepted, of_shard, now, results, runs, steps, ends, tasks, votes, calls, events, clears, timers
    );
    perform add_sums(changes, '{}', of_shard, now);
  end if;
end $$;
