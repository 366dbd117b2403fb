import type { FileId, WorkspaceId } from '../base/ids.ts'
import type { Instant } from '../base/clock.ts'
import type { FileReference } from './api.ts'

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

export type { FileReference as FileRef }

export const isFileRef = (value: unknown): value is FileReference =>
  typeof value === 'object' &&
  value !== null &&
  (value as { svcFile?: unknown }).svcFile === true &&
  typeof (value as { filename?: unknown }).filename === 'string'
