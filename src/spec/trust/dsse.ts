/** Envelopes around what is signed: DSSE v1 (github.com/secure-systems-lab/dsse). Source: docs/design/trust.md#envelopes */
import { jsonDepth, type JsonValue } from '../../base/json/json.ts'
import { readShape, ShapeFault, type ShapeReader } from './read-shape.ts'
import { TrustProblem } from './trust-problem.ts'

export interface DsseSignature {
  /** Fingerprint of the key. Nothing proves it but the signature. */
  readonly keyId: string
  readonly signature: Buffer
}

export interface DsseEnvelope {
  /** The statement, as it was signed. */
  readonly payload: Buffer
  readonly signatures: readonly DsseSignature[]
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
/** A statement about a bundle of 2,000 members has half of it. */
export const MAX_ENVELOPE_BYTES = 1024 * 1024
/** Of one publication. */
export const MAX_ENVELOPES = 16
const MAX_SIGNATURES = 16
const MAX_LEVELS = 16

/** What a key signs: type and payload, each with its length. */
export function preAuthEncoding(payload: Buffer): Buffer {
  const head = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `
  return Buffer.concat([Buffer.from(head), payload])
}

export const writeEnvelope = ({ payload, signatures }: DsseEnvelope): string =>
  `${JSON.stringify({
    payload: payload.toString('base64'),
    payloadType: PAYLOAD_TYPE,
    signatures: signatures.map(({ keyId, signature }) => ({ keyid: keyId, sig: signature.toString('base64') })),
  })}\n`

/** @throws TrustProblem `envelope` */
export function readEnvelope(text: string): DsseEnvelope {
  if (Buffer.byteLength(text) > MAX_ENVELOPE_BYTES)
    throw new TrustProblem('envelope', `it has more than ${MAX_ENVELOPE_BYTES} bytes`)
  try {
    const envelope = readShape(parseBounded(text))
    const { payload, payloadType, signatures } = envelope.record(['payload', 'payloadType', 'signatures'])
    payloadType.oneOf(PAYLOAD_TYPE)
    const read = signatures.list(MAX_SIGNATURES).map((each) => {
      const { keyid, sig } = each.record(['keyid', 'sig'])
      return { keyId: keyid.text(), signature: base64(sig) }
    })
    if (read.length === 0) throw signatures.fault('must have an item')
    if (new Set(read.map(({ keyId }) => keyId)).size < read.length) throw signatures.fault('has a key twice')
    return { payload: base64(payload), signatures: read }
  } catch (error) {
    if (error instanceof ShapeFault) throw new TrustProblem('envelope', `${error.pointer} ${error.message}`.trim())
    throw error
  }
}

/** Only the one spelling of these bytes, so that no changed character is overlooked. */
function base64(reader: ShapeReader): Buffer {
  const text = reader.text(MAX_ENVELOPE_BYTES)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw reader.fault('must be base64')
  return bytes
}

/** @throws ShapeFault */
export function parseBounded(text: string): JsonValue {
  if (jsonDepth(text) > MAX_LEVELS) throw new ShapeFault('', `must have at most ${MAX_LEVELS} levels`)
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw new ShapeFault('', 'must be JSON')
  }
}
