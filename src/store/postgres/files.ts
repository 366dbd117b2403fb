import { fail } from '../../base/failure.ts'
import { toFile, type FileRow } from '../rows/file-rows.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'
import type { PostgresQueries } from './database/queries.ts'

type FileMethods = Pick<
  Store,
  | 'presignFile'
  | 'finalizeFile'
  | 'fileByKey'
  | 'fileByName'
  | 'files'
  | 'expiredUploads'
  | 'closeUpload'
  | 'deleteFile'
>

export const fileMethods = (db: PostgresPool): FileMethods => ({
  presignFile: (file, quota) =>
    db.transaction(async (tx) => {
      const { workspaceId } = file
      if (quota !== null) {
        // Locks the sums, so that uploads announced at the same time are counted one after the other.
        await tx.run('insert into file_total values (:workspaceId, 0, 0) on conflict do nothing', { workspaceId })
        const total = await tx.row<{ bytes: number }>(
          'select bytes from file_total where workspace_id = :workspaceId for update',
          { workspaceId },
        )
        // An expired presigned address can receive no more bytes, so it reserves no bytes.
        const reserved = await tx.row<{ bytes: number }>(
          `select coalesce(sum(max_bytes), 0)::bigint as bytes from file
           where workspace_id = :workspaceId and finalized_at is null and expires_at > :createdAt`,
          { workspaceId, createdAt: file.createdAt },
        )
        if (total!.bytes + reserved!.bytes + file.maxBytes > quota)
          throw fail('storage_limit_exceeded', { limit: quota })
      }
      await tx.run(
        `insert into file (
           id, workspace_id, object_key, staging_key, filename, media_type, max_bytes, size_bytes, created_at, expires_at,
           finalized_at
         ) values (
           :id, :workspaceId, :objectKey, :stagingKey, :filename, :mediaType, :maxBytes, :sizeBytes, :createdAt, :expiresAt,
           :finalizedAt
         )`,
        { ...file },
      )
    }),
  finalizeFile: (id, sizeBytes, at) =>
    db.transaction(async (tx) => {
      const row = await lockFile(tx, id)
      if (!row) throw fail('not_found', { what: 'file' })
      if (row.finalized_at !== null) return
      await tx.run('update file set size_bytes = :sizeBytes, finalized_at = :at where id = :id', { id, sizeBytes, at })
      await tx.run(
        `insert into file_total (workspace_id, files, bytes) values (:workspaceId, 1, :sizeBytes)
         on conflict (workspace_id) do update
         set files = file_total.files + 1, bytes = file_total.bytes + excluded.bytes`,
        { workspaceId: row.workspace_id, sizeBytes },
      )
    }),
  async fileByKey(workspaceId, objectKey) {
    const row = await db.row<FileRow>(`${SELECT} where workspace_id = :workspaceId and object_key = :objectKey`, {
      workspaceId,
      objectKey,
    })
    return row && toFile(row)
  },
  async fileByName(workspaceId, filename) {
    const row = await db.row<FileRow>(
      `${SELECT} where workspace_id = :workspaceId and filename = :filename and finalized_at is not null`,
      { workspaceId, filename },
    )
    return row && toFile(row)
  },
  async files(workspaceId, { skip, take }) {
    const rows = await db.rows<FileRow>(
      `${SELECT}
       where workspace_id = :workspaceId and finalized_at is not null
       order by finalized_at desc, n desc
       limit :take offset :skip`,
      { workspaceId, skip, take },
    )
    const total = await db.row<{ files: number }>('select files from file_total where workspace_id = :workspaceId', {
      workspaceId,
    })
    return { items: rows.map(toFile), total: total?.files ?? 0 }
  },
  async expiredUploads(now, limit) {
    const rows = await db.rows<FileRow>(
      `${SELECT} where staging_key <> '' and expires_at < :now order by expires_at, n limit :limit`,
      { now, limit },
    )
    return rows.map(toFile)
  },
  async closeUpload(id) {
    await db.run(`update file set staging_key = '' where id = :id`, { id })
  },
  deleteFile: (id) =>
    db.transaction(async (tx) => {
      const row = await lockFile(tx, id)
      if (!row) return
      await tx.run('delete from file where id = :id', { id })
      if (row.size_bytes !== null)
        await tx.run(
          'update file_total set files = files - 1, bytes = bytes - :bytes where workspace_id = :workspaceId',
          { workspaceId: row.workspace_id, bytes: row.size_bytes },
        )
    }),
})

const lockFile = (tx: PostgresQueries, id: string) => tx.row<FileRow>(`${SELECT} where id = :id for update`, { id })

const SELECT = `
  select id, workspace_id, object_key, staging_key, filename, media_type, max_bytes, size_bytes, created_at, expires_at,
    finalized_at
  from file`
