-- The run that a run repeats, from the start or from a step on.
alter table run add column origin text check (json_valid(origin));

create index run_of_origin on run (json_extract(origin, '$.runId')) where origin is not null;
