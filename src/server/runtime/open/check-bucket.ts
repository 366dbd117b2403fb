/** Checks that a bucket works before a server accepts files. */
import { randomUUID } from 'node:crypto'
import type { Blobs } from '../../../blobs/blobs.ts'
import { fail } from '../../../base/failure.ts'
import { openS3 } from './storage.ts'

const WITHIN_MS = 5000

/** Puts a small object, reads it back and deletes it. @throws Failure `bucket_unusable` */
export async function checkBucket(blobs: Blobs, url: string): Promise<void> {
  const bucket = `s3://${new URL(url).host}`
  const key = `svc-check/${randomUUID()}`
  let doing = 'put an object'
  const check = async (): Promise<void> => {
    await blobs.put(key, new TextEncoder().encode('svc'), 'text/plain')
    doing = 'get an object'
    if ((await blobs.get(key)) === undefined) throw new Error('it was not there after it was put')
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
    throw fail('bucket_unusable', { bucket, why: `to ${doing} failed (${describeCause(error)})` }, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** Checks the bucket at an address. @throws Failure `bucket_unusable`, `config_invalid` */
export async function checkBucketAt(url: string, region = 'us-east-1'): Promise<void> {
  const opened = openS3(url, region)
  try {
    await checkBucket(opened.blobs, url)
  } finally {
    await opened.close(0)
  }
}

/** The name of an AWS error says more than its message. */
function describeCause(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeCause(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  const name = error.name === 'Error' || error.name === '' ? '' : `${error.name}: `
  return `${name}${error.message || ((error as { code?: string }).code ?? 'unknown')}`.replace(/\.$/, '')
}
