-- Adds the version of the agent to the sums of completions. Sums from before this migration, and those that a server of the
-- version before writes, have none.
alter table cost_day
  add column version text not null default '' collate "C",
  drop constraint cost_day_pkey,
  add primary key (workspace_id, day, agent_id, version, provider, model, currency, shard);

-- Adds to the shared sums, each row once and in one order, so that two batches never wait for each other's. It is called last:
-- these rows are the only ones of a batch that others want, too, and stay locked until its end.
-- @param spends lists of completions, each for the costs of the day
create or replace function add_sums(changes sum_change[], spends json[], of_shard smallint, now bigint) returns void
language plpgsql as $$
begin
  insert into agent_count (workspace_id, agent_id, what, shard, counted)
  select workspace_id, agent_id, status, of_shard, sum(sessions)
  from unnest(changes)
  where status is not null
  group by workspace_id, agent_id, status
  having sum(sessions) <> 0
  order by agent_id, status
  on conflict (agent_id, what, shard) do update set counted = agent_count.counted + excluded.counted;

  insert into plan_day (workspace_id, day, shard, runs, tokens)
  select workspace_id, now / 86400000, of_shard, coalesce(sum(runs), 0), coalesce(sum(tokens), 0)
  from unnest(changes)
  where runs > 0 or tokens > 0
  group by workspace_id
  order by workspace_id
  on conflict (workspace_id, day, shard) do update
  set runs = plan_day.runs + excluded.runs, tokens = plan_day.tokens + excluded.tokens;

  if cardinality(spends) = 0 then return; end if;
  insert into cost_day (
    workspace_id, day, agent_id, version, provider, model, currency, shard, completions, unpriced, input_tokens,
    cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, amount
  )
  select c.workspace_id, now / 86400000, c.agent_id, coalesce(c.version, ''), c.provider, c.model, c.currency, of_shard,
    count(*), sum(c.unpriced), sum(c.input_tokens), sum(c.cached_input_tokens), sum(c.cache_write_tokens),
    sum(c.output_tokens), sum(c.reasoning_tokens), sum(c.amount)
  from unnest(spends) as list, json_to_recordset(list) as c(
    workspace_id text, agent_id text, version text, provider text, model text, currency text, unpriced bigint,
    input_tokens bigint, cached_input_tokens bigint, cache_write_tokens bigint, output_tokens bigint,
    reasoning_tokens bigint, amount numeric
  )
  group by c.workspace_id, c.agent_id, coalesce(c.version, ''), c.provider, c.model, c.currency
  order by c.workspace_id, c.agent_id, coalesce(c.version, ''), c.provider, c.model, c.currency
  on conflict (workspace_id, day, agent_id, version, provider, model, currency, shard) do update
  set completions = cost_day.completions + excluded.completions, unpriced = cost_day.unpriced + excluded.unpriced,
    input_tokens = cost_day.input_tokens + excluded.input_tokens,
    cached_input_tokens = cost_day.cached_input_tokens + excluded.cached_input_tokens,
    cache_write_tokens = cost_day.cache_write_tokens + excluded.cache_write_tokens,
    output_tokens = cost_day.output_tokens + excluded.output_tokens,
    reasoning_tokens = cost_day.reasoning_tokens + excluded.reasoning_tokens,
    amount = cost_day.amount + excluded.amount;
end $$;
