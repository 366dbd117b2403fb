/** Objects by key. The only implementation is an S3 client: the embedded storage is an S3-compatible server of its own. */
export interface PresignedUpload {
  readonly url: string
  /** Headers the client must send exactly so. */
  readonly headers: Readonly<Record<string, string>>
}

export interface BlobInfo {
  readonly sizeBytes: number
  readonly mediaType: string | undefined
}

export interface Blobs {
  /**
   * An address to which a client may PUT without a key of ours.
   * @param maxBytes upper bound; the embedded storage cuts the stream there, any storage is checked again at `head`
   * @param seconds lifetime of the address, 1 to 604800
   * @param askedAs name by which the asker reached this machine: the address carries it where the storage listens on every
   *   address of the machine and no other name is configured
   *
   * Source: HTTP API, "POST /v1/file-library/presign"; decisions, section 11.
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
  put(key: string, bytes: Uint8Array, mediaType: string): Promise<void>
  delete(key: string): Promise<void>
  close(): Promise<void>
}
