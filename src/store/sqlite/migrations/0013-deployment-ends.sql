-- Until when new runs may start on what is deployed; null for ever. A deployment has the end that it was given.
alter table agent add column deployed_until integer;

alter table deployment add column expires_at integer;
