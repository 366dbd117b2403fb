/**
 * Verifies that a request was signed with our credentials, in its header or in its URL. Computes the expected signature with
 * the library that the AWS client uses, so that we canonicalise nothing ourselves. Source: docs/design/security.md#files-and-uploads
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { SignatureV4 } from '@smithy/signature-v4'
import type { Instant } from '../../base/clock.ts'
import { S3Error } from './s3-error.ts'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export interface SignedRequest {
  readonly method: string
  /** As received, still percent-encoded. */
  readonly path: string
  readonly query: ReadonlyMap<string, string>
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

export interface VerifiedRequest {
  /** The signed `x-amz-content-sha256`: a hash of the body, or a keyword such as `UNSIGNED-PAYLOAD`. */
  readonly payload: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const UNSIGNED = 'UNSIGNED-PAYLOAD'
const CLOCK_SKEW_MS = 5 * 60_000
/** Longest lifetime of a presigned address, as at AWS. */
const MAX_LIFETIME_SECONDS = 604_800

/** @throws S3Error with status 403 (400 where the signature cannot be read) */
export async function verifySignature(
  request: SignedRequest,
  credentials: S3Credentials,
  region: string,
  now: Instant,
): Promise<VerifiedRequest> {
  const inQuery = [...request.query.keys()].some((name) => IN_QUERY.test(name))
  // With two signatures it would be ambiguous which one authorizes what.
  if (inQuery && request.headers['authorization'] !== undefined)
    throw new S3Error('InvalidArgument', 400, 'A request is signed in its header or in its address, not in both.')
  const stated = inQuery ? parseQuerySignature(request) : parseHeaderSignature(request)
  if (!isEqual(stated.accessKeyId, credentials.accessKeyId))
    throw new S3Error('InvalidAccessKeyId', 403, 'The access key id is unknown.')
  if (stated.region !== region)
    throw new S3Error(
      'AuthorizationHeaderMalformed',
      400,
      `The request is signed for another region; this one is '${region}'.`,
      region,
    )
  const signedAt = parseSigningDate(stated.date)
  if (stated.expiresInSeconds === undefined) {
    if (Math.abs(now - signedAt) > CLOCK_SKEW_MS) throw skewed()
  } else {
    if (signedAt > now + CLOCK_SKEW_MS) throw skewed()
    if (now > signedAt + stated.expiresInSeconds * 1000) throw new S3Error('AccessDenied', 403, 'Request has expired')
  }
  const headers = requireSignedHeaders(request, stated.signedHeaders)
  const signature = await (stated.expiresInSeconds === undefined ? signHeader : signQuery)(
    request,
    headers,
    stated,
    credentials,
  )
  if (!isEqual(signature, stated.signature))
    throw new S3Error('SignatureDoesNotMatch', 403, 'The signature is not the one of this request.')
  return { payload: stated.payload }
}

/** Any of these parameters marks a signed URL. */
const IN_QUERY = /^(?:x-amz-(?:signature|credential|algorithm)|signature|awsaccesskeyid)$/i

interface StatedSignature {
  readonly accessKeyId: string
  readonly region: string
  /** `20261120T104200Z` */
  readonly date: string
  readonly signedHeaders: readonly string[]
  readonly signature: string
  readonly payload: string
  /** Set for presigned addresses only. */
  readonly expiresInSeconds?: number
}

function parseQuerySignature({ query }: SignedRequest): StatedSignature {
  const seconds = Number(query.get('X-Amz-Expires'))
  if (
    query.get('X-Amz-Algorithm') !== ALGORITHM ||
    !Number.isInteger(seconds) ||
    seconds < 1 ||
    seconds > MAX_LIFETIME_SECONDS
  )
    throw unreadable()
  return {
    ...parseCredential(query.get('X-Amz-Credential') ?? ''),
    date: query.get('X-Amz-Date') ?? '',
    signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature: query.get('X-Amz-Signature') ?? '',
    payload: payloadIn(query)?.[1] ?? UNSIGNED,
    expiresInSeconds: seconds,
  }
}

function parseHeaderSignature({ headers }: SignedRequest): StatedSignature {
  const authorization = headers['authorization']
  if (authorization === undefined) throw new S3Error('AccessDenied', 403, 'The request is not signed.')
  const [, credential, signedHeaders, signature] =
    /^AWS4-HMAC-SHA256 +Credential=([^,\s]+), *SignedHeaders=([^,\s]+), *Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? []
  const payload = headers['x-amz-content-sha256']
  if (credential === undefined || signedHeaders === undefined || signature === undefined)
    throw new S3Error('AuthorizationHeaderMalformed', 400, 'The signature in the header cannot be read.')
  if (payload === undefined)
    throw new S3Error('InvalidRequest', 400, 'A request signed in its header needs the header x-amz-content-sha256.')
  return {
    ...parseCredential(credential),
    date: headers['x-amz-date'] ?? '',
    signedHeaders: signedHeaders.split(';'),
    signature,
    payload,
  }
}

/** `<access key id>/<day>/<region>/s3/aws4_request` */
function parseCredential(credential: string): { accessKeyId: string; region: string } {
  const [accessKeyId, , region, service, end, ...more] = credential.split('/')
  if (!accessKeyId || !region || service !== 's3' || end !== 'aws4_request' || more.length > 0) throw unreadable()
  return { accessKeyId, region }
}

function parseSigningDate(date: string): Instant {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date)
  const moment = parts
    ? Date.parse(`${parts[1]}-${parts[2]}-${parts[3]}T${parts[4]}:${parts[5]}:${parts[6]}Z`)
    : Number.NaN
  if (Number.isNaN(moment)) throw unreadable()
  return moment
}

