-- What a channel has to know to change later what it sent: ids of messages.
alter table notice add column receipt text;
