-- Adds the version of the agent to the sums of completions. Sums from before this migration have none.
create table cost_of_version (
  workspace_id text not null,
  -- Days since the epoch, UTC.
  day integer not null,
  agent_n integer not null references agent (n),
  -- Label; empty for what was summed before labels were kept.
  version text not null,
  provider text not null,
  model text not null,
  -- Empty for completions without a price.
  currency text not null,
  completions integer not null,
  -- Completions that are billed at a price nobody knows.
  unpriced integer not null,
  input_tokens integer not null,
  cached_input_tokens integer not null,
  cache_write_tokens integer not null,
  output_tokens integer not null,
  reasoning_tokens integer not null,
  -- Exact decimal: SQLite has no type that adds money without rounding or overflow.
  amount text not null,
  primary key (workspace_id, day, agent_n, version, provider, model, currency)
) strict, without rowid;

insert into cost_of_version
select workspace_id, day, agent_n, '', provider, model, currency, completions, unpriced, input_tokens, cached_input_tokens,
  cache_write_tokens, output_tokens, reasoning_tokens, amount
from cost_day;
drop table cost_day;
alter table cost_of_version rename to cost_day;
