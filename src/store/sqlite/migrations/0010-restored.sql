-- What came from a backup and was not released yet: such runs do nothing, and such triggers start none.
create table restored_session (
  session_n integer primary key references session (n) on delete cascade,
  at integer not null
) strict;

create table restored_trigger (
  trigger_id text primary key references run_trigger (id) on delete cascade,
  at integer not null
) strict;
