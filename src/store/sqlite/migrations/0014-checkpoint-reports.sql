-- The last checkpoint that reached its copies, as whoever made it said.
create table checkpoint_report (
  workspace_id text primary key,
  at integer not null,
  by text not null,
  -- Lines that it signed.
  size integer not null
) strict;
