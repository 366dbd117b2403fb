-- An event that shows a stored step refers to it and has no data of its own, so a step may only be completed, never changed.
alter table event add column ordinal integer;

create trigger step_only_ends
before update of session_n, ordinal, run_n, sequence, id, event_id, type, content, hidden, tokens_used, started_at on step
begin
  select raise(abort, 'of a step only its end is written later');
end;

-- Finds the step that a save completes by its number.
drop index step_open;