/**
 * Returns the signed headers and requires that all of them are present. Every `x-amz-` header must be signed, because an
 * additional one could turn a presigned upload into a copy of another object.
 */
function requireSignedHeaders({ headers }: SignedRequest, names: readonly string[]): Record<string, string> {
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
  stated: StatedSignature,
  credentials: S3Credentials,
): Promise<string> {
  const signed = await (
    await loadSigner(stated, credentials)
  ).sign(
    { ...toUnsignedRequest(request), query: Object.fromEntries(request.query), headers },
    { signingDate: new Date(parseSigningDate(stated.date)), signableHeaders: new Set(stated.signedHeaders) },
  )
  return /Signature=([0-9a-f]+)$/.exec(signed.headers['authorization'] ?? '')?.[1] ?? ''
}

async function signQuery(
  request: SignedRequest,
  headers: Record<string, string>,
  stated: StatedSignature,
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
    await loadSigner(stated, credentials)
  ).presign(
    {
      ...toUnsignedRequest(request),
      query: Object.fromEntries(query),
      // A header when the client signed it, before it was moved into the URL.
      headers: payload ? { ...headers, [payload[0]]: payload[1] } : headers,
    },
    {
      signingDate: new Date(parseSigningDate(stated.date)),
      ...(stated.expiresInSeconds !== undefined && { expiresIn: stated.expiresInSeconds }),
      signableHeaders: new Set(stated.signedHeaders),
      unhoistableHeaders: new Set(stated.signedHeaders),
    },
  )
  const signature = signed.query?.['X-Amz-Signature']
  return typeof signature === 'string' ? signature : ''
}

const toUnsignedRequest = ({ method, path }: SignedRequest) => ({
  method,
  path,
  protocol: 'http:',
  hostname: '',
  // An object is not hashed by the signer, which then uses the stated hash.
  body: {},
})

/** Loads the library at the first request: a server that only runs agents never needs it. */
async function loadSigner({ region }: StatedSignature, credentials: S3Credentials): Promise<SignatureV4> {
  const { SignatureV4: Signer } = await import('@smithy/signature-v4')
  return new Signer({ service: 's3', region, credentials, sha256: Sha256, uriEscapePath: false, applyChecksum: false })
}

const payloadIn = (query: ReadonlyMap<string, string>): [string, string] | undefined =>
  [...query].find(([name]) => name.toLowerCase() === 'x-amz-content-sha256')

const isEqual = (a: string, b: string): boolean => {
  const [left, right] = [createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest()]
  return timingSafeEqual(left, right)
}

const unreadable = (): S3Error =>
  new S3Error('AuthorizationQueryParametersError', 400, 'The signature of the request cannot be read.')
const skewed = (): S3Error => new S3Error('RequestTimeTooSkewed', 403, 'The clocks are more than five minutes apart.')

type BytesToSign = string | ArrayBuffer | ArrayBufferView

/** SHA-256, or HMAC-SHA-256 when a secret is given, with the interface that the signer requires. */
class Sha256 {
  readonly #secret: Buffer | undefined
  #hash: ReturnType<typeof createHash | typeof createHmac>
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
  #start(): ReturnType<typeof createHash | typeof createHmac> {
    return this.#secret ? createHmac('sha256', this.#secret) : createHash('sha256')
  }
}

function bytesOf(data: BytesToSign): Buffer {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data)
}
