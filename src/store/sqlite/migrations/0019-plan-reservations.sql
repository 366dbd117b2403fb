-- What each completion in flight may use at most of the daily spend cap of the workspace. The row is deleted when the completion ends.
create table plan_reservation (
  run_n integer primary key references run (n) on delete cascade,
  workspace_id text not null,
  tokens integer not null,
  -- Exact decimal text; null where the completion costs nothing in the currency of the cap.
  amount text,
  currency text,
  check ((amount is null) = (currency is null))
) strict;
create index plan_reservation_workspace on plan_reservation (workspace_id);
