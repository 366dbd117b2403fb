-- What a save made of the rows that later saves overwrite: a list of their names and salted digests, as JSON. Null in links of
-- earlier versions of svc.
alter table session_link add column row_digests text;
