/**
 * The answer to a request as the vendors' SDKs read it: the part of `Response` that they use, straight from node's message. A web
 * stream would cost more CPU per piece of text than everything else that is done with the piece.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib'
import { onlyItem } from '../values/collections.ts'
import { expectDefined } from '../values/expect-defined.ts'

/** Bytes that wait for the reader before the sender is told to pause. */
const MAX_WAITING_BYTES = 64 * 1024

/**
 * Bytes without a line break, and bytes of a body that is read as one text. The SDKs gather both in memory; the longest line that an
 * answer within the engine's bounds needs, its last event with all of its text once more, is half of it.
 */
const MAX_GATHERED_BYTES = 16 * 1024 * 1024

/** The code of an answer that exceeds these bounds. */
export const ENDLESS_ANSWER = 'ERR_ENDLESS_ANSWER'

const endless = (what: string): Error =>
  Object.assign(new Error(`${what} of more than ${MAX_GATHERED_BYTES / 1024 / 1024} MiB.`), { code: ENDLESS_ANSWER })

/** Header fields by name, in any case. It can be read, iterated, and copied into `Headers`. */
class HeaderFields extends Map<string, string> {
  override get = (name: string): string | undefined => super.get(name.toLowerCase())
  override has = (name: string): boolean => super.has(name.toLowerCase())
}

export const statusOf = ({ statusCode }: IncomingMessage): number =>
  expectDefined(statusCode, 'the message answers a request')

/** @param why the error of a body that ends early */
export function toChunkResponse(message: IncomingMessage, release: () => void, why: () => Error): Response {
  const body = readChunks(decompress(message), message.headers, release, why)
  const status = statusOf(message)
  const text = async (): Promise<string> => {
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > MAX_GATHERED_BYTES) throw endless('A text')
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString()
  }
  const response = {
    status,
    statusText: message.statusMessage ?? '',
    ok: status >= 200 && status < 300,
    url: '',
    headers: new HeaderFields(
      Object.entries(message.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    ),
    body,
    text,
    json: async (): Promise<unknown> => JSON.parse(await text()),
  }
  // The SDKs use nothing else of it; `test/providers` runs each of them on it.
  return response as unknown as Response
}

type Chunk = IteratorResult<Uint8Array, undefined>

interface ChunkBody extends AsyncIterableIterator<Uint8Array, undefined> {
  return(): Promise<Chunk>
  /** Ends the request. */
  cancel(): Promise<void>
  getReader(): { read(): Promise<Chunk>; releaseLock(): void; cancel(): Promise<void> }
}

/** Some gateways compress although nobody accepts it. What is cut off gives what came before. */
function decompress(message: IncomingMessage): Readable {
  const decoder = decoderOf(message.headers['content-encoding']?.trim().toLowerCase() ?? '')
  // Its errors reach the reader of the decoder.
  return decoder === undefined ? message : pipeline(message, decoder, () => {})
}

function decoderOf(coding: string): Transform | undefined {
  const { Z_SYNC_FLUSH: flush, BROTLI_OPERATION_FLUSH: flushBrotli } = constants
  if (/^(x-)?gzip$|^deflate$/.test(coding)) return createUnzip({ flush, finishFlush: flush })
  return coding === 'br' ? createBrotliDecompress({ flush: flushBrotli, finishFlush: flushBrotli }) : undefined
}

function readChunks(message: Readable, headers: IncomingHttpHeaders, release: () => void, why: () => Error): ChunkBody {
  const waiting: Uint8Array[] = []
  let waitingBytes = 0
  let end: 'end' | Error | undefined
  let asked: { resolve: (chunk: Chunk) => void; reject: (error: Error) => void } | undefined
  const finish = (how: 'end' | Error): void => {
    end = how
    release()
    if (asked === undefined) return
    if (how === 'end') asked.resolve({ done: true, value: undefined })
    else asked.reject(how)
    asked = undefined
  }
  const pieces = toPieces(headers, (piece: Uint8Array): void => {
    if (asked !== undefined) {
      const { resolve } = asked
      asked = undefined
      return resolve({ done: false, value: piece })
    }
    waiting.push(piece)
    waitingBytes += piece.length
    if (waitingBytes >= MAX_WAITING_BYTES) message.pause()
    return undefined
  })
  message.on('data', (chunk: Uint8Array) => {
    if (end !== undefined || pieces.add(chunk)) return
    finish(endless('A line'))
    message.destroy()
  })
  // Every body emits `close`, most of them after `end`.
  const breakOff = (): void => (end === undefined ? finish(why()) : undefined)
  message.once('end', () => {
    pieces.end()
    finish('end')
  })
  message.once('error', breakOff)
  message.once('close', breakOff)
  const next = (): Promise<Chunk> => {
    const chunk = waiting.shift()
    if (chunk !== undefined) {
      waitingBytes -= chunk.length
      if (waiting.length === 0) message.resume()
      return Promise.resolve({ done: false, value: chunk })
    }
    if (end === 'end') return Promise.resolve({ done: true, value: undefined })
    if (end !== undefined) return Promise.reject(end)
    return new Promise((resolve, reject) => (asked = { resolve, reject }))
  }
  const cancel = (): Promise<void> => {
    waiting.length = 0
    // A message that is read to its end leaves its connection for the next request.
    if (end === undefined) {
      message.destroy()
      finish('end')
    }
    return Promise.resolve()
  }
  return {
    next,
    cancel,
    async return() {
      await cancel()
      return { done: true, value: undefined }
    },
    getReader: () => ({ read: next, releaseLock() {}, cancel }),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/**
 * Passes an event stream on in whole lines, because the SDKs search their whole buffer again with each piece that does not end one,
 * and any other body as it comes. `add` is false once a line is too long.
 */
function toPieces(headers: IncomingHttpHeaders, pass: (piece: Uint8Array) => void) {
  const isEventStream = headers['content-type']?.startsWith('text/event-stream') === true
  let held: Uint8Array[] = []
  let lineBytes = 0
  const flush = (): void => {
    if (held.length > 0) pass(onlyItem(held) ?? Buffer.concat(held))
    held = []
  }
  return {
    add(chunk: Uint8Array): boolean {
      const after = Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN)) + 1
      lineBytes = after === 0 ? lineBytes + chunk.length : chunk.length - after
      if (lineBytes > MAX_GATHERED_BYTES) return false
      if (!isEventStream) pass(chunk)
      else {
        if (after > 0) {
          held.push(chunk.subarray(0, after))
          flush()
        }
        if (after < chunk.length) held.push(chunk.subarray(after))
      }
      return true
    },
    end: flush,
  }
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
