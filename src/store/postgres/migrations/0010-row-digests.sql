-- What a save made of the rows that later saves overwrite: a list of their names and salted digests, as JSON. Null in links of
-- earlier versions of svc. A program that overwrites rows and does not say so would make them look changed by somebody else.
-- min_reader: 10
alter table session_link add column row_digests text;
