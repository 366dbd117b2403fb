-- What a save made of the rows that later saves overwrite: a list of their names and salted digests, as JSON. Null in links of
-- earlier versions of svc.
alter table session_link add column row_digests text check (row_digests is null or json_valid(row_digests));

drop trigger session_link_is_final;

create trigger session_link_is_final before update on session_link
when not (new.session_n = old.session_n and new.version = old.version and new.seq = old.seq and new.events = old.events
  and new.ordinal = old.ordinal and new.steps = old.steps and new.content_digest = old.content_digest and new.salt is null
  and new.hash = old.hash and new.row_digests is old.row_digests and (select erased_at from session where n = old.session_n) is not null)
begin
  select raise(abort, 'a link never changes');
end;
