-- Open root runs that continue a session: they count for the trigger that started them, also where another or none began it.
create index run_open_of_starter on run (json_extract(starter, '$.triggerId')) where starter is not null and finished_at is null;
