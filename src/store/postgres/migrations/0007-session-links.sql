-- The events and steps of a session as a hash chain: a link for each save that adds some. Each row is written by the save, and stays.
create table session_link (
  session_id uuid not null,
  -- Of the session after the save.
  version bigint not null check (version > 0),
  -- Number of the last event and the last step, and how many of them the save adds.
  seq bigint not null,
  events bigint not null,
  ordinal bigint not null,
  steps bigint not null,
  -- Of what an erasure removes. Without the salt nobody can try out what it was.
  content_digest text not null,
  salt text,
  hash text not null,
  primary key (session_id, version)
);

create trigger session_link_is_final before update on session_link
  for each row execute function refuse_change_unless_erased('a link never changes');
