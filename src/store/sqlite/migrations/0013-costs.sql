-- What completions used and cost, summed by day, agent and model as they are stored, so that no report scans the steps.
create table cost_day (
  workspace_id text not null,
  -- Days since the epoch, UTC.
  day integer not null,
  agent_n integer not null references agent (n),
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
  primary key (workspace_id, day, agent_n, provider, model, currency)
) strict, without rowid;

-- Money of all runs of the session, as JSON; null where nothing was billed.
alter table session add column cost text check (json_valid(cost));
