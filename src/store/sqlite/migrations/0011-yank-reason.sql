-- The reason that the person who yanked the version gave; null without one.
alter table version add column yank_reason text check (yank_reason is null or yanked = 1);

alter table yanked_document add column reason text;
