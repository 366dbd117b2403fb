/** What a key lists of its agent's sessions. Source: decisions, sections 2 and 17. */
import { expect, test } from 'vitest'
import type { SessionList } from '../../src/spec/api.ts'
import { openHouse } from './fixtures.ts'

const DESK = 'acme.refund-desk'

async function desk() {
  const house = openHouse()
  const agentId = await house.deploy(DESK)
  const list = async (key: string, query = ''): Promise<SessionList> =>
    (await (await house.api(`/v1/agents/${agentId}/sessions${query}`, { key })).json()) as SessionList
  return { ...house, agentId, list }
}

test.each([
  ['both show it', true, true, 'whole'],
  ["the key's hides it", false, true, 'empty'],
  ['the other hides it', true, false, 'empty'],
  ['both hide it', false, false, 'empty'],
])('a session of another trigger, where %s', async (_, own, other, expected) => {
  const { list, keyFor, storeRun } = await desk()
  const mine = await keyFor(DESK, { trigger: { name: 'mine', exposeTimeline: own } })
  const theirs = await keyFor(DESK, { trigger: { name: 'theirs', exposeTimeline: other } })
  const { sessionId } = await storeRun(DESK, { triggerId: theirs.triggerId, status: 'Completed' })
  const content = ({ items }: SessionList) =>
    items.map(({ id, status, input, output, error, startContext }) => [id, status, input, output, error, startContext])
  const whole = [
    [sessionId, 'Completed', { order: 'A-1042' }, 'Hello.', null, { userInput: { order: 'A-1042' }, version: '1.0.0' }],
  ]
  expect(content(await list(mine.secret))).toEqual(
    expected === 'whole' ? whole : [[sessionId, 'Completed', null, null, null, null]],
  )
  // The trigger's own sessions are never redacted here: only conversation and stream are.
  expect(content(await list(theirs.secret))).toEqual(whole)
})

test('a session of a trigger that is gone has no content for the keys of others; an operator sees it', async () => {
  const { list, keyFor, storeRun, operator, operatorRaw, agentId } = await desk()
  const mine = await keyFor(DESK, { trigger: { name: 'mine' } })
  const theirs = await keyFor(DESK, { trigger: { name: 'theirs' } })
  await storeRun(DESK, { triggerId: theirs.triggerId })
  await operator('DELETE /triggers/:id', { id: theirs.triggerId })
  expect((await list(mine.secret)).items.map(({ input }) => input)).toEqual([null])
  const { items } = (await (await operatorRaw(`GET /v1/agents/${agentId}/sessions`)).json()) as SessionList
  expect(items.map(({ input }) => input)).toEqual([{ order: 'A-1042' }])
})
