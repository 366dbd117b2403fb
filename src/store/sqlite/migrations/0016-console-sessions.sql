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
