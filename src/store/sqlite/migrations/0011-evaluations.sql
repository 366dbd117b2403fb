-- What evaluations counted, without what runs said; the newest of a workspace.
create table evaluation (
  id text primary key,
  workspace_id text not null,
  at integer not null,
  by text not null,
  -- Which most cases started.
  agent text not null,
  -- As JSON.
  report text not null
) strict;

create index evaluation_of_workspace on evaluation (workspace_id, at);
