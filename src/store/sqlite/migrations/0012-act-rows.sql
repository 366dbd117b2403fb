-- What an act made of the rows that it changed: a list of their names and salted digests, as JSON. Null in acts of earlier versions
-- of svc.
alter table act add column row_digests text check (row_digests is null or json_valid(row_digests));
