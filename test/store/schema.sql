CREATE TABLE agent (
  n integer primary key,
  id text not null,
  workspace_id text not null,
  name text not null,
  deployed_version_id text references version (id),
  previous_version_id text references version (id),
  -- Kept counts: the total of a list is one row, not a count over all of them.
  sessions integer not null default 0 check (sessions >= 0),
  runs integer not null default 0 check (runs >= 0), deployed_until integer,
  unique (id, workspace_id)
) strict;

CREATE INDEX agent_of_workspace on agent (workspace_id);

CREATE TABLE version (
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

CREATE INDEX version_digest on version (digest);

CREATE TRIGGER version_is_final before update of id, agent_n, label, digest, closure_digest, snapshot on version
begin
  select raise(abort, 'a published version never changes');
end;

CREATE TABLE document (
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

CREATE TRIGGER document_is_final before update on document
begin
  select raise(abort, 'a published document never changes');
end;

CREATE TABLE deployment (
  n integer primary key,
  agent_n integer not null references agent (n),
  version_id text not null references version (id),
  from_version_id text references version (id),
  deployed_at integer not null,
  deployed_by text not null,
  -- The message that the deployer gave.
  message text
, expires_at integer) strict;

CREATE INDEX deployment_of_agent on deployment (agent_n, n);

CREATE TABLE yanked_document (
  workspace_id text not null,
  kind text not null,
  id text not null,
  version text not null,
  reason text,
  primary key (workspace_id, kind, id, version),
  foreign key (workspace_id, kind, id, version) references document (workspace_id, kind, id, version)
) strict, without rowid;

CREATE TABLE source_text (
  digest text primary key,
  text text not null
) strict;

CREATE TABLE source_file (
  workspace_id text not null,
  closure_digest text not null,
  path text not null,
  digest text not null references source_text (digest),
  primary key (workspace_id, closure_digest, path)
) strict, without rowid;

CREATE TABLE source_member (
  workspace_id text not null,
  kind text not null check (kind in ('Agent', 'Tool', 'Policy')),
  id text not null,
  version text not null,
  closure_digest text not null,
  primary key (workspace_id, kind, id, version)
) strict, without rowid;

CREATE TABLE session (
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

CREATE INDEX session_of_agent on session (agent_n, started_at);

CREATE INDEX session_started on session (started_at);

CREATE INDEX session_of_status on session (agent_n, status, started_at);

CREATE INDEX session_open on session (trigger_id) where finished_at is null;

CREATE INDEX session_free on session (ifnull(trigger_id, 'agent ' || agent_n), started_at) where busy = 1 and owner is null;

CREATE INDEX session_held on session (started_at) where owner is not null;

CREATE TABLE session_count (
  agent_n integer not null references agent (n),
  status text not null,
  sessions integer not null check (sessions >= 0),
  primary key (agent_n, status)
) strict, without rowid;

CREATE TRIGGER session_counted after insert on session
begin
  insert into session_count (agent_n, status, sessions) values (new.agent_n, new.status, 1)
  on conflict (agent_n, status) do update set sessions = sessions + 1;
end;

CREATE TRIGGER session_counted_by_status after update of status on session when new.status <> old.status
begin
  update session_count set sessions = sessions - 1 where agent_n = old.agent_n and status = old.status;
  insert into session_count (agent_n, status, sessions) values (new.agent_n, new.status, 1)
  on conflict (agent_n, status) do update set sessions = sessions + 1;
end;

CREATE TRIGGER session_uncounted after delete on session
begin
  update session_count set sessions = sessions - 1 where agent_n = old.agent_n and status = old.status;
end;

CREATE TABLE session_tag (
  agent_n integer not null references agent (n),
  tag text not null,
  started_at integer not null,
  session_n integer not null references session (n),
  primary key (agent_n, tag, started_at, session_n)
) strict, without rowid;

CREATE TABLE run (
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

CREATE INDEX run_of_session on run (session_n);

CREATE INDEX run_of_agent on run (agent_n, started_at);

CREATE INDEX run_started on run (started_at);

CREATE INDEX run_tail on run (tail);

CREATE INDEX run_open on run (started_at) where finished_at is null;

CREATE INDEX run_of_origin on run (json_extract(origin, '$.runId')) where origin is not null;

CREATE INDEX run_open_of_starter on run (json_extract(starter, '$.triggerId')) where starter is not null and finished_at is null;

CREATE INDEX run_at_work on run (session_n) where finished_at is null or origin is not null;

CREATE INDEX run_of_parent on run (parent_run_id) where parent_run_id is not null;

CREATE VIEW run_text (n, session_n, input, output) as
select r.n, r.session_n,
  replace(replace(substr(case when r.id = s.root_run_id then s.input else r.input end, 1, 20000), '\n', ' '), '\t', ' '),
  case when r.finished_at is null then '' else
    replace(replace(substr(coalesce(r.output, ''), 1, 20000), '\n', ' '), '\t', ' ') || ' ' || coalesce(r.error, '') || ' '
      || coalesce(r.error_code, '') end
from run r join session s on s.n = r.session_n
where s.erased_at is null;

CREATE VIRTUAL TABLE run_input using fts5 (input, content = 'run_text', content_rowid = 'n', columnsize = 0);

CREATE TABLE 'run_input_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'run_input_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE 'run_input_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE VIRTUAL TABLE run_output using fts5 (output, content = 'run_text', content_rowid = 'n', columnsize = 0);

CREATE TABLE 'run_output_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'run_output_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE 'run_output_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE large_result (
  digest text primary key,
  result text not null check (json_valid(result))
) strict;

CREATE TABLE step (
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

CREATE INDEX step_with_large_result on step (result_digest) where result_digest is not null;

CREATE TRIGGER step_only_ends
before update of session_n, ordinal, run_n, sequence, id, type, content, hidden, tokens_used, started_at, result_digest on step
when not (new.content = 'null' and new.hidden is null and new.result_digest is null
  and new.session_n = old.session_n and new.ordinal = old.ordinal and new.run_n = old.run_n
  and new.sequence = old.sequence and new.id = old.id and new.type = old.type
  and new.tokens_used is old.tokens_used and new.started_at = old.started_at
  and (select erased_at from session where n = old.session_n) is not null)
begin
  select raise(abort, 'of a step only its end is written later');
end;

CREATE TRIGGER large_result_goes after delete on step when old.result_digest is not null
begin
  delete from large_result
  where digest = old.result_digest
    and not exists (select 1 from step where result_digest = old.result_digest);
end;

CREATE TRIGGER large_result_erased after update of result_digest on step
when old.result_digest is not null and new.result_digest is null
begin
  delete from large_result
  where digest = old.result_digest
    and not exists (select 1 from step where result_digest = old.result_digest);
end;

CREATE TABLE event (
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

CREATE TRIGGER event_is_final before update on event
when not (new.session_n = old.session_n and new.seq = old.seq and new.run_n = old.run_n and new.ts = old.ts
  and new.kind = old.kind and new.subject = old.subject and new.ordinal is old.ordinal
  and (select erased_at from session where n = old.session_n) is not null)
begin
  select raise(abort, 'an event never changes');
end;

CREATE TABLE call (
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

CREATE INDEX call_of_agent on call (agent_n, at);

CREATE INDEX call_of_tool on call (substr(ref, 1, instr(ref || '@', '@') - 1), at);

CREATE TABLE kept_call (
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

CREATE INDEX kept_call_at on kept_call (at);

CREATE TABLE user_task (
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

CREATE INDEX user_task_of_session on user_task (session_n);

CREATE INDEX user_task_tail on user_task (tail);

CREATE INDEX user_task_pending on user_task (expires_at, created_at) where status = 'pending';

CREATE INDEX user_task_pending_of_session on user_task (session_n) where status = 'pending';

CREATE INDEX user_task_of_scope on user_task (scope_agent_n, scope_trigger_id, status);

CREATE UNIQUE INDEX user_task_of_call on user_task (run_n, call_id) where status = 'pending' and call_id is not null;

CREATE TABLE vote (
  n integer primary key,
  task_n integer not null references user_task (n),
  approver text not null,
  approved integer not null check (approved in (0, 1)),
  at integer not null,
  comment text,
  -- An edit of the arguments voids the votes given before it; they are kept for the audit.
  voided integer not null default 0 check (voided in (0, 1))
) strict;

CREATE INDEX vote_of_task on vote (task_n);

CREATE INDEX vote_of_approver on vote (approver, at);

CREATE UNIQUE INDEX vote_counts_once on vote (task_n, approver) where voided = 0;

CREATE TABLE task_claim (
  task_id text not null,
  workspace_id text not null,
  operator text not null,
  at integer not null,
  until integer not null,
  primary key (task_id, operator)
) strict, without rowid;

CREATE INDEX task_claim_of_workspace on task_claim (workspace_id, at);

CREATE TABLE timer (
  session_n integer not null references session (n),
  run_n integer not null references run (n),
  kind text not null,
  ref text not null,
  at integer not null,
  primary key (session_n, run_n, kind, ref)
) strict, without rowid;

CREATE INDEX timer_at on timer (at);

CREATE TABLE effect (
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

CREATE UNIQUE INDEX effect_held on effect (workspace_id, key) where holds = 1;

CREATE INDEX effect_of_key on effect (workspace_id, key, at);

CREATE INDEX effect_at on effect (workspace_id, at);

CREATE INDEX effect_of_call on effect (run_id, call_id) where state in ('in_flight', 'unknown');

CREATE INDEX effect_of_session on effect (session_id, at);

CREATE TABLE history_fence (
  workspace_id text primary key,
  version integer not null
) strict, without rowid;

CREATE TABLE standing_act (
  n integer primary key,
  workspace_id text not null,
  name text not null,
  revoked integer not null check (revoked in (0, 1)),
  at integer not null,
  by text not null,
  reason text not null
) strict;

CREATE INDEX standing_act_of_name on standing_act (workspace_id, name, n);

CREATE TABLE pause_act (
  n integer primary key,
  workspace_id text not null,
  kind text not null check (kind in ('all', 'agent', 'version', 'tool', 'provider')),
  name text not null,
  paused integer not null check (paused in (0, 1)),
  at integer not null,
  by text not null,
  reason text
) strict;

CREATE INDEX pause_act_of_target on pause_act (workspace_id, kind, name, n);

CREATE TABLE idempotency (
  principal text not null,
  route text not null,
  key text not null,
  body_digest text not null,
  response text not null check (json_valid(response)),
  expires_at integer not null,
  primary key (principal, route, key)
) strict, without rowid;

CREATE INDEX idempotency_expiry on idempotency (expires_at);

CREATE TABLE rate_bucket (
  trigger_id text not null,
  span text not null check (span in ('minute', 'day')),
  -- Microseconds since the epoch at which the bucket is full again if nothing more is taken. Whole numbers, so that a limit
  -- that does not divide its span is still exact.
  full_at integer not null,
  primary key (trigger_id, span)
) strict, without rowid;

CREATE TABLE plan_day (
  workspace_id text not null,
  -- Days since the epoch, UTC.
  day integer not null,
  runs integer not null default 0,
  tokens integer not null default 0,
  primary key (workspace_id, day)
) strict, without rowid;

CREATE TABLE plan_reservation (
  run_n integer primary key references run (n) on delete cascade,
  workspace_id text not null,
  tokens integer not null,
  -- Exact decimal text; null where the completion costs nothing in the currency of the cap.
  amount text,
  currency text,
  check ((amount is null) = (currency is null))
) strict;

CREATE INDEX plan_reservation_workspace on plan_reservation (workspace_id);

CREATE TABLE cost_day (
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

CREATE TABLE run_trigger (
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

CREATE INDEX run_trigger_of_workspace on run_trigger (workspace_id, agent_id);

CREATE TABLE api_key (
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

CREATE INDEX api_key_of_workspace on api_key (workspace_id);

CREATE TABLE operator_key (
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

CREATE INDEX operator_key_of_workspace on operator_key (workspace_id);

CREATE TABLE console_session (
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
, purpose text not null default 'console', provider text, sign_in text, expires_at integer) strict;

CREATE INDEX console_session_of_workspace on console_session (workspace_id);

CREATE TABLE file (
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

CREATE INDEX file_stored on file (workspace_id, finalized_at) where finalized_at is not null;

CREATE INDEX file_upload on file (expires_at) where staging_key <> '';

CREATE INDEX file_pending on file (workspace_id, expires_at) where finalized_at is null;

CREATE TABLE file_total (
  workspace_id text primary key,
  files integer not null check (files >= 0),
  bytes integer not null check (bytes >= 0)
) strict, without rowid;

CREATE TABLE restored_session (
  session_n integer primary key references session (n) on delete cascade,
  at integer not null
) strict;

CREATE TABLE restored_trigger (
  trigger_id text primary key references run_trigger (id) on delete cascade,
  at integer not null
) strict;

CREATE TABLE restore (
  at integer primary key,
  backed_up_at integer not null,
  released_at integer,
  -- Until when calls ask a person that may have been made after the backup; null until the release.
  asks_until integer
) strict;

CREATE TABLE notice (
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
, receipt text check (receipt is null or json_valid(receipt))) strict;

CREATE INDEX notice_due on notice (channel, due_at) where state = 'waiting';

CREATE INDEX notice_ended on notice (ended_at) where ended_at is not null;

CREATE INDEX notice_of_task on notice (task_id) where task_id is not null;

CREATE INDEX notice_dead on notice (workspace_id) where state = 'dead';

CREATE TABLE passkey (
  id text primary key,
  workspace_id text not null,
  operator text not null,
  name text not null,
  credential_id text not null unique,
  -- SubjectPublicKeyInfo, base64url.
  public_key text not null,
  algorithm integer not null,
  sign_count integer not null,
  is_device_bound integer not null check (is_device_bound in (0, 1)),
  is_backed_up integer not null check (is_backed_up in (0, 1)),
  created_at integer not null,
  last_used_at integer,
  removed_at integer
) strict;

CREATE INDEX passkey_of_workspace on passkey (workspace_id);

CREATE TABLE one_time_token (
  -- SHA-256 of the secret, hexadecimal.
  hash text primary key,
  workspace_id text not null,
  purpose text not null,
  operator text not null,
  subject text,
  created_at integer not null,
  expires_at integer not null,
  used_at integer
) strict;

CREATE INDEX one_time_token_expired on one_time_token (expires_at);

CREATE TABLE act (
  workspace_id text not null,
  seq integer not null check (seq > 0),
  at integer not null,
  kind text not null,
  by text not null,
  proof text not null,
  key_id text,
  channel text not null,
  subject text not null,
  session_id text,
  run_id text,
  refused text,
  counted integer not null check (counted > 0),
  -- Null once it is erased; the digest of content and salt stays.
  content text check (json_valid(content)),
  content_digest text not null,
  salt text,
  hash text not null, row_digests text check (row_digests is null or json_valid(row_digests)),
  primary key (workspace_id, seq)
) strict, without rowid;

CREATE INDEX act_of_session on act (session_id) where session_id is not null;

CREATE TABLE trace_mark (
  session_id text primary key,
  workspace_id text not null,
  -- Numbers of events: the spans up to `sent` are exported, those up to `ready` can be.
  sent integer not null,
  ready integer not null,
  -- When they are exported; while a process exports them, when another one may. Null where nothing is to be exported.
  due_at integer,
  since integer
) strict, without rowid;

CREATE INDEX trace_mark_due on trace_mark (due_at) where due_at is not null;

CREATE TABLE session_link (
  session_n integer not null references session (n),
  -- Of the session after the save.
  version integer not null check (version > 0),
  -- Number of the last event and the last step, and how many of them the save adds.
  seq integer not null,
  events integer not null,
  ordinal integer not null,
  steps integer not null,
  -- Of what an erasure removes. Without the salt nobody can try out what it was.
  content_digest text not null,
  salt text,
  hash text not null, row_digests text check (row_digests is null or json_valid(row_digests)),
  primary key (session_n, version)
) strict, without rowid;

CREATE UNIQUE INDEX console_session_of_sign_in on console_session (sign_in);

CREATE TABLE trust_document (
  workspace_id text not null,
  version integer not null,
  -- Of the document; the envelope has it with the signatures of the roots.
  digest text not null,
  envelope text not null,
  installed_at integer not null,
  installed_by text not null,
  primary key (workspace_id, version)
) strict;

CREATE TABLE attestation (
  workspace_id text not null,
  -- SHA-256 of the envelope.
  digest text not null,
  kind text not null,
  -- Digest of the closure that was published, or of the snapshot that was deployed.
  subject text not null,
  -- Of a deployment.
  agent text,
  revision integer,
  envelope text not null,
  -- Ids of the keys, as JSON.
  signers text not null,
  at integer not null,
  primary key (workspace_id, digest)
) strict;

CREATE INDEX attestation_of_subject on attestation (workspace_id, subject);

CREATE UNIQUE INDEX attestation_of_revision on attestation (workspace_id, agent, revision);

CREATE TRIGGER trust_document_is_final before update on trust_document
begin
  select raise(abort, 'an installed trust document never changes');
end;

CREATE TRIGGER attestation_is_final before update on attestation
begin
  select raise(abort, 'an attestation never changes');
end;

CREATE TRIGGER session_link_is_final before update on session_link
when not (new.session_n = old.session_n and new.version = old.version and new.seq = old.seq and new.events = old.events
  and new.ordinal = old.ordinal and new.steps = old.steps and new.content_digest = old.content_digest and new.salt is null
  and new.hash = old.hash and new.row_digests is old.row_digests and (select erased_at from session where n = old.session_n) is not null)
begin
  select raise(abort, 'a link never changes');
end;

CREATE TABLE evaluation (
  id text primary key,
  workspace_id text not null,
  at integer not null,
  by text not null,
  -- Which most cases started.
  agent text not null,
  -- As JSON.
  report text not null
) strict;

CREATE INDEX evaluation_of_workspace on evaluation (workspace_id, at);

CREATE TABLE checkpoint_report (
  workspace_id text primary key,
  at integer not null,
  by text not null,
  -- Lines that it signed.
  size integer not null
) strict;
