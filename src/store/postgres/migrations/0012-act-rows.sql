-- What an act made of the rows that it changed: a list of their names and salted digests, as JSON. Null in acts of earlier versions
-- of svc. A program that changes such rows and does not say so would make them look changed by somebody else.
-- min_reader: 12
alter table act add column row_digests text;
