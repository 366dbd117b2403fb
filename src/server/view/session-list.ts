/** Writes a page of sessions within the bounds of an answer. Source: docs/design/http.md#bounded-answers */
import { setImmediate } from 'node:timers/promises'
import { digestOf } from '../../base/digest.ts'
import type { AgentId, RunId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { SessionListItem } from '../../spec/api.ts'
import type { LeftOutValue, ListedSession, SessionPosition } from '../../store/queries.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { toListCursor } from '../http/list-cursor.ts'
import type { HttpReply } from '../http/reply.ts'
import { REFERENCE_BYTES, toReference } from '../../spec/value-reference.ts'
import { MAX_ANSWER_BYTES, wholeLimit } from './answer-bounds.ts'

/** Larger values are read one by one, after it is known which of them fit; 500 sessions of smaller ones always do. */
export const LISTED_WHOLE_BYTES = 1024

/** The values of a session that may be large. `startContext` repeats the input, so the input counts twice. */
const VALUES = ['input', 'output'] as const
const copiesOf = { input: 2, output: 1 } as const

interface ShownSession<Item> {
  readonly session: ListedSession
  /** As it is shown; a value that was left out is null in it. */
  readonly item: Item
  /** True where the item has no content for its reader. */
  readonly isHidden: boolean
}

/** @param refsOnly `?values=ref`: large values come as references, whether or not they would fit */
export async function sessionListReply<Item extends SessionListItem>(
  store: SessionStore,
  shown: readonly ShownSession<Item>[],
  {
    total,
    nextCursor,
    refsOnly,
  }: { readonly total: number; readonly nextCursor: string | null; readonly refsOnly: boolean },
): Promise<HttpReply> {
  const plain = { items: shown.map(({ item }) => item), total, nextCursor }
  const missing = shown.flatMap(({ session: { leftOut }, isHidden }) =>
    isHidden || !leftOut ? [] : VALUES.flatMap((name) => Array<number>(copiesOf[name]).fill(leftOut[name]?.bytes ?? 0)),
  )
  if (missing.length === 0) return { status: 200, json: plain }
  const budget = MAX_ANSWER_BYTES - Buffer.byteLength(JSON.stringify(plain))
  const limit = Math.min(wholeLimit(missing, budget, 0), refsOnly ? REFERENCE_BYTES : Infinity)
  const texts: string[] = []
  for (const { session, item, isHidden } of shown)
    texts.push(isHidden || !session.leftOut ? JSON.stringify(item) : await withValues(store, session, item, limit))
  return {
    status: 200,
    text: `{"items":[${texts.join(',')}],"total":${total},"nextCursor":${JSON.stringify(nextCursor)}}`,
  }
}

/** The item with its left out values, whole up to `limit` bytes. */
async function withValues(
  store: SessionStore,
  session: ListedSession,
  item: SessionListItem,
  limit: number,
): Promise<string> {
  const textOf = async (name: 'input' | 'output', left: LeftOutValue | undefined): Promise<string> => {
    if (!left) return JSON.stringify(item[name])
    if (left.bytes > limit && left.digest !== null)
      return JSON.stringify(toReference(session.rootRunId, left.digest, left.bytes))
    // Reading a large value takes a millisecond; other requests run before the next.
    await setImmediate()
    const text = (await store.sessionValue(session.id, name)) ?? 'null'
    return left.bytes > limit ? JSON.stringify(toReference(session.rootRunId, digestOf(text), left.bytes)) : text
  }
  const { input: _input, output: _output, startContext, ...rest } = item
  const input = await textOf('input', session.leftOut?.input)
  const output = await textOf('output', session.leftOut?.output)
  const context = JSON.stringify(startContext)
  const repeats = session.leftOut?.input !== undefined && (startContext as JsonObject | null)?.['userInput'] === null
  const whole = repeats ? context.replace('"userInput":null', () => `"userInput":${input}`) : context
  return `${JSON.stringify(rest).slice(0, -1)},"input":${input},"output":${output},"startContext":${whole}}`
}

/**
 * One session, with references in place of the values that would make it too large.
 * @param refsOnly as in `sessionListReply`
 */
export function boundedSession(item: SessionListItem, refsOnly = false): SessionListItem {
  const { input, output, startContext } = item
  const [inputText, outputText] = [JSON.stringify(input), JSON.stringify(output)]
  const sizes = [inputText, inputText, outputText].map((text) => Buffer.byteLength(text))
  const room =
    MAX_ANSWER_BYTES - Buffer.byteLength(JSON.stringify({ ...item, input: null, output: null, startContext: null }))
  const limit = Math.min(wholeLimit(sizes, room, REFERENCE_BYTES), refsOnly ? REFERENCE_BYTES : Infinity)
  if (limit === Infinity) return item
  const shown = (text: string, value: JsonValue): JsonValue => {
    const bytes = Buffer.byteLength(text)
    return bytes > limit ? { ...toReference(item.rootRunId as RunId, digestOf(text), bytes) } : value
  }
  const given = shown(inputText, input)
  const context = startContext && { ...startContext, userInput: given }
  return { ...item, input: given, output: shown(outputText, output), startContext: context }
}

/** What cursors of an agent's sessions name. */
export const sessionsOf = (agentId: AgentId): string => `sessions ${agentId}`

/** The cursor of the page after this position. */
export const sessionsCursor = (agentId: AgentId, { startedAt, n }: SessionPosition): string =>
  toListCursor(sessionsOf(agentId), [startedAt, n])
