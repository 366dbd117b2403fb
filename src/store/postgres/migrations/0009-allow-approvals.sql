-- Keys answer approvals only where their trigger says so. Triggers that exist keep what their keys could do.
alter table run_trigger add column allow_approvals boolean not null default false;
update run_trigger set allow_approvals = true where type = 'api';
