/** The XML documents of S3 responses. */
import { toIsoText, type Instant } from '../../base/clock.ts'
import type { S3Error } from './s3-error.ts'

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'

export function errorXml({ code, message, region }: S3Error, resource: string, requestId: string): string {
  return (
    HEAD +
    element('Error', tags({ Code: code, Message: message, Region: region, Resource: resource, RequestId: requestId }))
  )
}

export const copyXml = (etag: string, modifiedAt: Instant): string =>
  HEAD + element('CopyObjectResult', tags({ LastModified: toIsoText(modifiedAt), ETag: etag }), NAMESPACE)

export const bucketsXml = (bucket: string): string =>
  HEAD +
  element(
    'ListAllMyBucketsResult',
    element('Owner', tags({ ID: 'svc', DisplayName: 'svc' })) +
      element('Buckets', element('Bucket', tags({ Name: bucket, CreationDate: '1970-01-01T00:00:00.000Z' }))),
    NAMESPACE,
  )

/** S3 reports the region us-east-1 as an empty element. */
export const locationXml = (region: string): string =>
  HEAD + element('LocationConstraint', region === 'us-east-1' ? '' : escape(region), NAMESPACE)

export interface ObjectListing {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter: string
  readonly maxKeys: number
  readonly startAfter: string
  readonly token: string | undefined
  /** The last key of this page, when more pages follow. */
  readonly next: string | undefined
  /** True when the client asked for percent-encoded keys. */
  readonly encoded: boolean
  readonly objects: readonly {
    readonly key: string
    readonly sizeBytes: number
    readonly etag: string
    readonly modifiedAt: Instant
  }[]
  readonly prefixes: readonly string[]
}

export function listXml(listing: ObjectListing): string {
  const name = (text: string): string => (listing.encoded ? encodeURIComponent(text).replaceAll('%2F', '/') : text)
  const contents = listing.objects.map(({ key, modifiedAt, etag, sizeBytes }) =>
    element(
      'Contents',
      tags({
        Key: name(key),
        LastModified: toIsoText(modifiedAt),
        ETag: etag,
        Size: String(sizeBytes),
        StorageClass: 'STANDARD',
      }),
    ),
  )
  const prefixes = listing.prefixes.map((prefix) => element('CommonPrefixes', tags({ Prefix: name(prefix) })))
  const about = tags({
    Name: listing.bucket,
    Prefix: name(listing.prefix),
    MaxKeys: String(listing.maxKeys),
    IsTruncated: String(listing.next !== undefined),
    Delimiter: listing.delimiter === '' ? undefined : name(listing.delimiter),
    KeyCount: String(contents.length + prefixes.length),
    StartAfter: listing.startAfter === '' ? undefined : name(listing.startAfter),
    ContinuationToken: listing.token,
    NextContinuationToken: listing.next && Buffer.from(listing.next).toString('base64url'),
    EncodingType: listing.encoded ? 'url' : undefined,
  })
  return HEAD + element('ListBucketResult', about + contents.join('') + prefixes.join(''), NAMESPACE)
}

const tags = (values: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(values)
    .map(([name, text]) => (text === undefined ? '' : element(name, escape(text))))
    .join('')

const element = (name: string, inside: string, namespace?: string): string =>
  `<${name}${namespace ? ` xmlns="${namespace}"` : ''}>${inside}</${name}>`

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const SPECIAL = new RegExp(String.raw`[&<>"\x00-\x1f\x7f]`, 'g')
const escape = (text: string): string =>
  text.replace(SPECIAL, (each) => NAMED[each] ?? `&#x${each.charCodeAt(0).toString(16)};`)
