-- The events and steps of a session as a hash chain: a link for each save that adds some. Each row is written by the save, and stays.
create table session_link (
  session_n integer not null references session (n),
  -- Of the session after the save.
  version integer not null check (version > 0),
  -- Number of the last event and the last step, and how many of them the save adds.
  seq integer not null,
  events integer not null,
  ordinal integer not null,
  steps integer not null,
  -- Of what an erasure removes. Without the salt nobody can try out what it was.
  content_digest text not null,
  salt text,
  hash text not null,
  primary key (session_n, version)
) strict, without rowid;

create trigger session_link_is_final before update on session_link
when not (new.session_n = old.session_n and new.version = old.version and new.seq = old.seq and new.events = old.events
  and new.ordinal = old.ordinal and new.steps = old.steps and new.content_digest = old.content_digest and new.salt is null
  and new.hash = old.hash and (select erased_at from session where n = old.session_n) is not null)
begin
  select raise(abort, 'a link never changes');
end;
