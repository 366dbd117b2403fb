/** Conditional requests. Source: RFC 9110, section 13. */
import type { ObjectInfo } from './disk.ts'
import { S3Error } from './s3-error.ts'

/**
 * @param prefix of the headers: `x-amz-copy-source-` for the source of a copy
 * @returns true when the client already has this version of the object
 * @throws S3Error `PreconditionFailed` when the request requires a different version
 */
export function clientHasCurrent(
  info: ObjectInfo,
  headers: Readonly<Record<string, string>>,
  prefix: '' | 'x-amz-copy-source-' = '',
): boolean {
  const [match, noneMatch] = [headers[`${prefix}if-match`], headers[`${prefix}if-none-match`]]
  const modifiedSince = parseDate(headers[`${prefix}if-modified-since`])
  const unmodifiedSince = parseDate(headers[`${prefix}if-unmodified-since`])
  // HTTP dates have whole seconds.
  const modified = Math.floor(info.modifiedAt / 1000) * 1000
  if (
    match !== undefined ? !matchesEtag(match, info.etag) : unmodifiedSince !== undefined && modified > unmodifiedSince
  )
    throw new S3Error('PreconditionFailed', 412, 'The object is not the one that the request names.')
  if (noneMatch !== undefined) return matchesEtag(noneMatch, info.etag)
  return modifiedSince !== undefined && modified <= modifiedSince
}

/** Whether a list of ETags contains one, with or without quotation marks; `*` matches any. Weak ETags match no object. */
const matchesEtag = (list: string, etag: string): boolean =>
  list.split(',').some((each) => ['*', etag, etag.replaceAll('"', '')].includes(each.trim()))

/** Parses an HTTP date. An invalid date is ignored, as the RFC requires. */
function parseDate(text: string | undefined): number | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}
