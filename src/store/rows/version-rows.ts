import type { Digest } from '../../base/digest.ts'
import type { AgentId, VersionId, WorkspaceId } from '../../base/ids.ts'
import type { AgentSnapshot, PublishedDocument } from '../../spec/snapshot.ts'
import type { AgentRow, AgentVersion, DeploymentRow } from '../version-rows.ts'
import { toObject } from './json-column.ts'

export interface StoredAgentRow {
  id: AgentId
  workspace_id: WorkspaceId
  name: string
  deployed_version_id: VersionId | null
  previous_version_id: VersionId | null
}

export const toAgent = (row: StoredAgentRow): AgentRow => ({
  id: row.id,
  workspaceId: row.workspace_id,
  name: row.name,
  deployedVersionId: row.deployed_version_id,
  previousVersionId: row.previous_version_id,
})

export interface VersionRow {
  id: VersionId
  agent_id: AgentId
  workspace_id: WorkspaceId
  snapshot: string
  closure_digest: Digest
  published_at: number
  published_by: string
  message: string | null
  yanked: number
  yank_reason: string | null
}

export const toVersion = (row: VersionRow): AgentVersion => ({
  id: row.id,
  agentId: row.agent_id,
  workspaceId: row.workspace_id,
  snapshot: JSON.parse(row.snapshot) as AgentSnapshot,
  closureDigest: row.closure_digest,
  publishedAt: row.published_at,
  publishedBy: row.published_by,
  ...(row.message !== null && { message: row.message }),
  yanked: row.yanked === 1,
  ...(row.yank_reason !== null && { yankReason: row.yank_reason }),
})

export interface DocumentRow {
  kind: 'Tool' | 'Policy'
  id: string
  version: string
  digest: Digest
  document: string
  yanked: number
  yank_reason: string | null
}

export const toDocument = ({ yanked, yank_reason: yankReason, ...row }: DocumentRow): PublishedDocument => ({
  ...row,
  document: toObject(row.document),
  ...(yanked === 1 && { yanked: true }),
  ...(yankReason !== null && { yankReason }),
})

export interface DeploymentColumns {
  version_id: VersionId
  from_version_id: VersionId | null
  deployed_at: number
  deployed_by: string
  message: string | null
}

export const toDeployment = (row: DeploymentColumns): DeploymentRow => ({
  versionId: row.version_id,
  fromVersionId: row.from_version_id,
  at: row.deployed_at,
  by: row.deployed_by,
  ...(row.message !== null && { message: row.message }),
})
