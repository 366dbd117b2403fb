-- The moment up to which the ticks of each schedule were handled. A server that was down has missed the ticks after it.
alter table run_trigger add column ticked_at integer;
