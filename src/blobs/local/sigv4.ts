/**
 * Whether a request was signed with our credentials, in its header or in its address. The signature is made again by the
 * same library that the AWS client signs with; nothing is canonicalised by hand. Source: decisions, section 11; security, S23.
 */
import { createHash, createHmac, timingSafeEqual, type Hash, type Hmac } from 'node:crypto'
import type { SignatureV4 } from '@smithy/signature-v4'
import type { Instant } from '../../base/clock.ts'
import { S3Error } from './s3-error.ts'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export interface SignedRequest {
  readonly method: string
  /** As it came, still percent-encoded. */
  readonly path: string
  readonly query: ReadonlyMap<string, string>
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

export interface VerifiedRequest {
  /** The hash that was signed for the body, or one of the words that stand in its place. */
  readonly payload: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const UNSIGNED = 'UNSIGNED-PAYLOAD'
const CLOCK_SKEW_MS = 5 * 60_000
/** Bounds of a presigned address's lifetime, as AWS has them. */
const LONGEST_SECONDS = 604_800

/** @throws S3Error with status 403 (400 where the signature cannot be read) */
export async function verifySignature(
  request: SignedRequest,
  credentials: S3Credentials,
  region: string,
  now: Instant,
): Promise<VerifiedRequest> {
  const inQuery = [...request.query.keys()].some((name) => IN_QUERY.test(name))
  // Which of two was meant, and what the other one permits, is not guessed.
  if (inQuery && request.headers['authorization'] !== undefined)
    throw new S3Error('InvalidArgument', 400, 'A request is signed in its header or in its address, not in both.')
  const stated = inQuery ? fromQuery(request) : fromHeader(request)
  if (!equal(stated.accessKeyId, credentials.accessKeyId))
    throw new S3Error('InvalidAccessKeyId', 403, 'The access key id is unknown.')
  if (stated.region !== region)
    throw new S3Error(
      'AuthorizationHeaderMalformed',
      400,
      `The request is signed for another region; this one is '${region}'.`,
      region,
    )
  const signedAt = momentOf(stated.date)
  if (stated.expiresInSeconds === undefined) {
    if (Math.abs(now - signedAt) > CLOCK_SKEW_MS) throw skewed()
  } else {
    if (signedAt > now + CLOCK_SKEW_MS) throw skewed()
    if (now > signedAt + stated.expiresInSeconds * 1000) throw new S3Error('AccessDenied', 403, 'Request has expired')
  }
  const headers = signedOnly(request, stated.signedHeaders)
  const signature = await (stated.expiresInSeconds === undefined ? signHeader : signQuery)(
    request,
    headers,
    stated,
    credentials,
  )
  if (!equal(signature, stated.signature))
    throw new S3Error('SignatureDoesNotMatch', 403, 'The signature is not the one of this request.')
  return { payload: stated.payload }
}

/** Any of them makes an address a signed one. */
const IN_QUERY = /^(?:x-amz-(?:signature|credential|algorithm)|signature|awsaccesskeyid)$/i

interface Stated {
  readonly accessKeyId: string
  readonly region: string
  /** `20261120T104200Z` */
  readonly date: string
  readonly signedHeaders: readonly string[]
  readonly signature: string
  readonly payload: string
  /** Of a presigned address only. */
  readonly expiresInSeconds?: number
}

function fromQuery({ query }: SignedRequest): Stated {
  const seconds = Number(query.get('X-Amz-Expires'))
  if (
    query.get('X-Amz-Algorithm') !== ALGORITHM ||
    !Number.isInteger(seconds) ||
    seconds < 1 ||
    seconds > LONGEST_SECONDS
  )
    throw unreadable()
  return {
    ...scopeOf(query.get('X-Amz-Credential') ?? ''),
    date: query.get('X-Amz-Date') ?? '',
    signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature: query.get('X-Amz-Signature') ?? '',
    payload: payloadIn(query)?.[1] ?? UNSIGNED,
    expiresInSeconds: seconds,
  }
}

function fromHeader({ headers }: SignedRequest): Stated {
  const authorization = headers['authorization']
  if (authorization === undefined) throw new S3Error('AccessDenied', 403, 'The request is not signed.')
  const parts = /^AWS4-HMAC-SHA256 +Credential=([^,\s]+), *SignedHeaders=([^,\s]+), *Signature=([0-9a-f]{64})$/.exec(
    authorization,
  )
  const payload = headers['x-amz-content-sha256']
  if (!parts || payload === undefined) throw unreadable()
  return {
    ...scopeOf(parts[1]!),
    date: headers['x-amz-date'] ?? '',
    signedHeaders: parts[2]!.split(';'),
    signature: parts[3]!,
    payload,
  }
}

/** `<access key id>/<day>/<region>/s3/aws4_request` */
function scopeOf(credential: string): { accessKeyId: string; region: string } {
  const [accessKeyId, , region, service, end, ...more] = credential.split('/')
  if (!accessKeyId || !region || service !== 's3' || end !== 'aws4_request' || more.length > 0) throw unreadable()
  return { accessKeyId, region }
}

function momentOf(date: string): Instant {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date)
  const moment = parts
    ? Date.parse(`${parts[1]}-${parts[2]}-${parts[3]}T${parts[4]}:${parts[5]}:${parts[6]}Z`)
    : Number.NaN
  if (Number.isNaN(moment)) throw unreadable()
  return moment
}

/**
 * The headers that were signed, all of which must be there. What would change the meaning of the request must be among
 * them: with one `x-amz-` header more, a presigned upload could be turned into a copy of another object.
 */
function signedOnly({ headers }: SignedRequest, names: readonly string[]): Record<string, string> {
  const signed: Record<string, string> = {}
  for (const name of names) {
    const value = headers[name]
    if (value === undefined) throw new S3Error('AccessDenied', 403, `The signed header ${name} is missing.`)
    signed[name] = value
  }
  const loose = Object.keys(headers).find((name) => name.startsWith('x-amz-') && !Object.hasOwn(signed, name))
  if (loose !== undefined) throw new S3Error('AccessDenied', 403, `The header ${loose} is not signed.`)
  if (!Object.hasOwn(signed, 'host')) throw new S3Error('AccessDenied', 403, 'The host is not signed.')
  return signed
}

async function signHeader(
  request: SignedRequest,
  headers: Record<string, string>,
  stated: Stated,
  credentials: S3Credentials,
): Promise<string> {
  const signed = await (
    await signerOf(stated, credentials)
  ).sign(
    { ...plain(request), query: Object.fromEntries(request.query), headers },
    { signingDate: new Date(momentOf(stated.date)), signableHeaders: new Set(stated.signedHeaders) },
  )
  return /Signature=([0-9a-f]+)$/.exec(signed.headers['authorization'] ?? '')?.[1] ?? ''
}

async function signQuery(
  request: SignedRequest,
  headers: Record<string, string>,
  stated: Stated,
  credentials: S3Credentials,
): Promise<string> {
  const added = [
    'X-Amz-Algorithm',
    'X-Amz-Credential',
    'X-Amz-Date',
    'X-Amz-Expires',
    'X-Amz-SignedHeaders',
    'X-Amz-Signature',
  ]
  const payload = payloadIn(request.query)
  const query = new Map([...request.query].filter(([name]) => !added.includes(name) && name !== payload?.[0]))
  const signed = await (
    await signerOf(stated, credentials)
  ).presign(
    {
      ...plain(request),
      query: Object.fromEntries(query),
      // Put back where the client had it before it was moved into the address.
      headers: payload ? { ...headers, [payload[0]]: payload[1] } : headers,
    },
    {
      signingDate: new Date(momentOf(stated.date)),
      expiresIn: stated.expiresInSeconds!,
      signableHeaders: new Set(stated.signedHeaders),
      unhoistableHeaders: new Set(stated.signedHeaders),
    },
  )
  const signature = signed.query?.['X-Amz-Signature']
  return typeof signature === 'string' ? signature : ''
}

const plain = ({ method, path }: SignedRequest) => ({
  method,
  path,
  protocol: 'http:',
  hostname: '',
  // A body of no known kind: its hash is then never computed here, but taken from what was stated.
  body: {},
})

/** Loaded with the first request: a server that only runs agents never needs it. */
async function signerOf({ region }: Stated, credentials: S3Credentials): Promise<SignatureV4> {
  const { SignatureV4: Signer } = await import('@smithy/signature-v4')
  return new Signer({ service: 's3', region, credentials, sha256: Sha256, uriEscapePath: false, applyChecksum: false })
}

const payloadIn = (query: ReadonlyMap<string, string>): [string, string] | undefined =>
  [...query].find(([name]) => name.toLowerCase() === 'x-amz-content-sha256')

const equal = (a: string, b: string): boolean => {
  const [left, right] = [createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest()]
  return timingSafeEqual(left, right)
}

const unreadable = (): S3Error =>
  new S3Error('AuthorizationQueryParametersError', 400, 'The signature of the request cannot be read.')
const skewed = (): S3Error => new S3Error('RequestTimeTooSkewed', 403, 'The clocks are more than five minutes apart.')

type BytesToSign = string | ArrayBuffer | ArrayBufferView

/** SHA-256, or its HMAC where a secret is given, in the shape that the signer asks for. */
class Sha256 {
  readonly #secret: Buffer | undefined
  #hash: Hash | Hmac
  constructor(secret?: BytesToSign) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret)
    this.#hash = this.#start()
  }
  update(data: BytesToSign): void {
    this.#hash.update(bytesOf(data))
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest())
  }
  reset(): void {
    this.#hash = this.#start()
  }
  #start(): Hash | Hmac {
    return this.#secret ? createHmac('sha256', this.#secret) : createHash('sha256')
  }
}

function bytesOf(data: BytesToSign): Buffer {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data)
}
