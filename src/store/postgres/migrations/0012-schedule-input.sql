-- With which a schedule starts runs, and why its last tick started none: {at, code, message}.
alter table run_trigger add column input text;
alter table run_trigger add column refusal text;
