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
  seen_at bigint not null
) with (fillfactor = 50);

-- The project and bucket that the database belongs to, so that servers of others are refused; and where its content was moved.
alter table svc_schema
  add column workspace text,
  add column bucket text,
  add column moved_to text;
