-- The documents of publications as they were written, each text once.
create table source_text (
  digest text primary key,
  text text not null
) strict;

-- Files of a publication. The closure digest does not cover comments and order: the first publication is kept.
create table source_file (
  workspace_id text not null,
  closure_digest text not null,
  path text not null,
  digest text not null references source_text (digest),
  primary key (workspace_id, closure_digest, path)
) strict, without rowid;

-- The publication with which a version came.
create table source_member (
  workspace_id text not null,
  kind text not null check (kind in ('Agent', 'Tool', 'Policy')),
  id text not null,
  version text not null,
  closure_digest text not null,
  primary key (workspace_id, kind, id, version)
) strict, without rowid;

-- The message that the deployer gave.
alter table deployment add column message text;

-- The message that the publisher gave.
alter table version add column message text;

create index deployment_of_agent on deployment (agent_n, n);

create index effect_of_session on effect (session_id, at);
