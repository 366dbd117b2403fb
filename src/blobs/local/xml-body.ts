/** Parses the two XML documents that clients send: the objects to delete, and the parts of an upload. */
import { S3Error } from './s3-error.ts'

/** Enough for 1,000 keys or 10,000 parts, which are the limits of S3 too. */
const MAX_BYTES = 2 * 1024 * 1024
const MAX_KEYS = 1000

/** @throws S3Error `MalformedXML` */
export async function readXmlBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > MAX_BYTES) throw malformed()
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  // S3 documents have no declarations or CDATA sections, which could hide content from this parser.
  if (text.includes('<!')) throw malformed()
  return text
}

/** Parses `<Delete>` with its keys. */
export function readDelete(xml: string): { readonly keys: readonly string[]; readonly quiet: boolean } {
  const objects = elementsIn(xml, 'Object')
  if (objects.length === 0 || objects.length > MAX_KEYS) throw malformed()
  if (objects.some((each) => each.includes('<VersionId>')))
    throw new S3Error('NotImplemented', 501, 'Versions of objects are not offered.')
  return { keys: objects.map((each) => textIn(each, 'Key')), quiet: /<Quiet>\s*true\s*<\/Quiet>/.test(xml) }
}

/** Parses `<CompleteMultipartUpload>` with its parts, in the order sent. */
export function readParts(xml: string): readonly { readonly number: number; readonly etag: string }[] {
  const parts = elementsIn(xml, 'Part')
  if (parts.length === 0) throw malformed()
  return parts.map((each) => ({ number: Number(textIn(each, 'PartNumber')), etag: textIn(each, 'ETag').trim() }))
}

function elementsIn(xml: string, name: string): readonly string[] {
  const [, ...rest] = xml.split(`<${name}>`)
  return rest.map((each) => {
    const end = each.indexOf(`</${name}>`)
    if (end < 0) throw malformed()
    return each.slice(0, end)
  })
}

function textIn(xml: string, name: string): string {
  const [text, ...more] = elementsIn(xml, name)
  if (text === undefined || more.length > 0 || text.includes('<')) throw malformed()
  return text.replaceAll(/&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi, (_, named, decimal, hex) =>
    typeof named === 'string' ? NAMED[named]! : characterOf(Number.parseInt(String(decimal ?? hex), decimal ? 10 : 16)),
  )
}

function characterOf(code: number): string {
  if (code > 0x10ffff) throw malformed()
  return String.fromCodePoint(code)
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const malformed = (): S3Error => new S3Error('MalformedXML', 400, 'The document of the request cannot be read.')
