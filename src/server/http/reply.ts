/** The result of a route, before it becomes an HTTP response. */
import type { EventStreamBody } from './sse.ts'

export interface HttpReply {
  readonly status: number
  readonly json?: unknown
  /** JSON that is written already, unless the headers name another type. */
  readonly text?: string
  readonly stream?: ReadableStream<Uint8Array>
  readonly events?: EventStreamBody
  readonly headers?: Readonly<Record<string, string>>
}

export const okReply = (json: unknown): HttpReply => ({ status: 200, json })
export const acceptedReply = (json: unknown): HttpReply => ({ status: 202, json })
