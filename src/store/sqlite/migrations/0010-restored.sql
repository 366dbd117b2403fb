-- Restored from a backup and not released yet: these runs stand still, and these triggers start no runs.
create table restored_session (
  session_n integer primary key references session (n) on delete cascade,
  at integer not null
) strict;

create table restored_trigger (
  trigger_id text primary key references run_trigger (id) on delete cascade,
  at integer not null
) strict;
