import type { Digest } from '../../base/digest.ts'
import type { AgentId, RunId, SessionId } from '../../base/ids.ts'
import type { CallRow, CallStateRow } from '../session-update.ts'
import { toValue } from './json-column.ts'

export interface StoredCallStateRow {
  session_id: SessionId
  run_id: RunId
  call_id: string
  agent_id: AgentId
  ref: string
  arguments_digest: Digest
  state: string
  attempt: number
  idempotency_key: string
  at: number
}

export type StoredCallRow = StoredCallStateRow & { arguments: string }

export const toCall = (row: StoredCallRow): CallRow => ({ ...toCallState(row), arguments: toValue(row.arguments) })

export const toCallState = (row: StoredCallStateRow): CallStateRow => ({
  sessionId: row.session_id,
  runId: row.run_id,
  callId: row.call_id,
  agentId: row.agent_id,
  ref: row.ref,
  argumentsDigest: row.arguments_digest,
  state: row.state,
  attempt: row.attempt,
  idempotencyKey: row.idempotency_key,
  at: row.at,
})
