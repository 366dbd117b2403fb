-- An event that shows a step as it is kept names it; its data is null then, for the step has the words. So a step only ends.
alter table event add column ordinal integer;

create trigger step_only_ends
before update of session_n, ordinal, run_n, sequence, id, event_id, type, content, hidden, tokens_used, started_at on step
begin
  select raise(abort, 'of a step only its end is written later');
end;

-- A step is closed by its number.
drop index step_open;
