-- A session goes on for thousands of runs: only those that may still change are read, each with its whole tree.
create index run_at_work on run (session_id) where finished_at is null or origin is not null;
create index run_of_parent on run (parent_run_id) where parent_run_id is not null;
create index user_task_pending_of_session on user_task (session_id) where status = 'pending';
