/** Sends a short conversation at once and a long one page by page, so that it does not block other requests. */
import type { PagedConversation } from '../../engine/session/timeline.ts'
import type { Conversation, TimelineItem } from '../../spec/api.ts'
import { okReply, type HttpReply } from '../http/reply.ts'

/** @param view the conversation as the caller may see it; applied to each page of the timeline */
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

/** Writes the same text as `JSON.stringify` of the whole conversation. */
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
    const items = view(page)
    if (items.length === 0) continue
    yield encoder.encode(comma + JSON.stringify(items).slice(1, -1))
    comma = ','
  }
  yield encoder.encode(']}')
}
