/** Where files are kept: the embedded storage on an address of its own, or the S3 storage that the configuration names. */
import { join } from 'node:path'
import { openLocalStorage } from '../blobs/local/serve.ts'
import { createS3Blobs } from '../blobs/s3.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Clock } from '../base/clock.ts'
import { fail } from '../base/failure.ts'
import type { Log } from '../base/log.ts'

export interface Storage {
  readonly blobs: Blobs
  /** What uploads are sent to. */
  readonly url: string
  close(graceMs: number): Promise<void>
}

interface EmbeddedOptions {
  /** The data directory; objects are kept in `objects/` below it. */
  readonly directory: string
  readonly host: string
  readonly port: number
  /** Further names that a Host header may carry. */
  readonly hosts: readonly string[]
  readonly clock: Clock
  readonly log: Log
}

/** @throws Failure `port_taken` */
export async function openEmbedded({ directory, ...options }: EmbeddedOptions): Promise<Storage> {
  const server = await openLocalStorage({ ...options, directory: join(directory, 'objects') })
  const { endpoint, region, bucket, credentials, url } = server
  const blobs = createS3Blobs({ endpoint, region, bucket, credentials, forcePathStyle: true })
  return {
    blobs,
    url,
    async close(graceMs) {
      await blobs.close()
      await server.close(graceMs)
    },
  }
}

/**
 * @param url `s3://bucket[?endpoint=https://…]`; credentials are found where the AWS client looks for them
 * @throws Failure `config_invalid`
 */
export function openS3(url: string, region: string): Storage {
  const { protocol, host: bucket, searchParams } = URL.canParse(url) ? new URL(url) : new URL('invalid://')
  if (protocol !== 's3:' || bucket === '')
    throw fail('config_invalid', { what: `storage.url "${url}" is not of the form s3://bucket?endpoint=…` })
  const endpoint = searchParams.get('endpoint')
  const blobs = createS3Blobs({
    region,
    bucket,
    forcePathStyle: endpoint !== null,
    ...(endpoint !== null && { endpoint }),
  })
  return { blobs, url: endpoint ?? `https://${bucket}.s3.${region}.amazonaws.com`, close: () => blobs.close() }
}
