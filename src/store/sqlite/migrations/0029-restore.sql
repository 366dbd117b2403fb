-- The restore that made this database from a backup; at most one row. Until `released_at`, ended and new sessions are held too.
create table restore (
  at integer primary key,
  backed_up_at integer not null,
  released_at integer,
  -- Until when calls ask a person that may have been made after the backup; null until the release.
  asks_until integer
) strict;
