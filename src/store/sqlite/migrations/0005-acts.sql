-- What operators did: a chain of records for each workspace. Each row is written by the transaction of its act, and stays.
create table act (
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
  hash text not null,
  primary key (workspace_id, seq)
) strict, without rowid;

create index act_of_session on act (session_id) where session_id is not null;
