import type { AgentId, ConsoleSessionId, KeyId, TriggerId, WorkspaceId } from '../../base/ids.ts'
import type { ConsoleSession, OperatorKey } from '../../spec/key.ts'

export interface KeyRow {
  id: KeyId
  workspace_id: WorkspaceId
  agent_id: AgentId
  trigger_id: TriggerId
  name: string | null
  person: string | null
  prefix: string
  hash: string
  allow_uploads: number
  created_at: number
  expires_at: number | null
  revoked_at: number | null
  last_used_at: number | null
}

export interface OperatorKeyRow {
  id: KeyId
  workspace_id: WorkspaceId
  email: string
  roles: string
  name: string | null
  prefix: string
  hash: string
  created_at: number
  expires_at: number | null
  revoked_at: number | null
  last_used_at: number | null
}

export const toOperatorKey = (row: OperatorKeyRow): OperatorKey => ({
  id: row.id,
  workspaceId: row.workspace_id,
  email: row.email,
  roles: JSON.parse(row.roles) as string[],
  name: row.name,
  prefix: row.prefix,
  hash: row.hash,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
})

export interface ConsoleSessionRow {
  id: ConsoleSessionId
  workspace_id: WorkspaceId
  hash: string
  operator: string
  key_id: KeyId | null
  browser: string
  created_at: number
  last_used_at: number
  ended_at: number | null
}

export const toConsoleSession = (row: ConsoleSessionRow): ConsoleSession => ({
  id: row.id,
  workspaceId: row.workspace_id,
  hash: row.hash,
  operator: row.operator,
  keyId: row.key_id,
  browser: row.browser,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  endedAt: row.ended_at,
})
