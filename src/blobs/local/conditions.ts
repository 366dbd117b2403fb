/** The conditions under which an object is asked for. Source: RFC 9110, section 13. */
import type { ObjectInfo } from './disk.ts'
import { S3Error } from './s3-error.ts'

/**
 * @param prefix of the headers: `x-amz-copy-source-` for the source of a copy
 * @returns true where the client has this object already
 * @throws S3Error `PreconditionFailed` where it wants another one
 */
export function hasCurrent(
  info: ObjectInfo,
  headers: Readonly<Record<string, string>>,
  prefix: '' | 'x-amz-copy-source-' = '',
): boolean {
  const [match, noneMatch] = [headers[`${prefix}if-match`], headers[`${prefix}if-none-match`]]
  const modifiedSince = momentIn(headers[`${prefix}if-modified-since`])
  const unmodifiedSince = momentIn(headers[`${prefix}if-unmodified-since`])
  // Dates have no fractions of a second.
  const modified = Math.floor(info.modifiedAt / 1000) * 1000
  if (match !== undefined ? !names(match, info.etag) : unmodifiedSince !== undefined && modified > unmodifiedSince)
    throw new S3Error('PreconditionFailed', 412, 'The object is not the one that the request names.')
  if (noneMatch !== undefined) return names(noneMatch, info.etag)
  return modifiedSince !== undefined && modified <= modifiedSince
}

/** A list of tags, with or without quotation marks; `*` is any. A weak tag is that of no object here. */
const names = (list: string, etag: string): boolean =>
  list.split(',').some((each) => ['*', etag, etag.replaceAll('"', '')].includes(each.trim()))

/** A date that cannot be read is no condition. */
function momentIn(text: string | undefined): number | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}
