-- Up to when the ticks of a schedule were looked at: what a server that comes back later finds after it was missed.
alter table run_trigger add column ticked_at integer;
