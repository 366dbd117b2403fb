import type { Digest } from '../../base/digest.ts'
import type { AgentId, RunId, SessionId } from '../../base/ids.ts'
import type { CallRow } from '../session-update.ts'
import { toValue } from './json-column.ts'

export interface StoredCallRow {
  session_id: SessionId
  run_id: RunId
  call_id: string
  agent_id: AgentId
  ref: string
  arguments_digest: Digest
  arguments: string
  state: string
  attempt: number
  idempotency_key: string
  at: number
}

export const toCall = (row: StoredCallRow): CallRow => ({
  sessionId: row.session_id,
  runId: row.run_id,
  callId: row.call_id,
  agentId: row.agent_id,
  ref: row.ref,
  argumentsDigest: row.arguments_digest,
  arguments: toValue(row.arguments),
  state: row.state,
  attempt: row.attempt,
  idempotencyKey: row.idempotency_key,
  at: row.at,
})
