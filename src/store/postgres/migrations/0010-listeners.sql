-- Where a server process listens, so that tools and models of the others do not reach it.
alter table worker
  add column ports integer[] not null default '{}',
  add column addresses text[] not null default '{}';
