import type { PagedConversation } from '../../src/engine/interface/timeline.ts'
import type { Conversation } from '../../src/spec/api.ts'

/** Reads all pages of a conversation. */
export async function collectTimeline({
  more,
  sizes: _sizes,
  ...conversation
}: PagedConversation): Promise<Conversation> {
  if (!more) return conversation
  const pages = [conversation.items]
  for await (const page of more) pages.push(page)
  return { ...conversation, items: pages.flat() }
}
