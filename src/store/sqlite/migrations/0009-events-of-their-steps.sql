-- The id of a step's event is derived from the id of the step.
drop trigger step_only_ends;

alter table step drop column event_id;

create trigger step_only_ends
before update of session_n, ordinal, run_n, sequence, id, type, content, hidden, tokens_used, started_at, result_digest on step
begin
  select raise(abort, 'of a step only its end is written later');
end;
