/** Rows of runs, and the runs that they are. */
import type { AgentId, RunId, SessionId, VersionId, WorkspaceId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import {
  NOTHING_USED,
  type ErrorCode,
  type Run,
  type RunOrigin,
  type RunState,
  type RunStatusName,
  type RunUsage,
} from '../../spec/run/run.ts'
import type { RunStarter } from '../../spec/run/starter.ts'
import { toObject, toValue } from './json-column.ts'

/** The counters that are not zero: most runs use few of them, and only those are stored. */
export function withoutZeros(usage: RunUsage): JsonObject {
  const used: JsonObject = {}
  for (const [name, value] of Object.entries(usage)) {
    const isUsed = isJsonObject(value) ? Object.keys(value).length > 0 : value !== NOTHING_USED[name as keyof RunUsage]
    if (isUsed) used[name] = value
  }
  return used
}

export interface RunRow {
  id: RunId
  session_id: SessionId
  workspace_id: WorkspaceId
  agent_id: AgentId
  agent_name: string
  version_id: VersionId
  version_label: string
  llm_model: string | null
  parent_run_id: RunId | null
  parent_call_id: string | null
  depth: number
  input: string
  state: string
  status: RunStatusName
  usage: string
  last_sequence: number
  output: string | null
  error: string | null
  error_code: ErrorCode | null
  starter: string | null
  origin: string | null
  started_at: number
  finished_at: number | null
}

export const toRun = (row: RunRow): Run => ({
  id: row.id,
  sessionId: row.session_id,
  workspaceId: row.workspace_id,
  agentId: row.agent_id,
  agentName: row.agent_name,
  agentVersionId: row.version_id,
  versionLabel: row.version_label,
  llmModel: row.llm_model,
  parentRunId: row.parent_run_id,
  parentCallId: row.parent_call_id,
  depth: row.depth,
  input: toObject(row.input),
  state: JSON.parse(row.state) as RunState,
  status: row.status,
  usage: { ...NOTHING_USED, ...(JSON.parse(row.usage) as Partial<RunUsage>) },
  lastSequence: row.last_sequence,
  output: toValue(row.output),
  error: row.error,
  errorCode: row.error_code,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
  ...(row.starter !== null && { starter: JSON.parse(row.starter) as RunStarter }),
  ...(row.origin !== null && { origin: JSON.parse(row.origin) as RunOrigin }),
})
