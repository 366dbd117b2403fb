/** Frames of a peer stream: one JSON value per line. An empty line is a sign of life. */
import { isJsonObject } from '../../base/json/json.ts'
import type { PlacedText } from '../../engine/interface/text-exchange.ts'

/** Longer lines end the stream: the text of a completion comes in pieces, and its end has at most the whole answer. */
const MAX_LINE = 4 * 1024 * 1024

export type PeerFrame =
  | { readonly type: 'opened'; readonly stream: string }
  | { readonly type: 'text'; readonly text: PlacedText }
  | { readonly type: 'alive' }

export const openedFrame = (stream: string): string => `${JSON.stringify({ stream })}\n`
export const textFrame = (text: PlacedText): string => `${JSON.stringify({ text })}\n`
export const ALIVE_FRAME = '\n'

/** Yields the frames of a body. @throws Error for frames that svc never sends */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<PeerFrame> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_LINE) throw new Error('A line of a peer is too long.')
    for (const line of lines) yield toFrame(line)
  }
}

function toFrame(line: string): PeerFrame {
  if (line === '') return { type: 'alive' }
  const value: unknown = JSON.parse(line)
  if (isJsonObject(value) && typeof value['stream'] === 'string') return { type: 'opened', stream: value['stream'] }
  if (isJsonObject(value) && isPlacedText(value['text'])) return { type: 'text', text: value['text'] }
  throw new Error('A line of a peer is neither text nor the name of a stream.')
}

const LIVE_SUBJECTS: ReadonlySet<unknown> = new Set(['engine.step.delta', 'engine.step.progress', 'engine.run.output'])

/** The sender may be another version of svc, so frames are checked before readers see them. */
function isPlacedText(value: unknown): value is PlacedText & { [name: string]: never } {
  if (!isJsonObject(value as never)) return false
  const { delta, afterSeq } = value as { delta?: unknown; afterSeq?: unknown }
  if (!isJsonObject(delta as never) || !Number.isSafeInteger(afterSeq)) return false
  const { sessionId, runId, ts, subject, data } = delta as Record<string, unknown>
  const isLive = LIVE_SUBJECTS.has(subject)
  return (
    isLive &&
    typeof sessionId === 'string' &&
    typeof runId === 'string' &&
    Number.isSafeInteger(ts) &&
    isJsonObject(data as never)
  )
}
