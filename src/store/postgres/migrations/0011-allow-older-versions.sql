-- Keys name a version that may do more than the deployed one only where their trigger says so.
alter table run_trigger add column allow_older_versions boolean not null default false;
