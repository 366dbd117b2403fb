import type { S3Client } from '@aws-sdk/client-s3'
import { fail } from '../base/failure.ts'
import type { Blobs, BlobInfo } from './blobs.ts'
import { MAX_LENGTH_PARAMETER } from './max-length.ts'
import { refusesEncryption, saysMissing, s3StatusOf, toBucketFailure } from './s3-failure.ts'

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

/** A storage that sends nothing for so long is away: it answers small requests at once, and large ones piece by piece. */
const CONNECT_MS = 3000
const SILENT_MS = 10_000

/**
 * Connects to any S3-compatible storage, including the embedded one. Loads the AWS client at the first call. Each method throws the
 * failure `bucket_unusable` where the storage does not do what is asked.
 */
export function createS3Blobs(options: S3Options): Blobs {
  const { bucket: Bucket, anyName = false } = options
  let loaded: Promise<LoadedS3Sdk> | undefined
  const load = (): Promise<LoadedS3Sdk> => (loaded ??= loadS3Sdk(options))
  /** False once the storage has refused to be asked for encryption. */
  let encrypts = true

  async function asking<T>(doing: string, call: (loaded: LoadedS3Sdk) => Promise<T>): Promise<T> {
    try {
      return await call(await load())
    } catch (error) {
      throw toBucketFailure(error, Bucket, doing)
    }
  }
  async function encrypted<T>(send: (more: { ServerSideEncryption?: 'AES256' }) => Promise<T>): Promise<T> {
    if (!encrypts) return await send({})
    try {
      return await send({ ServerSideEncryption: 'AES256' })
    } catch (error) {
      if (!refusesEncryption(error)) throw error
      const answer = await send({})
      encrypts = false
      return answer
    }
  }

  const blobs: Blobs = {
    async presignPut(key, mediaType, maxBytes, seconds, askedAs) {
      const { sdk, uploads, getSignedUrl } = await load()
      const encryption = encrypts ? ({ ServerSideEncryption: 'AES256' } as const) : {}
      const command = new sdk.PutObjectCommand({ Bucket, Key: key, ContentType: mediaType, ...encryption })
      command.middlewareStack.add(
        (next) => (args) => {
          const request = args.request as { query: Record<string, string>; hostname: string }
          request.query[MAX_LENGTH_PARAMETER] = String(maxBytes)
          if (anyName && askedAs !== undefined) request.hostname = askedAs
          return next(args)
        },
        { step: 'build', name: 'svcMaxLength' },
      )
      const url = await asking('sign an address', () =>
        getSignedUrl(uploads, command, {
          expiresIn: seconds,
          // The upload must send these as headers; they must not become parameters of the address.
          signableHeaders: new Set(['host', 'content-type', ENCRYPTION]),
          unhoistableHeaders: new Set([ENCRYPTION]),
        }),
      )
      return { url, headers: { 'Content-Type': mediaType, ...(encrypts && { [ENCRYPTION]: 'AES256' }) } }
    },
    head: (key) =>
      asking('measure an object', async ({ sdk, client }): Promise<BlobInfo | undefined> => {
        try {
          const head = await client.send(new sdk.HeadObjectCommand({ Bucket, Key: key }))
          // Some proxies drop the length, and a limit would be compared with nothing.
          const sizeBytes = head.ContentLength ?? (await blobs.get(key))?.length
          return sizeBytes === undefined ? undefined : { sizeBytes, mediaType: head.ContentType }
        } catch (error) {
          // Its answer has no body that could say more.
          if (s3StatusOf(error) === 404) return undefined
          throw error
        }
      }),
    async move(from, to) {
      const CopySource = `${Bucket}/${from.split('/').map(encodeURIComponent).join('/')}`
      const copied = await asking('copy an object', ({ sdk, client }) =>
        undefinedIfMissing(() =>
          encrypted((more) => client.send(new sdk.CopyObjectCommand({ Bucket, Key: to, CopySource, ...more }))),
        ),
      )
      if (!copied) throw fail('not_uploaded')
      await blobs.delete(from)
    },
    async get(key, range) {
      if (range && range.length <= 0) return (await blobs.head(key)) && new Uint8Array()
      const Range = range && `bytes=${range.offset}-${range.offset + range.length - 1}`
      return await asking('get an object', ({ sdk, client }) =>
        undefinedIfMissing(async () => {
          try {
            const answer = await client.send(new sdk.GetObjectCommand({ Bucket, Key: key, ...(Range && { Range }) }))
            const bytes = (await answer.Body?.transformToByteArray()) ?? new Uint8Array()
            // A storage, or a cache before it, may give the whole object.
            const isWhole = range && answer.$metadata.httpStatusCode === 200
            return isWhole ? bytes.subarray(range.offset, range.offset + range.length) : bytes
          } catch (error) {
            // 416: the object ends before the range begins.
            if (s3StatusOf(error) === 416) return new Uint8Array()
            throw error
          }
        }),
      )
    },
    async put(key, bytes, mediaType, lockedUntil) {
      await asking('put an object', ({ sdk, client }) =>
        encrypted((more) =>
          client.send(
            new sdk.PutObjectCommand({
              Bucket,
              Key: key,
              Body: bytes,
              ContentType: mediaType,
              ...more,
              ...(lockedUntil !== undefined && {
                ObjectLockMode: 'COMPLIANCE',
                ObjectLockRetainUntilDate: new Date(lockedUntil),
                // A lock is taken only with the checksum of what it locks.
                ChecksumAlgorithm: 'SHA256',
              }),
            }),
          ),
        ),
      )
    },
    async delete(key) {
      await asking('delete an object', ({ sdk, client }) =>
        // Google answers 404 where Amazon says that an absent object is deleted.
        undefinedIfMissing(() => client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key }))),
      )
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
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENT_MS },
    })
  return { sdk, getSignedUrl, client: createClient(endpoint), uploads: createClient(publicEndpoint ?? endpoint) }
}

async function undefinedIfMissing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (saysMissing(error)) return undefined
    throw error
  }
}
