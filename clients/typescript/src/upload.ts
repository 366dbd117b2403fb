import { SvcError } from './error.ts'
import { mediaTypeOf } from './media-type.ts'
import type { FileItem, Finalized, FinalizeBody, PresignBody, Presigned } from './generated/api.ts'
import type { PlatformBlob, PlatformStream } from './platform.ts'
import type { FileRef } from './shapes.ts'
import { sendRequest, type RequestOptions, type ClientTransport } from './transport.ts'

/** A file on a disk is given as a blob: `openAsBlob(path)` of `node:fs`. Nothing here needs Node, so any bundler takes it. */
export type UploadSource = PlatformBlob | Uint8Array | ArrayBuffer | PlatformStream

export interface UploadOptions extends RequestOptions {
  /** A label; the file's own name when absent. */
  readonly filename?: string
  /** When absent: the blob's own, else by the name's ending, else `application/octet-stream`. */
  readonly mediaType?: string
  /** Bytes of a stream; its length is needed before it is read. */
  readonly size?: number
}

export interface UploadedFile {
  readonly objectKey: string
  /** Leaf of `objectKey`. */
  readonly filename: string
  readonly mediaType: string
}

/** The file as a value inside a run's `input`. */
export const fileRef = (upload: UploadedFile): Required<FileRef> => ({
  svcFile: true,
  filename: upload.filename,
  mediaType: upload.mediaType,
})

/** The file as an item of a message's `files`. */
export const fileItem = (upload: UploadedFile): FileItem => ({
  svcFile: true,
  objectKey: upload.objectKey,
  filename: upload.filename,
  mediaType: upload.mediaType,
})

interface FileLibrary {
  presignFile(body: PresignBody, options: RequestOptions): Promise<Presigned>
  finalizeFile(body: FinalizeBody, options: RequestOptions): Promise<Finalized>
}

export async function uploadFile(
  library: FileLibrary,
  transport: ClientTransport,
  source: UploadSource,
  options: UploadOptions,
): Promise<UploadedFile> {
  const { body, size, name, type } = toBody(source, options.size)
  const filename = options.filename ?? (name || 'file')
  const mediaType = options.mediaType ?? (type || mediaTypeOf(filename))
  const asked = { filename, mediaType, maxContentLength: size }
  const presign = () => library.presignFile(asked, options)

  const address = await putWithFreshAddress(presign, async (presigned) => {
    const headers =
      body instanceof ReadableStream
        ? { ...presigned.requiredHeaders, 'Content-Length': String(size) }
        : presigned.requiredHeaders
    await sendRequest(
      transport,
      { method: presigned.httpMethod, url: presigned.uploadUrl, headers, body },
      { timeoutMs: presigned.expiresInSeconds * 1000, ...options },
    )
  })
  await library.finalizeFile({ objectKey: address.objectKey, ...asked }, options)
  const leaf = address.objectKey.slice(address.objectKey.lastIndexOf('/') + 1)
  return { objectKey: address.objectKey, filename: leaf, mediaType }
}

/** An address that has expired is asked for once more. */
async function putWithFreshAddress(
  presign: () => Promise<Presigned>,
  put: (presigned: Presigned) => Promise<void>,
): Promise<Presigned> {
  const first = await presign()
  try {
    await put(first)
    return first
  } catch (error) {
    if (!(error instanceof SvcError && error.status === 403 && /expired/i.test(error.body))) throw error
    const second = await presign()
    await put(second)
    return second
  }
}

interface Body {
  readonly body: Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  readonly size: number
  readonly name?: string
  readonly type?: string
}

function toBody(source: UploadSource, size: number | undefined): Body {
  if (source instanceof ReadableStream) {
    if (size === undefined) throw new TypeError('A stream is uploaded with its `size` in bytes.')
    return { body: source, size }
  }
  if (source instanceof Blob) {
    const { size: length, type } = source
    return { body: source, size: length, type, ...('name' in source && { name: String(source.name) }) }
  }
  // Anything else would become an empty file without a word.
  if (!(source instanceof ArrayBuffer || source instanceof Uint8Array))
    throw new TypeError(
      'A file is a Blob, a Uint8Array, an ArrayBuffer or a ReadableStream; in Node, openAsBlob(path) makes a Blob of a path.',
    )
  const bytes = new Uint8Array(source)
  return { body: bytes, size: bytes.byteLength }
}
