import { digestOf, type Digest } from '../../base/digest.ts'
import type { AgentId, RunId, SessionId, TriggerId, VersionId, WorkspaceId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import type { CostSum } from '../../spec/price.ts'
import type { RunStatusName } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { TriggerType } from '../../spec/run/starter.ts'
import type { LeftOutValue, ListedSession } from '../queries.ts'
import { toObject, toValue } from './json-column.ts'

export interface SessionRow {
  id: SessionId
  workspace_id: WorkspaceId
  agent_id: AgentId
  agent_name: string
  version_id: VersionId
  version_label: string
  llm_model: string | null
  trigger_type: TriggerType
  triggered_by: string | null
  person: string | null
  trigger_id: TriggerId | null
  trigger_name: string | null
  root_run_id: RunId
  entry_run_id: RunId | null
  status: RunStatusName
  total_tokens_used: number
  run_count: number
  input: string
  start_context: string
  output: string | null
  error: string | null
  metadata: string | null
  tags: string | null
  started_at: number
  finished_at: number | null
  version: number
  last_seq: number
  last_ordinal: number
  cost: string | null
  title: string | null
  erased_at: number | null
  legal_hold: boolean | 0 | 1
}

export interface ListedRow extends SessionRow {
  n: number
  input_digest: Digest | null
  output_digest: Digest | null
  input_bytes: number
  output_bytes: number | null
}

export function toListed(row: ListedRow): ListedSession {
  const session = toSession(row)
  const input = row.input_bytes > 4 && row.input === 'null' ? leftOut(row.input_bytes, row.input_digest) : undefined
  const output =
    row.output_bytes !== null && row.output === null ? leftOut(row.output_bytes, row.output_digest) : undefined
  return input || output ? { ...session, leftOut: { ...(input && { input }), ...(output && { output }) } } : session
}

const leftOut = (bytes: number, digest: Digest | null): LeftOutValue => ({ bytes, digest })

export function toSession(row: SessionRow): Session {
  const input = toObject(row.input)
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    agentVersionId: row.version_id,
    versionLabel: row.version_label,
    llmModel: row.llm_model,
    triggerType: row.trigger_type,
    triggeredBy: row.triggered_by,
    person: row.person,
    triggerId: row.trigger_id,
    triggerName: row.trigger_name,
    rootRunId: row.root_run_id,
    ...(row.entry_run_id !== null && { entryRunId: row.entry_run_id }),
    status: row.status,
    totalTokensUsed: row.total_tokens_used,
    runCount: row.run_count,
    output: toValue(row.output),
    error: row.error,
    input,
    startContext: withInput(toObject(row.start_context), input),
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    version: row.version,
    lastSeq: row.last_seq,
    lastOrdinal: row.last_ordinal,
    ...(row.cost !== null && { cost: fromJson<CostSum>(toObject(row.cost), 'amounts') }),
    ...(row.title !== null && { title: row.title }),
    ...(row.erased_at !== null && { erasedAt: row.erased_at }),
    ...(row.legal_hold && { legalHold: true }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as Record<string, string> }),
    ...(row.tags !== null && { tags: JSON.parse(row.tags) as string[] }),
  }
}

/** A start context repeats the input; null marks its place. */
const withInput = (startContext: JsonObject, input: JsonObject): JsonObject =>
  startContext['userInput'] === null ? { ...startContext, userInput: input } : startContext

/** Beyond this size a list may leave a value out, and name it by its digest. */
const LARGE_BYTES = 1024

export const largeDigest = (text: string): Digest | null =>
  Buffer.byteLength(text) > LARGE_BYTES ? digestOf(text) : null

/** A start context repeats the input. It is stored once; null marks its place, which no other start context has there. */
export const withoutInput = ({ startContext, input }: Session): JsonObject =>
  startContext['userInput'] === input ? { ...startContext, userInput: null } : startContext
