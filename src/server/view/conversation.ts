/** A conversation as a body: a short one at once, a long one page by page, so that nobody else has to wait for it. */
import type { PagedConversation } from '../../engine/session/timeline.ts'
import type { Conversation, TimelineItem } from '../../spec/api.ts'
import { okReply, type HttpReply } from '../http/reply.ts'

/** @param view what may be seen of it; it is asked for every page of the timeline */
export function conversationReply(
  { more, ...conversation }: PagedConversation,
  view: (conversation: Conversation) => Conversation,
): HttpReply {
  const visible = view(conversation)
  if (!more) return okReply(visible)
  const chunks = write(visible, more, (items) => view({ ...visible, items }).items)
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
  return { status: 200, stream, headers: { 'content-type': 'application/json' } }
}

/** The text that `JSON.stringify` would make of the whole. */
async function* write(
  { session, runs, items }: Conversation,
  more: AsyncIterable<readonly TimelineItem[]>,
  view: (items: readonly TimelineItem[]) => readonly TimelineItem[],
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  const first = JSON.stringify({ session, runs, items })
  yield encoder.encode(first.slice(0, -']}'.length))
  let comma = items.length > 0 ? ',' : ''
  for await (const page of more) {
    const seen = view(page)
    if (seen.length === 0) continue
    yield encoder.encode(comma + JSON.stringify(seen).slice(1, -1))
    comma = ','
  }
  yield encoder.encode(']}')
}
