/** Checks that a bucket works before a server accepts files. */
import { randomUUID } from 'node:crypto'
import type { Blobs } from '../../../blobs/blobs.ts'
import { fail, isFailure } from '../../../base/failure.ts'
import { describeBucketError } from '../../../blobs/s3-failure.ts'
import { openS3 } from './storage.ts'

const WITHIN_MS = 5000
const CONTENT = 'svc'

/** Puts a small object, reads it back and deletes it. @throws Failure `bucket_unusable` */
export async function checkBucket(blobs: Blobs, url: string): Promise<void> {
  const bucket = `s3://${new URL(url).host}`
  const key = `svc-check/${randomUUID()}`
  let doing = 'put an object'
  const check = async (): Promise<void> => {
    await blobs.put(key, new TextEncoder().encode(CONTENT), 'text/plain')
    doing = 'get an object'
    const read = await blobs.get(key)
    if (!read) throw new Error('it was not there after it was put')
    // Such as the page of a proxy that answers everything.
    if (new TextDecoder().decode(read) !== CONTENT) throw new Error('it was not what had been put')
    doing = 'delete an object'
    await blobs.delete(key)
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${WITHIN_MS / 1000} s`)), WITHIN_MS)
  })
  try {
    await Promise.race([check(), late])
  } catch (error) {
    if (isFailure(error, 'bucket_unusable')) throw error
    throw fail(
      'bucket_unusable',
      { bucket, why: `to ${doing} failed (${describeBucketError(error)})` },
      { cause: error },
    )
  } finally {
    clearTimeout(timer)
  }
}

/** Checks the bucket at an address. @throws Failure `bucket_unusable`, `config_invalid` */
export async function checkBucketAt(url: string, region?: string): Promise<void> {
  const opened = openS3(url, region)
  try {
    await checkBucket(opened.blobs, url)
  } finally {
    await opened.close(0)
  }
}
