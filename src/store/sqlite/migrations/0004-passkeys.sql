-- Passkeys of people. A removed one stays, since decisions name it.
create table passkey (
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

create index passkey_of_workspace on passkey (workspace_id);

-- Secrets that are good once: challenges of passkeys.
create table one_time_token (
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

create index one_time_token_expired on one_time_token (expires_at);
