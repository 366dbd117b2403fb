-- The process that performs the effects of a session, and until when. Only a session with work in progress has an owner.
alter table session add column owner text;
-- Grows with every change of owner.
alter table session add column epoch integer not null default 0;
alter table session add column lease_until integer;

drop index session_busy;
-- Sessions with work but without an owner, of which there are hardly ever any, and those with an owner.
create index session_free on session (started_at) where busy = 1 and owner is null;
create index session_held on session (started_at) where owner is not null;
