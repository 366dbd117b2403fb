-- People who are looking at a task, and until when that holds. It is a hint: it keeps nobody from deciding.
create table task_claim (
  task_id uuid not null,
  workspace_id text not null,
  operator text not null,
  at bigint not null,
  until bigint not null,
  primary key (task_id, operator)
);
create index task_claim_of_workspace on task_claim (workspace_id, at);
