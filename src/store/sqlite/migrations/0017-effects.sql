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
