-- The operator for whose command a key was made. That person, and not the key, counts as the one who started or answered.
alter table api_key add column person text;
alter table session add column person text;
