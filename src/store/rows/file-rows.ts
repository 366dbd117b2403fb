import type { FileId, WorkspaceId } from '../../base/ids.ts'
import type { StoredFile } from '../../spec/file.ts'

export interface FileRow {
  id: FileId
  workspace_id: WorkspaceId
  object_key: string
  staging_key: string
  filename: string
  media_type: string
  max_bytes: number
  size_bytes: number | null
  created_at: number
  expires_at: number
  finalized_at: number | null
}

export const toFile = (row: FileRow): StoredFile => ({
  id: row.id,
  workspaceId: row.workspace_id,
  objectKey: row.object_key,
  stagingKey: row.staging_key,
  filename: row.filename,
  mediaType: row.media_type,
  maxBytes: row.max_bytes,
  sizeBytes: row.size_bytes,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  finalizedAt: row.finalized_at,
})
