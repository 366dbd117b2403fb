/** Reads a JSON body. Size is checked while it arrives, depth before it is parsed. Source: docs/design/security.md#requests */
import { giveWay, startWork } from '../../base/event-loop.ts'
import { fail, Failure } from '../../base/failure.ts'
import { InexactNumberError, describeInexactNumber } from '../../base/json/exact-number.ts'
import { EXTERNAL_JSON, isJsonObject, JsonBoundError, parseJson, type JsonBounds } from '../../base/json/json.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import type { AsyncReadable, HttpRequestContext } from './route.ts'
import { textBefore } from '../../base/text/text-parts.ts'
import { onlyItem } from '../../base/values/collections.ts'

export interface BodyLimits extends JsonBounds {
  readonly maxBytes: number
}

export const apiBodyLimits = ({ limits }: ProjectConfig): BodyLimits => ({
  maxBytes: limits?.max_body_bytes ?? 1024 * 1024,
  maxLevels: 64,
  maxValues: EXTERNAL_JSON.maxValues,
})

/**
 * The parsed body; undefined when there is none.
 * @throws Failure `unsupported_media_type`, `body_too_large`, `invalid_json`, `validation_failed`
 */
export async function readJson(call: HttpRequestContext, limits: BodyLimits): Promise<unknown> {
  const { maxBytes } = limits
  const type = call.request.headers.get('content-type')
  if (type !== null && !isJsonType(type)) throw fail('unsupported_media_type')
  const coding = call.request.headers.get('content-encoding')?.toLowerCase() ?? 'identity'
  // A compressed body could expand far beyond the limit.
  if (coding !== 'identity')
    throw new Failure('unsupported_media_type', `The body must be sent as it is, not as ${coding}.`, {})
  const bytes = await readBytes(call, maxBytes)
  if (bytes.length === 0) return undefined
  if (type === null) throw fail('unsupported_media_type')
  const tookLong = startWork()
  const text = decode(bytes)
  let value: unknown
  try {
    value = parseJson(text, limits)
  } catch (error) {
    if (error instanceof InexactNumberError)
      throw fail(
        'validation_failed',
        { what: `The body is refused: ${error.message}.` },
        { details: [{ path: error.pointer, message: describeInexactNumber(error.written) }] },
      )
    if (error instanceof JsonBoundError)
      throw fail('validation_failed', { what: `The body is refused: it is ${error.message}.` })
    throw fail('invalid_json', { why: 'it cannot be parsed' })
  }
  // Searches the text first: nearly no body contains these names, and then the walk is not needed.
  if (/__proto__|constructor|\\u/.test(text)) refuseKeys(value, '')
  // Processing a large body takes as long again, so other requests run first.
  if (tookLong()) await giveWay()
  return value
}

/**
 * The body as it was sent.
 * @throws Failure `body_too_large`
 */
export async function readBytes(call: HttpRequestContext, maxBytes: number): Promise<Uint8Array> {
  if (Number(call.request.headers.get('content-length') ?? 0) > maxBytes)
    throw fail('body_too_large', { limit: maxBytes })
  return await (call.incoming ? readIncoming(call.incoming, maxBytes) : readStream(call.request.body, maxBytes))
}

const isJsonType = (type: string): boolean => textBefore(type, ';').trim().toLowerCase() === 'application/json'

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw fail('invalid_json', { why: 'it is not UTF-8' })
  }
}

/** Prevents prototype pollution in code that copies properties by name. */
function refuseKeys(value: unknown, path: string): void {
  if (Array.isArray(value)) value.forEach((each, index) => refuseKeys(each, `${path}/${index}`))
  else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      if (key === '__proto__' || key === 'constructor') {
        const at = `${path}/${key}`
        throw fail(
          'validation_failed',
          { what: `The body has a property "${key}".` },
          { details: [{ path: at, message: 'is not allowed as a name' }] },
        )
      }
      refuseKeys(value[key], `${path}/${key}`)
    }
  }
}

function readIncoming(incoming: AsyncReadable, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const settle = (then: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      then()
    }
    const onData = (chunk: Uint8Array) => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      // Paused, not destroyed: the response still uses this socket, and node discards the rest of the body afterwards.
      else settle(() => (incoming.pause(), reject(fail('body_too_large', { limit: maxBytes }))))
    }
    const onEnd = () => settle(() => resolve(onlyItem(chunks) ?? Buffer.concat(chunks)))
    const onError = () => settle(() => reject(fail('invalid_json', { why: 'it ended early' })))
    const onClose = onError
    if (incoming.readableEnded) return onEnd()
    // The client disconnected before its body was read. An empty body would make it a different request.
    if (incoming.destroyed) return onError()
    incoming.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}

async function readStream(stream: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  if (!stream) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    size += value.length
    if (size > maxBytes) {
      await reader.cancel()
      throw fail('body_too_large', { limit: maxBytes })
    }
    chunks.push(value)
  }
}
