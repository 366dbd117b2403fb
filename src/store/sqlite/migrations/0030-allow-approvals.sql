-- Keys answer approvals only where their trigger says so. Triggers that exist keep what their keys could do.
alter table run_trigger add column allow_approvals integer not null default 0 check (allow_approvals in (0, 1));
update run_trigger set allow_approvals = 1 where type = 'api';
