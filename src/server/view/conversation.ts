/**
 * Writes a conversation within the bounds of an answer: a short one at once, a long one page by page, so that it does not block
 * other requests. Source: docs/design/http.md#bounded-answers
 */
import { digestOf } from '../../base/digest.ts'
import type { RunId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { PagedConversation } from '../../engine/interface/timeline.ts'
import type { Conversation, TimelineItem } from '../../spec/api.ts'
import { toListCursor } from '../http/list-cursor.ts'
import { okReply, type HttpReply } from '../http/reply.ts'
import { REFERENCE_BYTES, toReference } from '../../spec/value-reference.ts'
import { MAX_ANSWER_BYTES, wholeLimit } from './answer-bounds.ts'

export interface ConversationOptions {
  /** The conversation as the caller may see it; applied to each page of the timeline. */
  readonly view: (conversation: Conversation) => Conversation
  /** `?values=ref` */
  readonly refsOnly?: boolean
  /** Items at most; all that fit when absent. */
  readonly take?: number
}

/** An item without its content, a run without its values, and what stands around them; in bytes, rather more than less. */
const ITEM_BYTES = 700
const RUN_BYTES = 1000
/** Members of a content up to this size stay in it, so that it still says what it is about. */
const MEMBER_BYTES = 1024
/** Members of a content whose shape is not fixed: a reference may stand for them. The others have the type that clients expect. */
const OF_ANY_SHAPE: ReadonlySet<string> = new Set([
  'arguments',
  'context',
  'input',
  'metadata',
  'output',
  'result',
  'steps',
])
/** Bytes of values that one answer may read only to reference them; the rest is another page. */
const MAX_NAMED_BYTES = 64 * 1024 * 1024

export const conversationCursors = (sessionId: string): string => `conversation ${sessionId}`

export function conversationReply(
  { more, sizes = [], isRootRun: _isRootRun, ...conversation }: PagedConversation,
  { view, refsOnly = false, take = Infinity }: ConversationOptions,
): HttpReply {
  const visible = view(conversation)
  const room =
    MAX_ANSWER_BYTES - visible.runs.length * RUN_BYTES - Math.min(sizes.length, take) * ITEM_BYTES - RUN_BYTES
  const steps = Number.isFinite(take) ? sizes.slice(0, take) : sizes
  const fitting = wholeLimit([...valueSizes(visible), ...steps], room, REFERENCE_BYTES)
  const limit = Math.min(fitting, refsOnly ? REFERENCE_BYTES : Infinity)
  const head = limit === Infinity ? visible : withReferences(visible, limit)
  if (!more && limit === Infinity && visible.items.length <= take) return okReply({ ...head, nextCursor: null })
  const pages = (async function* () {
    yield visible.items
    if (more) for await (const items of more) yield view({ ...conversation, items }).items
  })()
  const memberLimit = fitting === Infinity ? REFERENCE_BYTES : MEMBER_BYTES
  const chunks = write(head, pages, { limit, memberLimit, take })
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
  return { status: 200, stream, headers: { 'content-type': 'application/json' } }
}

/** Writes the same text as `JSON.stringify` of the whole conversation, as far as it fits. */
async function* write(
  { session, runs, runsLeftOut }: Conversation,
  pages: AsyncIterable<readonly TimelineItem[]>,
  { limit, memberLimit, take }: { readonly limit: number; readonly memberLimit: number; readonly take: number },
): AsyncGenerator<string> {
  const root = rootOf(runs, session.id)
  const opening = JSON.stringify({ session, runs, runsLeftOut, items: [] }).slice(0, -']}'.length)
  yield opening
  let left = MAX_ANSWER_BYTES - RUN_BYTES - Buffer.byteLength(opening)
  let naming = MAX_NAMED_BYTES
  let count = 0
  let last: number | undefined
  let isCut = false
  for await (const items of pages) {
    let text = ''
    for (const item of items) {
      const whole = JSON.stringify(item)
      const bytes = Buffer.byteLength(whole)
      const isLarge = bytes > limit
      const shown = isLarge ? JSON.stringify(withMembersNamed(item, root, memberLimit)) : whole
      left -= isLarge ? Buffer.byteLength(shown) : bytes
      naming -= isLarge ? bytes : 0
      // Always includes the first item, so that a reader who follows the cursors makes progress.
      isCut = count === take || (count > 0 && (left < 0 || naming < 0))
      if (isCut) break
      text += `${count === 0 ? '' : ','}${shown}`
      count++
      last = item.ordinal
    }
    if (text !== '') yield text
    if (isCut) break
  }
  const next = isCut && last !== undefined ? toListCursor(conversationCursors(session.id), [last]) : null
  yield `],"nextCursor":${JSON.stringify(next)}}`
}

/** The run by which the values of a session are read. */
const rootOf = (runs: Conversation['runs'], sessionId: string): RunId =>
  (runs.find(({ parentRunId }) => parentRunId === null)?.id ?? sessionId) as RunId

const bytesOf = (value: JsonValue): number => Buffer.byteLength(JSON.stringify(value))

/** Sizes of the values outside the timeline; the input stands twice in the session, and again in its root run. */
function valueSizes({ session, runs }: Conversation): readonly number[] {
  const { input, output, startContext } = session
  const context = startContext === null ? 0 : bytesOf(startContext)
  return [bytesOf(input), bytesOf(output), context, ...runs.flatMap((run) => [bytesOf(run.input), bytesOf(run.output)])]
}

/** The session and its runs with references to their large values. */
function withReferences({ session, runs, items, ...others }: Conversation, limit: number): Conversation {
  const root = rootOf(runs, session.id)
  const { startContext } = session
  const userInput = startContext?.['userInput']
  return {
    session: {
      ...session,
      input: named(session.input, root, limit),
      output: named(session.output, root, limit),
      startContext:
        userInput === undefined ? startContext : { ...startContext, userInput: named(userInput, root, limit) },
    },
    runs: runs.map((run) => ({
      ...run,
      input: named(run.input, run.id as RunId, limit),
      output: named(run.output, run.id as RunId, limit),
    })),
    ...others,
    items,
  }
}

/** The value, or a reference to it where it is larger than `limit` bytes. */
function named(value: JsonValue, run: RunId, limit: number, ordinal?: number): JsonValue {
  const text = JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  return bytes > limit ? { ...toReference(run, digestOf(text), bytes, ordinal) } : value
}

/** The item with references to those members of its content that are large and of any shape. */
function withMembersNamed(item: TimelineItem, root: RunId, limit: number): TimelineItem {
  const { content, ordinal } = item
  if (!isJsonObject(content)) return item
  const members = Object.entries(content).map(([name, value]) => [
    name,
    OF_ANY_SHAPE.has(name) ? named(value, root, limit, ordinal) : value,
  ])
  return { ...item, content: Object.fromEntries(members) as JsonObject }
}
