-- The operator who acts through a key that was made for one command of his: he, and not the key, started and answered.
alter table api_key add column person text;
alter table session add column person text;
