import { toJsonLine } from '../../base/json/json-line.ts'
import type { HttpReply } from '../http/reply.ts'
import { STREAM_HEADERS } from '../http/sse.ts'

/** A comment keeps proxies from closing a stream on which nothing happens. */
const HEARTBEAT_MS = 15_000

export const dataFrame = (value: unknown): string => `data: ${toJsonLine(value)}\n\n`

/**
 * An event stream of a door. The next frame is made when the reader has room: what it does not read waits in the store.
 * @param onEnd called once, however the stream ends
 */
export function doorStream(frames: AsyncGenerator<string>, onEnd: () => void): HttpReply {
  const encoder = new TextEncoder()
  let heartbeat: NodeJS.Timeout | undefined
  let isOver = false
  const finish = (): void => {
    clearInterval(heartbeat)
    if (!isOver) onEnd()
    isOver = true
  }
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      heartbeat = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': \n\n'))
      }, HEARTBEAT_MS).unref()
    },
    async pull(controller) {
      try {
        const next = await frames.next()
        if (isOver) return
        if (!next.done) return controller.enqueue(encoder.encode(next.value))
        finish()
        controller.close()
      } catch (error) {
        if (isOver) return
        finish()
        controller.error(error)
      }
    },
    cancel() {
      finish()
      void frames.return(undefined)
    },
  })
  return { status: 200, stream, headers: STREAM_HEADERS }
}
