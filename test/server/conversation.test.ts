/** A long conversation leaves page by page and reads like one that was written at once. */
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { conversationOf, timelineItemOf } from '../../src/engine/interface/timeline.ts'
import { readListCursor } from '../../src/server/http/list-cursor.ts'
import { conversationCursors, conversationReply } from '../../src/server/view/conversation.ts'
import { redactConversation, slimContent } from '../../src/server/view/redact.ts'
import { collectTimeline } from '../engine/collect-timeline.ts'
import type { Conversation } from '../../src/spec/api.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { aRun, aSession, aStart, aStep, anUpdate, NO_LIMITS, NOW, runId } from '../store/makers.ts'

const clock = { now: () => NOW, monotonic: () => 0 }

/** A session of so many steps, every third of a sub-agent; the last two say that everything ended. */
async function stored(count: number) {
  const store = openSqlite(':memory:', { clock })
  const session = aSession('a', { lastOrdinal: count })
  const child = aRun(session, { id: runId('child'), parentRunId: session.rootRunId, depth: 1, output: 'secret' })
  const steps = Array.from({ length: count }, (_, index) =>
    aStep(session, index + 1, {
      ...(index % 3 === 2 && { runId: child.id }),
      ...(index === count - 2 && { type: 'RunCompleted', runId: session.rootRunId }),
      ...(index === count - 1 && { type: 'SessionCompleted', runId: session.rootRunId }),
    }),
  )
  await store.start(aStart('a', { lastOrdinal: count }, { runs: [aRun(session), child], steps }), NO_LIMITS)
  return { store, session }
}

const views: Record<string, (conversation: Conversation) => Conversation> = {
  whole: (conversation) => conversation,
  slim: slimContent,
  redacted: (conversation) => redactConversation(conversation, (id) => id === runId('a')),
}

test.each(
  [2, 99, 100, 101, 200, 350].flatMap((count) => Object.keys(views).map((view): [number, string] => [count, view])),
)('%i steps, %s, are the text of the whole', async (count, name) => {
  const { store, session } = await stored(count)
  const view = views[name]!
  const { json, stream } = conversationReply(await conversationOf(store, session.id), { view })
  const text = stream ? await new Response(stream).text() : JSON.stringify(json)
  const whole = await collectTimeline(await conversationOf(store, session.id))
  expect(whole.items.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: count }, (_, index) => index + 1))
  expect(text).toBe(JSON.stringify({ ...view(whole), nextCursor: null }))
  expect(JSON.parse(text).items).toHaveLength(name === 'redacted' ? 2 : count)
})

test('while a long timeline is read others have their turn, and what they add is not in it', async () => {
  const { store, session } = await stored(250)
  const read = collectTimeline(await conversationOf(store, session.id))
  const now = (await store.session(session.id))!
  await store.save(anUpdate({ ...now, lastOrdinal: 251 }, { steps: [aStep(session, 251)] }))
  expect((await read).items).toHaveLength(250)
  expect((await collectTimeline(await conversationOf(store, session.id))).items).toHaveLength(251)
})

test('a reader that goes away in the middle ends the reading', async () => {
  const { store, session } = await stored(350)
  const { stream } = conversationReply(await conversationOf(store, session.id), { view: (whole) => whole })
  const reader = stream!.getReader()
  await reader.read()
  await reader.cancel()
  expect(await reader.read()).toEqual({ done: true, value: undefined })
})

const MIB = 1024 * 1024

/** A session whose steps have results of so many bytes each. */
async function withResults(sizes: readonly number[]) {
  const store = openSqlite(':memory:', { clock })
  const lastOrdinal = sizes.length
  const session = aSession('a', { lastOrdinal })
  const steps = sizes.map((size, index) =>
    aStep(session, index + 1, { type: 'ToolResult', content: { tool_call_id: `c${index}`, result: 'x'.repeat(size) } }),
  )
  await store.start(aStart('a', { lastOrdinal }, { steps }), NO_LIMITS)
  return { store, session }
}

async function readBounded(
  { store, session }: Awaited<ReturnType<typeof withResults>>,
  { after = 0, ...options }: { after?: number; refsOnly?: boolean; take?: number } = {},
) {
  const paged = await conversationOf(store, session.id, { after })
  const { json, stream } = conversationReply(paged, { view: (whole) => whole, ...options })
  const text = stream ? await new Response(stream).text() : JSON.stringify(json)
  return { bytes: Buffer.byteLength(text), ...(JSON.parse(text) as Conversation) }
}

/** Ordinal, and whether the result is whole or a reference. */
const forms = ({ items }: Conversation) =>
  items.map(({ ordinal, content }) => {
    const { result } = content as { result: unknown }
    return [ordinal, typeof result === 'string' ? result.length : 'reference']
  })

