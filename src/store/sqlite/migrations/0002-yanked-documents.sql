-- Published documents never change, so a yank is a row of its own.
create table yanked_document (
  workspace_id text not null,
  kind text not null,
  id text not null,
  version text not null,
  primary key (workspace_id, kind, id, version),
  foreign key (workspace_id, kind, id, version) references document (workspace_id, kind, id, version)
) strict, without rowid;
