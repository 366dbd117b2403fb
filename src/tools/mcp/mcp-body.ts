/** Reads the bodies of what an MCP server answers, within bounds: whole ones, event streams, and those that fail. */
import type { JsonObject } from '../../base/json/json.ts'
import { readMcpMessage, type McpAnswer } from './mcp-answer.ts'
import { dataOfEvent, looksLikeEvents, splitEvents } from './mcp-events.ts'

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.toLowerCase().includes('text/event-stream') === true

/** Reads the answer out of a whole body, which may have the form of an event stream. */
export async function readAnswer(response: Response, maxBytes: number): Promise<McpAnswer> {
  const { text, cutAt } = await readBoundedBody(response.body ?? [], maxBytes)
  if (looksLikeEvents(text)) {
    const answer = await findEventAnswer([Buffer.from(text)], maxBytes)
    if (answer) return answer
  }
  const message = readMcpMessage(text, cutAt)
  return message.at === 'other' ? { at: 'unreadable', text, why: 'is a request' } : message
}

export async function findEventAnswer(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<McpAnswer | undefined> {
  for await (const event of readEventAnswers(body, maxBytes)) if ('answer' in event) return event.answer
  return undefined
}

/** Each event as text until one of them is the answer. */
export async function* readEventAnswers(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<{ readonly answer: McpAnswer } | { readonly text: string; readonly request?: JsonObject }> {
  let odd: McpAnswer | undefined
  for await (const { text, isCut } of splitEvents(toAsync(body), maxBytes)) {
    const data = dataOfEvent(text)
    const message = data === undefined ? undefined : readMcpMessage(data, isCut ? maxBytes : undefined)
    if (message?.at === 'result' || message?.at === 'error') return yield { answer: message }
    if (message?.at === 'unreadable') odd ??= message
    else if (!isCut) yield { text, ...(message?.at === 'other' && message.message && { request: message.message }) }
  }
  if (odd) yield { answer: odd }
}

async function* toAsync(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* body
}

/** Reads a body up to `maxBytes`. A longer one is cut and its connection closed. */
export async function readBoundedBody(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly text: string; readonly cutAt?: number }> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, maxBytes - bytes))
    bytes += chunk.byteLength
    if (bytes > maxBytes) break
  }
  const isCut = bytes > maxBytes
  // Decodes in streaming mode, which drops a character that the cut divides.
  const text = new TextDecoder().decode(Buffer.concat(chunks), { stream: isCut })
  return { text, ...(isCut && { cutAt: maxBytes }) }
}

/** What comes of a body within a time, up to about `maxBytes`. Its connection is closed then. */
export async function readBodyWithin(body: Response['body'], maxBytes: number, ms: number): Promise<string> {
  if (!body) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), ms)
  try {
    while (text.length < maxBytes) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value as Uint8Array, { stream: true })
    }
    await reader.cancel()
  } catch {
    // It broke off.
  } finally {
    clearTimeout(timer)
  }
  return text
}
