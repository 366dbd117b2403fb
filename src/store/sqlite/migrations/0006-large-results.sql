-- Results of tools that are too long for a row, each stored once however many steps have it, and deleted with the last of them.
create table large_result (
  digest text primary key,
  result text not null check (json_valid(result))
) strict;

alter table step add column result_digest text references large_result (digest);

create index step_with_large_result on step (result_digest) where result_digest is not null;

create trigger large_result_goes after delete on step when old.result_digest is not null
begin
  delete from large_result
  where digest = old.result_digest
    and not exists (select 1 from step where result_digest = old.result_digest);
end;

drop trigger step_only_ends;

create trigger step_only_ends
before update of session_n, ordinal, run_n, sequence, id, event_id, type, content, hidden, tokens_used, started_at, result_digest
on step
begin
  select raise(abort, 'of a step only its end is written later');
end;
