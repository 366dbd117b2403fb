-- Which process performs the effects of a session, and until when. Only a busy session has an owner.
alter table session add column owner text;
-- Grows with every change of owner.
alter table session add column epoch integer not null default 0;
alter table session add column lease_until integer;

drop index session_busy;
-- Work that nobody does, nearly always none, and work that somebody does.
create index session_free on session (started_at) where busy = 1 and owner is null;
create index session_held on session (started_at) where owner is not null;
