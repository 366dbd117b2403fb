import type { AgentId, TriggerId, WorkspaceId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { TickRefusal, Trigger } from '../../spec/key.ts'

export interface TriggerRow {
  id: TriggerId
  workspace_id: WorkspaceId
  agent_id: AgentId
  type: 'api' | 'schedule'
  name: string
  active: number
  expose_timeline: number
  allow_ips: string
  rate_per_minute: number | null
  rate_per_day: number | null
  max_concurrent_runs: number | null
  cron: string | null
  time_zone: string | null
  created_at: number
  allow_delete: 0 | 1
  allow_approvals: 0 | 1
  allow_older_versions: 0 | 1
  input: string | null
  refusal: string | null
}

export const toTrigger = (row: TriggerRow): Trigger => ({
  id: row.id,
  workspaceId: row.workspace_id,
  agentId: row.agent_id,
  type: row.type,
  name: row.name,
  active: row.active === 1,
  exposeTimeline: row.expose_timeline === 1,
  allowIps: JSON.parse(row.allow_ips) as readonly string[],
  ratePerMinute: row.rate_per_minute,
  ratePerDay: row.rate_per_day,
  maxConcurrentRuns: row.max_concurrent_runs,
  cron: row.cron,
  timeZone: row.time_zone,
  input: row.input === null ? null : (JSON.parse(row.input) as JsonObject),
  refusal: row.refusal === null ? null : (JSON.parse(row.refusal) as TickRefusal),
  createdAt: row.created_at,
  allowDelete: row.allow_delete === 1,
  allowApprovals: row.allow_approvals === 1,
  allowOlderVersions: row.allow_older_versions === 1,
})
