-- What a channel has to know to change later what it sent: ids of messages.
alter table notice add column receipt text check (receipt is null or json_valid(receipt));
