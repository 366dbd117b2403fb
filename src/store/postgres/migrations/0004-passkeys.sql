-- Passkeys of people. A removed one stays, since decisions name it.
create table passkey (
  n bigint generated always as identity,
  id text primary key,
  workspace_id text not null,
  operator text not null,
  name text not null,
  credential_id text not null unique,
  -- SubjectPublicKeyInfo, base64url.
  public_key text not null,
  algorithm bigint not null,
  sign_count bigint not null,
  is_device_bound boolean not null,
  is_backed_up boolean not null,
  created_at bigint not null,
  last_used_at bigint,
  removed_at bigint
);
create index passkey_of_workspace on passkey (workspace_id);

-- Secrets that are good once: challenges of passkeys.
create table one_time_token (
  -- SHA-256 of the secret, hexadecimal.
  hash text primary key,
  workspace_id text not null,
  purpose text not null,
  operator text not null,
  subject text,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint
);
create index one_time_token_expired on one_time_token (expires_at);
