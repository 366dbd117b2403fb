-- Until when new runs may start on what is deployed; null for ever. A deployment has the end that it was given.
-- A program that does not know of it would start runs after the end.
-- min_reader: 13
alter table agent add column deployed_until bigint;

alter table deployment add column expires_at bigint;
