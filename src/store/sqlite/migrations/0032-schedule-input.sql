-- With which a schedule starts runs, and why its last tick started none: {at, code, message}.
alter table run_trigger add column input text check (input is null or json_valid(input));
alter table run_trigger add column refusal text check (refusal is null or json_valid(refusal));
