-- Open root runs that continue a session. They count for the trigger that started them, whoever started the session.
create index run_open_of_starter on run (json_extract(starter, '$.triggerId')) where starter is not null and finished_at is null;
