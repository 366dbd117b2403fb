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
