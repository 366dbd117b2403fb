/** A long conversation leaves page by page and reads like one that was written at once. */
import { expect, test } from 'vitest'
import { conversationOf } from '../../src/engine/session/timeline.ts'
import { conversationReply } from '../../src/server/view/conversation.ts'
import { redactConversation, slimContent } from '../../src/server/view/redact.ts'
import { collectTimeline } from '../engine/collect-timeline.ts'
import type { Conversation } from '../../src/spec/api.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { aRun, aSession, aStart, aStep, aTurn, NO_LIMITS, NOW, runId } from '../store/makers.ts'

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
  redacted: redactConversation,
}

test.each(
  [2, 99, 100, 101, 200, 350].flatMap((count) => Object.keys(views).map((view): [number, string] => [count, view])),
)('%i steps, %s, are the text of the whole', async (count, name) => {
  const { store, session } = await stored(count)
  const view = views[name]!
  const { json, stream } = conversationReply(await conversationOf(store, session.id), view)
  const text = stream ? await new Response(stream).text() : JSON.stringify(json)
  const whole = await collectTimeline(await conversationOf(store, session.id))
  expect(whole.items.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: count }, (_, index) => index + 1))
  expect(text).toBe(JSON.stringify(view(whole)))
  expect(JSON.parse(text).items).toHaveLength(name === 'redacted' ? 2 : count)
})

test('while a long timeline is read others have their turn, and what they add is not in it', async () => {
  const { store, session } = await stored(250)
  const read = collectTimeline(await conversationOf(store, session.id))
  const now = (await store.session(session.id))!
  await store.save(aTurn({ ...now, lastOrdinal: 251 }, { steps: [aStep(session, 251)] }))
  expect((await read).items).toHaveLength(250)
  expect((await collectTimeline(await conversationOf(store, session.id))).items).toHaveLength(251)
})

test('a reader that goes away in the middle ends the reading', async () => {
  const { store, session } = await stored(350)
  const { stream } = conversationReply(await conversationOf(store, session.id), (whole) => whole)
  const reader = stream!.getReader()
  await reader.read()
  await reader.cancel()
  expect(await reader.read()).toEqual({ done: true, value: undefined })
})
