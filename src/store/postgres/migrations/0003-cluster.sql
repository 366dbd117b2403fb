-- The server processes of the database. One that was killed stays until others have not seen it for long.
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

-- Whose database it is, so that servers of another project or bucket are refused; and where its content was moved to.
alter table svc_schema
  add column workspace text,
  add column bucket text,
  add column moved_to text;
