/** Files of a workspace, from presign on, with their number and size kept so that no request sums them. */
import { fail } from '../../base/failure.ts'
import type { FileId } from '../../base/ids.ts'
import type { StoredFile } from '../../spec/file.ts'
import type { Dialect } from '../dialect.ts'
import { readRow, readRows, writeRows, type NounWork, readOneRow } from '../statement.ts'
import { defineTable } from './record-table.ts'

export const FILES = defineTable<StoredFile>('file', {
  id: 'text',
  workspaceId: 'text',
  objectKey: 'text',
  stagingKey: 'text',
  filename: 'text',
  mediaType: 'text',
  maxBytes: 'integer',
  sizeBytes: 'integer',
  createdAt: 'integer',
  expiresAt: 'integer',
  finalizedAt: 'integer',
})

export function prepareFiles({
  sum,
  forUpdate,
}: Dialect): NounWork<
  'fileByKey' | 'fileByName' | 'files' | 'expiredUploads',
  'closeUpload',
  'presignFile' | 'finalizeFile' | 'deleteFile'
> {
  const { select, insert, toValues, toRecord } = FILES
  const toFile = (row: object | undefined): StoredFile | undefined => row && toRecord(row)
  const byKey = `${select} where workspace_id = :workspaceId and object_key = :objectKey`
  const byName = `${select} where workspace_id = :workspaceId and filename = :filename and finalized_at is not null`
  const stored = `${select} where workspace_id = :workspaceId and finalized_at is not null
    order by finalized_at desc, n desc limit :take offset :skip`
  const expired = `${select} where staging_key <> '' and expires_at < :now order by expires_at, n limit :limit`
  const locked = `${select} where id = :id ${forUpdate}`
  const total = `select files, bytes from file_total where workspace_id = :workspaceId`
  const lockedTotal = `${total} ${forUpdate}`
  // An expired presigned address can receive no more bytes, so it reserves no bytes.
  const reserved = `select coalesce(${sum('max_bytes')}, 0) as bytes from file
    where workspace_id = :workspaceId and finalized_at is null and expires_at > :createdAt`
  const addTotal = `insert into file_total (workspace_id, files, bytes) values (:workspaceId, :files, :bytes)
    on conflict (workspace_id) do update
    set files = file_total.files + excluded.files, bytes = file_total.bytes + excluded.bytes`

  function* lockFile(id: FileId) {
    return toFile(yield* readRow(locked, { id }))
  }

  return {
    reads: {
      *fileByKey(workspaceId, objectKey) {
        return toFile(yield* readRow(byKey, { workspaceId, objectKey }))
      },
      *fileByName(workspaceId, filename) {
        return toFile(yield* readRow(byName, { workspaceId, filename }))
      },
      *files(workspaceId, { skip, take }) {
        const rows = yield* readRows(stored, { workspaceId, skip, take })
        const kept = yield* readRow<{ files: number }>(total, { workspaceId })
        return { items: rows.map(toRecord), total: kept?.files ?? 0 }
      },
      *expiredUploads(now, limit) {
        return (yield* readRows(expired, { now, limit })).map(toRecord)
      },
    },
    writes: {
      *closeUpload(id) {
        yield* writeRows(`update file set staging_key = '' where id = :id`, { id })
      },
    },
    transactions: {
      *presignFile(file, quota) {
        const { workspaceId, createdAt } = file
        if (quota !== null) {
          // Locks the sums, so that uploads announced at the same time are counted one after the other.
          yield* writeRows(addTotal, { workspaceId, files: 0, bytes: 0 })
          const kept = yield* readOneRow<{ bytes: number }>(lockedTotal, { workspaceId })
          const open = yield* readOneRow<{ bytes: number }>(reserved, { workspaceId, createdAt })
          if (kept.bytes + open.bytes + file.maxBytes > quota) throw fail('storage_limit_exceeded', { limit: quota })
        }
        yield* writeRows(insert, toValues(file))
      },
      *finalizeFile(id, sizeBytes, at) {
        const file = yield* lockFile(id)
        if (!file) throw fail('not_found', { what: 'file' })
        if (file.finalizedAt !== null) return
        yield* writeRows('update file set size_bytes = :sizeBytes, finalized_at = :at where id = :id', {
          id,
          sizeBytes,
          at,
        })
        yield* writeRows(addTotal, { workspaceId: file.workspaceId, files: 1, bytes: sizeBytes })
      },
      *deleteFile(id) {
        const file = yield* lockFile(id)
        if (!file) return
        yield* writeRows('delete from file where id = :id', { id })
        // An insertion of a negative sum would violate the constraint before it conflicts.
        if (file.sizeBytes !== null)
          yield* writeRows(
            'update file_total set files = files - 1, bytes = bytes - :bytes where workspace_id = :workspaceId',
            {
              workspaceId: file.workspaceId,
              bytes: file.sizeBytes,
            },
          )
      },
    },
  }
}
