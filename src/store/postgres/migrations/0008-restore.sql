-- The restore that made this database from a backup; at most one row. Until `released_at`, ended and new sessions are held too.
create table restore (
  at bigint primary key,
  backed_up_at bigint not null,
  released_at bigint,
  -- Until when calls ask a person that may have been made after the backup; null until the release.
  asks_until bigint
);

-- A session that begins while the store is held is held with it, unless its trigger was released by name.
create function hold_new_session() returns trigger language plpgsql as $$
begin
  new.restored_at := (
    select greatest(r.at, new.started_at)
    from restore r
    where r.released_at is null
      and not exists (
        select 1 from run_trigger t
        where t.id = new.trigger_id and t.created_at <= r.at and t.restored_at is null
      )
  );
  if new.restored_at is not null then
    -- Nobody performs its effects, so nobody holds its lease.
    new.owner := null;
    new.epoch := 0;
    new.lease_until := null;
  end if;
  return new;
end $$;

create trigger hold_new_session before insert on session for each row
  when (new.restored_at is null) execute function hold_new_session();
