import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { FileId } from '../../base/ids.ts'
import type { StoredFile } from '../../spec/file.ts'
import { toFile, type FileRow } from '../rows/file-rows.ts'
import type { Store } from '../store.ts'
import type { Database } from 'better-sqlite3'

export interface FileTable {
  readonly reads: Pick<Store, 'fileByKey' | 'fileByName' | 'files' | 'expiredUploads'>
  /** @throws Failure `storage_limit_exceeded` */
  presign(file: StoredFile, quota: number | null): void
  /** @throws Failure `not_found` */
  finalize(id: FileId, sizeBytes: number, at: Instant): void
  closeUpload(id: FileId): void
  delete(id: FileId): void
}

export function openFiles(db: Database): FileTable {
  const insert = db.prepare(
    `insert into file (
       id, workspace_id, object_key, staging_key, filename, media_type, max_bytes, size_bytes, created_at, expires_at,
       finalized_at
     ) values (
       :id, :workspaceId, :objectKey, :stagingKey, :filename, :mediaType, :maxBytes, :sizeBytes, :createdAt, :expiresAt,
       :finalizedAt
     )`,
  )
  const one = db.prepare<[string], FileRow>(`${SELECT} where id = ?`)
  const byKey = db.prepare<[string, string], FileRow>(`${SELECT} where workspace_id = ? and object_key = ?`)
  const byName = db.prepare<[string, string], FileRow>(
    `${SELECT} where workspace_id = ? and filename = ? and finalized_at is not null`,
  )
  const stored = db.prepare<[string, number, number], FileRow>(
    `${SELECT}
     where workspace_id = ? and finalized_at is not null
     order by finalized_at desc, n desc
     limit ? offset ?`,
  )
  const expired = db.prepare<[number, number], FileRow>(
    `${SELECT} where staging_key <> '' and expires_at < ? order by expires_at, n limit ?`,
  )
  // An expired presigned address can receive no more bytes, so it reserves no bytes.
  const reserved = db.prepare<[string, number], { bytes: number }>(
    `select coalesce(sum(max_bytes), 0) as bytes
     from file
     where workspace_id = ? and finalized_at is null and expires_at > ?`,
  )
  const total = db.prepare<[string], { files: number; bytes: number }>(
    'select files, bytes from file_total where workspace_id = ?',
  )
  const addTotal = db.prepare<{ workspaceId: string; files: number; bytes: number }>(
    `insert into file_total (workspace_id, files, bytes) values (:workspaceId, :files, :bytes)
     on conflict (workspace_id) do update set files = files + excluded.files, bytes = bytes + excluded.bytes`,
  )
  const subtractTotal = db.prepare<{ workspaceId: string; bytes: number }>(
    'update file_total set files = files - 1, bytes = bytes - :bytes where workspace_id = :workspaceId',
  )
  const finalize = db.prepare<[number, number, string]>('update file set size_bytes = ?, finalized_at = ? where id = ?')
  const close = db.prepare<[string]>(`update file set staging_key = '' where id = ?`)
  const remove = db.prepare<[string]>('delete from file where id = ?')
  const noFiles = { files: 0, bytes: 0 }

  return {
    reads: {
      async fileByKey(workspaceId, objectKey) {
        const row = byKey.get(workspaceId, objectKey)
        return row && toFile(row)
      },
      async fileByName(workspaceId, filename) {
        const row = byName.get(workspaceId, filename)
        return row && toFile(row)
      },
      async files(workspaceId, page) {
        const items = stored.all(workspaceId, page.take, page.skip).map(toFile)
        return { items, total: (total.get(workspaceId) ?? noFiles).files }
      },
      async expiredUploads(now, limit) {
        return expired.all(now, limit).map(toFile)
      },
    },
    presign(file, quota) {
      if (quota !== null) {
        const held =
          (total.get(file.workspaceId) ?? noFiles).bytes + reserved.get(file.workspaceId, file.createdAt)!.bytes
        if (held + file.maxBytes > quota) throw fail('storage_limit_exceeded', { limit: quota })
      }
      insert.run({ ...file })
    },
    finalize(id, sizeBytes, at) {
      const row = one.get(id)
      if (!row) throw fail('not_found', { what: 'file' })
      if (row.finalized_at !== null) return
      finalize.run(sizeBytes, at, id)
      addTotal.run({ workspaceId: row.workspace_id, files: 1, bytes: sizeBytes })
    },
    closeUpload: (id) => void close.run(id),
    delete(id) {
      const row = one.get(id)
      if (!row) return
      remove.run(id)
      if (row.size_bytes !== null) subtractTotal.run({ workspaceId: row.workspace_id, bytes: row.size_bytes })
    },
  }
}

const SELECT = `
  select id, workspace_id, object_key, staging_key, filename, media_type, max_bytes, size_bytes, created_at, expires_at,
    finalized_at
  from file`
