import type { S3Client } from '@aws-sdk/client-s3'
import { fail } from '../base/failure.ts'
import type { Blobs, BlobInfo } from './blobs.ts'
import { MAX_LENGTH_PARAMETER } from './max-length.ts'

export interface S3Options {
  /** Amazon's own address for the region when absent. */
  readonly endpoint?: string
  /** Address of the storage for clients that upload; `endpoint` when absent. */
  readonly publicEndpoint?: string
  /** True when the storage listens on all addresses of this machine, so that a client may use any host name of it. */
  readonly anyName?: boolean
  readonly region: string
  readonly bucket: string
  /** Found by the AWS client in its usual places when absent. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  readonly forcePathStyle: boolean
}

const ENCRYPTION = 'x-amz-server-side-encryption'

/** Connects to any S3-compatible storage, including the embedded one. Loads the AWS client at the first call. */
export function createS3Blobs(options: S3Options): Blobs {
  const { bucket: Bucket, anyName = false } = options
  let loaded: Promise<LoadedS3Sdk> | undefined
  const load = (): Promise<LoadedS3Sdk> => (loaded ??= loadS3Sdk(options))

  const blobs: Blobs = {
    async presignPut(key, mediaType, maxBytes, seconds, askedAs) {
      const { sdk, uploads, getSignedUrl } = await load()
      const command = new sdk.PutObjectCommand({
        Bucket,
        Key: key,
        ContentType: mediaType,
        ServerSideEncryption: 'AES256',
      })
      command.middlewareStack.add(
        (next) => (args) => {
          const request = args.request as { query: Record<string, string>; hostname: string }
          request.query[MAX_LENGTH_PARAMETER] = String(maxBytes)
          if (anyName && askedAs !== undefined) request.hostname = askedAs
          return next(args)
        },
        { step: 'build', name: 'svcMaxLength' },
      )
      const url = await getSignedUrl(uploads, command, {
        expiresIn: seconds,
        // The upload must send these as headers; they must not become parameters of the address.
        signableHeaders: new Set(['host', 'content-type', ENCRYPTION]),
        unhoistableHeaders: new Set([ENCRYPTION]),
      })
      return { url, headers: { 'Content-Type': mediaType, [ENCRYPTION]: 'AES256' } }
    },
    async head(key) {
      const { sdk, client } = await load()
      return undefinedIfMissing(async (): Promise<BlobInfo> => {
        const head = await client.send(new sdk.HeadObjectCommand({ Bucket, Key: key }))
        return { sizeBytes: head.ContentLength ?? 0, mediaType: head.ContentType }
      })
    },
    async move(from, to) {
      const { sdk, client } = await load()
      const CopySource = `${Bucket}/${from.split('/').map(encodeURIComponent).join('/')}`
      const copied = await undefinedIfMissing(() =>
        client.send(new sdk.CopyObjectCommand({ Bucket, Key: to, CopySource, ServerSideEncryption: 'AES256' })),
      )
      if (!copied) throw fail('not_uploaded')
      await blobs.delete(from)
    },
    async get(key, range) {
      const { sdk, client } = await load()
      if (range && range.length <= 0) return (await blobs.head(key)) && new Uint8Array()
      const Range = range && `bytes=${range.offset}-${range.offset + range.length - 1}`
      try {
        return await undefinedIfMissing(async () => {
          const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: key, ...(Range && { Range }) }))
          return Body ? await Body.transformToByteArray() : new Uint8Array()
        })
      } catch (error) {
        // 416: the object ends before the range begins.
        if (statusOf(error) === 416) return new Uint8Array()
        throw error
      }
    },
    async put(key, bytes, mediaType, lockedUntil) {
      const { sdk, client } = await load()
      await client.send(
        new sdk.PutObjectCommand({
          Bucket,
          Key: key,
          Body: bytes,
          ContentType: mediaType,
          ServerSideEncryption: 'AES256',
          ...(lockedUntil !== undefined && {
            ObjectLockMode: 'COMPLIANCE',
            ObjectLockRetainUntilDate: new Date(lockedUntil),
            // A lock is taken only with the checksum of what it locks.
            ChecksumAlgorithm: 'SHA256',
          }),
        }),
      )
    },
    async delete(key) {
      const { sdk, client } = await load()
      await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key }))
    },
    async close() {
      const parts = await loaded
      parts?.client.destroy()
      parts?.uploads.destroy()
    },
  }
  return blobs
}

interface LoadedS3Sdk {
  readonly sdk: typeof import('@aws-sdk/client-s3')
  readonly getSignedUrl: typeof import('@aws-sdk/s3-request-presigner').getSignedUrl
  readonly client: S3Client
  /** Signs upload addresses; sends no requests. */
  readonly uploads: S3Client
}

async function loadS3Sdk({
  endpoint,
  publicEndpoint,
  region,
  credentials,
  forcePathStyle,
}: S3Options): Promise<LoadedS3Sdk> {
  // Otherwise the client warns users of Node 20 on stderr that it will need a newer Node some day.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true'
  const [sdk, { getSignedUrl }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
  ])
  const createClient = (at: string | undefined): S3Client =>
    new sdk.S3Client({
      region,
      forcePathStyle,
      ...(at !== undefined && { endpoint: at }),
      // A copy, because the client modifies the object it gets.
      ...(credentials && { credentials: { ...credentials } }),
      // Otherwise a presigned address contains the checksum of an empty body, which no upload matches.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    })
  return { sdk, getSignedUrl, client: createClient(endpoint), uploads: createClient(publicEndpoint ?? endpoint) }
}

async function undefinedIfMissing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (statusOf(error) === 404 && !(error instanceof Error && error.name === 'NoSuchBucket')) return undefined
    throw error
  }
}

const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode
