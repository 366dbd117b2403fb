/** Opens the storage of files: the embedded server on its own address, or the S3 bucket of the configuration. */
import { join } from 'node:path'
import { openLocalStorage } from '../../../blobs/local/serve.ts'
import { createS3Blobs } from '../../../blobs/s3.ts'
import type { Blobs } from '../../../blobs/blobs.ts'
import type { Clock } from '../../../base/clock.ts'
import { showAddress } from '../../../base/net/show-address.ts'
import { fail, type Failure } from '../../../base/failure.ts'
import type { Log } from '../../../base/log.ts'
import type { ProjectConfig } from '../../../spec/project/config.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export interface ObjectStorage {
  readonly blobs: Blobs
  /** Base address of uploads. */
  readonly url: string
  /** Port of the embedded storage. */
  readonly port?: number
  close(graceMs: number): Promise<void>
}

interface EmbeddedOptions {
  /** The data directory; objects are kept in `objects/` below it. */
  readonly directory: string
  readonly host: string
  readonly port: number
  /** Additional names accepted in a Host header. */
  readonly hosts: readonly string[]
  /** Address at which uploaders reach the listener, such as that of a reverse proxy. */
  readonly publicUrl?: string | undefined
  readonly clock: Clock
  readonly log: Log
}

/** @throws Failure `port_taken`, `config_invalid` */
export const openStorage = async ({ storage }: ProjectConfig, embedded: EmbeddedOptions): Promise<ObjectStorage> =>
  storage?.url === undefined ? await openEmbedded(embedded) : openS3(storage.url, storage.region, storage.public_url)

/** @throws Failure `port_taken`, `config_invalid` */
export async function openEmbedded({ directory, publicUrl, ...options }: EmbeddedOptions): Promise<ObjectStorage> {
  const outside = publicUrl === undefined ? undefined : originOf(publicUrl)
  const server = await openLocalStorage({
    ...options,
    directory: join(directory, 'objects'),
    hosts: [...options.hosts, ...(outside ? [outside.hostname] : [])],
  })
  const { endpoint, anyName, region, bucket, credentials, url } = server
  const blobs = createS3Blobs({
    endpoint,
    region,
    bucket,
    credentials,
    forcePathStyle: true,
    ...(outside ? { publicEndpoint: outside.origin } : { anyName }),
  })
  return {
    blobs,
    url: outside?.origin ?? url,
    port: Number(new URL(url).port),
    async close(graceMs) {
      await blobs.close()
      await server.close(graceMs)
    },
  }
}

/**
 * @param url `s3://bucket[?endpoint=https://…][&region=…]`; credentials are found where the AWS client looks for them
 * @param region decides over that of the address
 * @throws Failure `config_invalid`
 */
export function openS3(url: string, region?: string, publicUrl?: string): ObjectStorage {
  const { bucket, endpoint, ...named } = readBucketUrl(url)
  const place = region ?? named.region ?? 'us-east-1'
  const outside = publicUrl === undefined ? undefined : originOf(publicUrl).origin
  const blobs = createS3Blobs({
    region: place,
    bucket,
    forcePathStyle: endpoint !== null,
    ...(endpoint !== null && { endpoint }),
    ...(outside !== undefined && { publicEndpoint: outside }),
  })
  return {
    blobs,
    url: outside ?? endpoint ?? `https://${bucket}.s3.${place}.amazonaws.com`,
    close: () => blobs.close(),
  }
}

/** Refuses what would be left unread: files would go to another place than the one that was written, and keys into the log. */
function readBucketUrl(url: string) {
  const { protocol, host: bucket, username, port, pathname, searchParams } = parseUrl(url) ?? new URL('invalid://')
  const refuse = (why: string): Failure => fail('config_invalid', { what: `storage.url ${showAddress(url)} ${why}` })
  if (protocol !== 's3:' || bucket === '' || port !== '' || !/^\/?$/.test(pathname))
    throw refuse('is not of the form s3://bucket?endpoint=…')
  const endpoint = searchParams.get('endpoint')
  const at = endpoint === null ? undefined : parseUrl(endpoint)
  if (username !== '' || (at && `${at.username}${at.password}` !== ''))
    throw refuse('has credentials: they belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  if (endpoint !== null && !/^https?:$/.test(at?.protocol ?? ''))
    throw refuse('has an endpoint that is not of the form https://host[:port]')
  return { bucket, endpoint, region: searchParams.get('region') ?? undefined }
}

/** Refuses a path, since it would be signed as part of the bucket's path. */
function originOf(publicUrl: string): URL {
  const url = parseUrl(publicUrl)
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw fail('config_invalid', {
      what: `storage.public_url ${showAddress(publicUrl)} is not of the form https://host[:port]`,
    })
  return url
}
