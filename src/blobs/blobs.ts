import type { Instant } from '../base/clock.ts'

/** Object storage by key. The only implementation is an S3 client; the embedded storage is an S3-compatible server. */
export interface PresignedUpload {
  readonly url: string
  /** Headers that the client must send unchanged. */
  readonly headers: Readonly<Record<string, string>>
}

export interface BlobInfo {
  readonly sizeBytes: number
  readonly mediaType: string | undefined
}

export interface Blobs {
  /**
   * Returns an address to which a client may PUT without our credentials.
   * @param maxBytes upper bound; the embedded storage stops the stream there, and the caller of any storage checks it at `head`
   * @param seconds lifetime of the address, 1 to 604800
   * @param askedAs host name by which the client reached this machine. The address uses it when the storage listens on all
   *   addresses of the machine and no other name is configured
   *
   * Source: docs/design/http.md#files
   */
  presignPut(
    key: string,
    mediaType: string,
    maxBytes: number,
    seconds: number,
    askedAs?: string,
  ): Promise<PresignedUpload>
  head(key: string): Promise<BlobInfo | undefined>
  /** Copies to the new key, then deletes the old one. */
  move(from: string, to: string): Promise<void>
  /** @param range first byte and number of bytes */
  get(key: string, range?: { readonly offset: number; readonly length: number }): Promise<Uint8Array | undefined>
  /** @param lockedUntil until when nobody may delete or overwrite this version (object lock in compliance mode) */
  put(key: string, bytes: Uint8Array, mediaType: string, lockedUntil?: Instant): Promise<void>
  delete(key: string): Promise<void>
  close(): Promise<void>
}
