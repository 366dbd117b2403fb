/** Reads the body of an upload: decodes chunks, limits the size and verifies the client's checksums. */
import { createHash, type Hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { S3Error } from './s3-error.ts'

/** Encoding that the AWS client uses for a stream: chunks, followed by a checksum. */
const CHUNKED = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'

const SHA256 = /^[0-9a-f]{64}$/

/** Longer than any chunk header or trailer. */
const MAX_LINE_BYTES = 4096

/**
 * @param payload the signed `x-amz-content-sha256`: a SHA-256, `UNSIGNED-PAYLOAD`, or the name of a streaming encoding
 * @param maxBytes a longer body fails with `EntityTooLarge`
 * @throws S3Error while the body is read, at the latest after the last byte
 */
export async function* readPayload(
  body: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
  payload: string,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (payload.startsWith('STREAMING-') && payload !== CHUNKED)
    throw new S3Error('NotImplemented', 501, `${payload} is not offered.`)
  const chunked = payload === CHUNKED
  if (!chunked && payload !== 'UNSIGNED-PAYLOAD' && !SHA256.test(payload))
    throw new S3Error('InvalidArgument', 400, 'x-amz-content-sha256 is neither a digest nor UNSIGNED-PAYLOAD.')
  const stated = headers[chunked ? 'x-amz-decoded-content-length' : 'content-length']
  const announced = stated === undefined ? undefined : Number(stated)
  if (announced !== undefined && announced > maxBytes) throw tooLarge(maxBytes)

  const trailers: Record<string, string> = {}
  const checks = createChecksums(headers, payload)
  let sizeBytes = 0
  for await (const chunk of chunked ? decodeChunks(body, trailers) : body) {
    sizeBytes += chunk.byteLength
    if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
    for (const check of checks) check.update(chunk)
    yield chunk
  }
  if (announced !== undefined && announced !== sizeBytes)
    throw new S3Error('IncompleteBody', 400, 'The length of the body differs from the stated length.')
  for (const check of checks) check.compare({ ...headers, ...trailers })
}

const tooLarge = (maxBytes: number): S3Error =>
  new S3Error('EntityTooLarge', 400, `The upload is longer than its ${maxBytes} bytes.`)

interface PayloadChecksum {
  update(chunk: Uint8Array): void
  compare(stated: Readonly<Record<string, string>>): void
}

function createChecksums(headers: Readonly<Record<string, string>>, payload: string): PayloadChecksum[] {
  const announced = new Set([...Object.keys(headers), ...(headers['x-amz-trailer'] ?? '').toLowerCase().split(/, */)])
  const checks: PayloadChecksum[] = []
  if (SHA256.test(payload)) checks.push(hashCheck('sha256', 'hex', () => payload, 'XAmzContentSHA256Mismatch'))
  if (announced.has('content-md5')) checks.push(hashCheck('md5', 'base64', (all) => all['content-md5'], 'BadDigest'))
  for (const name of ['sha1', 'sha256'] as const)
    if (announced.has(`x-amz-checksum-${name}`))
      checks.push(hashCheck(name, 'base64', (all) => all[`x-amz-checksum-${name}`], 'BadDigest'))
  if (announced.has('x-amz-checksum-crc32')) checks.push(crcCheck())
  return checks
}

function hashCheck(
  algorithm: string,
  encoding: 'hex' | 'base64',
  statedIn: (all: Readonly<Record<string, string>>) => string | undefined,
  code: string,
): PayloadChecksum {
  const hash: Hash = createHash(algorithm)
  return {
    update: (chunk) => void hash.update(chunk),
    compare(all) {
      if (hash.digest(encoding) !== statedIn(all)) throw mismatch(code)
    },
  }
}

function crcCheck(): PayloadChecksum {
  let value = 0
  return {
    update: (chunk) => void (value = crc32(chunk, value)),
    compare(all) {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(value)
      if (bytes.toString('base64') !== all['x-amz-checksum-crc32']) throw mismatch('BadDigest')
    },
  }
}

const mismatch = (code: string): S3Error => new S3Error(code, 400, 'The checksum does not match the bytes of the body.')

/** `<size in hex>[;extension]CRLF <bytes> CRLF … 0 CRLF <trailer: value CRLF>… CRLF` */
async function* decodeChunks(
  body: AsyncIterable<Uint8Array>,
  trailers: Record<string, string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = createReader(body)
  for (;;) {
    const size = /^[0-9a-f]{1,8}(?=;|$)/i.exec(await reader.line())
    if (!size) throw malformed()
    let left = Number.parseInt(size[0], 16)
    if (left === 0) break
    while (left > 0) {
      const bytes = await reader.take(left)
      left -= bytes.byteLength
      yield bytes
    }
    if ((await reader.line()) !== '') throw malformed()
  }
  for (let line = await reader.line(); line !== ''; line = await reader.line()) {
    const colon = line.indexOf(':')
    if (colon < 0) throw malformed()
    trailers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim()
  }
}

function createReader(body: AsyncIterable<Uint8Array>) {
  const source = body[Symbol.asyncIterator]()
  let buffered: Buffer = Buffer.alloc(0)
  const readMore = async (): Promise<void> => {
    const { done, value } = await source.next()
    if (done) throw malformed()
    buffered = Buffer.concat([buffered, value])
  }
  return {
    /** Returns the bytes up to the next CRLF, without it. */
    async line(): Promise<string> {
      for (;;) {
        const end = buffered.indexOf('\r\n')
        if (end >= 0) {
          const text = buffered.toString('latin1', 0, end)
          buffered = buffered.subarray(end + 2)
          return text
        }
        if (buffered.byteLength > MAX_LINE_BYTES) throw malformed()
        await readMore()
      }
    },
    /** Returns at least one byte, at most `count`. */
    async take(count: number): Promise<Buffer> {
      if (buffered.byteLength === 0) await readMore()
      const taken = buffered.subarray(0, count)
      buffered = buffered.subarray(taken.byteLength)
      return taken
    },
  }
}

const malformed = (): S3Error => new S3Error('IncompleteBody', 400, 'The chunks of the body cannot be read.')
