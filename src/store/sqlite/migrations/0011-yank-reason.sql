-- Why a version is no longer chosen, in the words of who yanked it; null where nobody said.
alter table version add column yank_reason text check (yank_reason is null or yanked = 1);

alter table yanked_document add column reason text;
