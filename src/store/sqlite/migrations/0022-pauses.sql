-- Pauses and resumptions by operators, in order. The last row of a kind and name is in force.
create table pause_act (
  n integer primary key,
  workspace_id text not null,
  kind text not null check (kind in ('all', 'agent', 'version', 'tool', 'provider')),
  name text not null,
  paused integer not null check (paused in (0, 1)),
  at integer not null,
  by text not null,
  reason text
) strict;

create index pause_act_of_target on pause_act (workspace_id, kind, name, n);
