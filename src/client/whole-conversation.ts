/** Reads a conversation that comes in several answers. Source: docs/design/http.md#bounded-answers */
import type { Conversation } from '../spec/api.ts'

/** Answers read at most, of 8 MiB each: more would not fit into one text of Node. */
const MAX_PAGES = 48

/**
 * The conversation with the items of all its pages. `nextCursor` is null unless it is too long to show at once; then it
 * says where the rest begins.
 */
export async function readWhole<C extends Pick<Conversation, 'items' | 'nextCursor'>>(
  readPage: (cursor: string | undefined) => Promise<C>,
): Promise<C> {
  const first = await readPage(undefined)
  const items = [...first.items]
  let next = first.nextCursor ?? null
  for (let page = 1; next !== null && page < MAX_PAGES; page++) {
    const more: C = await readPage(next)
    items.push(...more.items)
    next = more.nextCursor ?? null
  }
  return { ...first, items, nextCursor: next }
}