test('the largest results give way to references beyond 8 MiB, and are read at their address', async () => {
  const made = await withResults([MIB, 3 * MIB, 10, 2 * MIB, 3 * MIB])
  const answer = await readBounded(made)
  expect(forms(answer)).toEqual([
    [1, MIB],
    [2, 'reference'],
    [3, 10],
    [4, 2 * MIB],
    [5, 'reference'],
  ])
  expect([answer.nextCursor, answer.bytes < 8 * MIB]).toEqual([null, true])
  const text = JSON.stringify('x'.repeat(3 * MIB))
  expect(answer.items[1]!.content).toMatchObject({
    tool_call_id: 'c1',
    step_kind: 'ToolResult',
    result: {
      svcValue: digestOf(text),
      bytes: text.length,
      url: `/v1/runs/${made.session.rootRunId}/values/${digestOf(text)}?ordinal=2`,
    },
  })
  const item = await timelineItemOf(made.store, made.session.id, 2)
  expect((item!.content as { result: string }).result).toBe('x'.repeat(3 * MIB))
})

test('with values=ref everything of more than 4 KiB is a reference', async () => {
  const answer = await readBounded(await withResults([3900, 5000]), { refsOnly: true })
  expect(forms(answer)).toEqual([
    [1, 3900],
    [2, 'reference'],
  ])
})

test('a conversation that is too long without its large values ends with what fits, and goes on after its cursor', async () => {
  const count = 6000
  const made = await withResults(Array.from({ length: count }, () => 3000))
  const seen: number[] = []
  let pages = 0
  for (let cursor: string | null | undefined; cursor !== null;) {
    const after = cursor === undefined ? 0 : readListCursor(conversationCursors(made.session.id), cursor)[0]!
    const answer = await readBounded(made, { after })
    expect(answer.bytes).toBeLessThan(8 * MIB)
    seen.push(...answer.items.map(({ ordinal }) => ordinal))
    cursor = answer.nextCursor!
    pages++
  }
  expect(seen).toEqual(Array.from({ length: count }, (_, index) => index + 1))
  expect(pages).toBe(3)
})

test('take ends a page early', async () => {
  const made = await withResults([1, 2, 3])
  const first = await readBounded(made, { take: 2 })
  expect(forms(first)).toEqual([
    [1, 1],
    [2, 2],
  ])
  const [after] = readListCursor(conversationCursors(made.session.id), first.nextCursor!)
  const second = await readBounded(made, { take: 2, after: after! })
  expect([forms(second), second.nextCursor]).toEqual([[[3, 3]], null])
})

test.each([1, 49, 50, 120, 350])('pages of %i items read no more of a long timeline than they show', async (take) => {
  const { store, session } = await stored(2600)
  let read = 0
  const stepSizes: typeof store.stepSizes = async (...from) => {
    const sizes = await store.stepSizes(...from)
    read += sizes.length
    return sizes
  }
  const ordinals: number[] = []
  for (let after: number | undefined = 0; after !== undefined && ordinals.length < 3 * take;) {
    read = 0
    const part = await conversationOf({ ...store, stepSizes }, session.id, { after, take })
    const { json, stream } = conversationReply(part, { view: (whole) => whole, take })
    const { items, nextCursor } = (stream ? await new Response(stream).json() : json) as Conversation
    expect(read).toBeLessThanOrEqual(take + 1)
    expect(items.length).toBeLessThanOrEqual(take)
    ordinals.push(...items.map(({ ordinal }) => ordinal))
    after = nextCursor == null ? undefined : readListCursor(conversationCursors(session.id), nextCursor)[0]
  }
  expect(ordinals).toEqual(Array.from({ length: Math.min(3 * take, 2600) }, (_, index) => index + 1))
})

test('of more runs than an answer holds the newest are shown, and it says how many are left out', async () => {
  const store = openSqlite(':memory:', { clock })
  const session = aSession('a', { lastOrdinal: 1, runCount: 4003 })
  const later = Array.from({ length: 4002 }, (_, index) =>
    aRun(session, { id: runId(`later ${index}`), input: { message: 'x'.repeat(100) } }),
  )
  const steps = [aStep(session, 1, { type: 'RunCompleted' })]
  await store.start(
    aStart('a', { lastOrdinal: 1, runCount: 4003 }, { runs: [aRun(session), ...later], steps }),
    NO_LIMITS,
  )
  for (const view of [views['whole']!, views['redacted']!]) {
    const { json } = conversationReply(await conversationOf(store, session.id), { view })
    const { runs, runsLeftOut, items } = json as unknown as Conversation
    expect([runs.length, runsLeftOut, items.length]).toEqual([4000, 3, 1])
    expect(runs.at(-1)!.id).toBe(later.at(-1)!.id)
    expect(JSON.stringify(json).length).toBeLessThan(8 * MIB)
  }
})
