-- Raised by each save that decided calls by counting those of other sessions, and by each revocation. A save that counted at an
-- older version is refused and counts again.
create table history_fence (
  workspace_id text primary key,
  version integer not null
) strict, without rowid;

-- Revocations and renewals of standing authorities, in order. The last row of a name is in force.
create table standing_act (
  n integer primary key,
  workspace_id text not null,
  name text not null,
  revoked integer not null check (revoked in (0, 1)),
  at integer not null,
  by text not null,
  reason text not null
) strict;

create index standing_act_of_name on standing_act (workspace_id, name, n);
