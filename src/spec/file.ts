import type { FileId, WorkspaceId } from '../base/ids.ts'
import type { Instant } from '../base/clock.ts'

/** A file of the workspace, from presign on. */
export interface StoredFile {
  readonly id: FileId
  readonly workspaceId: WorkspaceId
  /** `<workspace id>/files/<uuidv7>-<sanitised name>`. */
  readonly objectKey: string
  /** Where the presigned PUT writes; finalize moves it to `objectKey`. Empty once the upload is closed. */
  readonly stagingKey: string
  /** Leaf of `objectKey`, unique in the workspace. */
  readonly filename: string
  readonly mediaType: string
  readonly maxBytes: number
  readonly sizeBytes: number | null
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly finalizedAt: Instant | null
}

/** A stored file marked inside a run's `input`. Source: HTTP API, "File reference inside a run input". */
export interface FileRef {
  readonly svcFile: true
  readonly filename: string
  readonly mediaType?: string
}

export const isFileRef = (value: unknown): value is FileRef =>
  typeof value === 'object' &&
  value !== null &&
  (value as { svcFile?: unknown }).svcFile === true &&
  typeof (value as { filename?: unknown }).filename === 'string'
