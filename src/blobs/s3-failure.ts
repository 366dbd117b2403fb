/** What a storage of files answered instead of what was asked, as the failure `bucket_unusable`. */
import { fail, isFailure, type Failure } from '../base/failure.ts'

/** What the AWS client adds to an error. */
interface S3Answer {
  readonly $metadata?: { readonly httpStatusCode?: number }
  /** Code in the XML of the answer; absent where a proxy answered, and of an answer without a body. */
  readonly Code?: string
}

export const s3StatusOf = (error: unknown): number | undefined =>
  (error as S3Answer | undefined)?.$metadata?.httpStatusCode

const codeOf = (error: unknown): string | undefined => (error as S3Answer | undefined)?.Code

/** True if the storage says that the object is not there. A page of a proxy says nothing about objects. */
export const saysMissing = (error: unknown): boolean =>
  s3StatusOf(error) === 404 && codeOf(error) !== undefined && codeOf(error) !== 'NoSuchBucket'

/**
 * True if the storage encrypts nothing by itself and refuses to be asked: MinIO without a key server (501), and others that do not know
 * the header.
 */
export const refusesEncryption = (error: unknown): boolean =>
  s3StatusOf(error) === 501 ||
  (s3StatusOf(error) === 400 &&
    error instanceof Error &&
    /^(Invalid|NotImplemented|Unsupported)/.test(error.name) &&
    /encrypt/i.test(error.message))

/** @param doing as in "to put an object failed" */
export function toBucketFailure(error: unknown, bucket: string, doing: string): Failure {
  if (isFailure(error)) return error
  const why = `to ${doing} failed (${describeBucketError(error)})`
  return fail('bucket_unusable', { bucket: `s3://${bucket}`, why }, { cause: error })
}

/** The name of an AWS error says more than its message, and the status where the answer has neither. */
export function describeBucketError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeBucketError(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  const { name, message } = error
  if (/Timeout/.test(name) && message.includes('node-http-handler')) return 'no answer in time'
  const status = s3StatusOf(error)
  if (message === 'UnknownError' || message === '')
    return status === undefined ? ((error as { code?: string }).code ?? name) : `HTTP ${status} without an error of S3`
  const isNamed = name !== 'Error' && name !== '' && name !== 'Unknown'
  const named = isNamed ? name : status !== undefined && `HTTP ${status}`
  return [...(named ? [named] : []), message].join(': ').replace(/\.$/, '')
}
