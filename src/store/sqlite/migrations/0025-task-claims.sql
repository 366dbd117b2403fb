-- People who are looking at a task, and until when that holds. It is a hint: it keeps nobody from deciding.
create table task_claim (
  task_id text not null,
  workspace_id text not null,
  operator text not null,
  at integer not null,
  until integer not null,
  primary key (task_id, operator)
) strict, without rowid;

create index task_claim_of_workspace on task_claim (workspace_id, at);
