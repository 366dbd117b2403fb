/** What a key lists of its agent's sessions. Source: docs/design/http.md#sessions-and-lists */
import { describe, expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { SessionList, ValueReference } from '../../src/spec/api.ts'
import { openFixture } from './fixtures.ts'
import { running } from './running.ts'

const DESK = 'acme.refund-desk'

async function desk() {
  const fixture = openFixture()
  const agentId = await fixture.deploy(DESK)
  const list = async (key: string, query = ''): Promise<SessionList> =>
    (await (await fixture.api(`/v1/agents/${agentId}/sessions${query}`, { key })).json()) as SessionList
  return { ...fixture, agentId, list }
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

test.each([
  ['both show it', true, true, 1],
  ["the key's hides it", false, true, 0],
  ['the other hides it', true, false, 0],
])('a session of another trigger is found by its tag only where it is shown: %s', async (_, own, other, found) => {
  const { list, keyFor, storeRun } = await desk()
  const mine = await keyFor(DESK, { trigger: { name: 'mine', exposeTimeline: own } })
  const theirs = await keyFor(DESK, { trigger: { name: 'theirs', exposeTimeline: other } })
  for (const { triggerId } of [mine, theirs]) await storeRun(DESK, { triggerId, tags: ['vip'] })
  const count = async (key: string, query = '?tag=vip'): Promise<readonly number[]> => {
    const { items, total } = await list(key, query)
    return [items.length, total]
  }
  expect(await count(mine.secret)).toEqual([1 + found, 1 + found])
  expect(await count(mine.secret, '?tag=vip&status=Running')).toEqual([1 + found, 1 + found])
  expect(await count(mine.secret, '')).toEqual([2, 2])
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

const MIB = 1024 * 1024

describe('a page of large values', () => {
  /** Sessions with an input of so many bytes each, and their key. */
  async function withInputs(sizes: readonly number[]) {
    const fixture = await desk()
    const { secret, triggerId } = await fixture.keyFor(DESK)
    const runs: { readonly runId: string; readonly input: JsonObject }[] = []
    for (const size of sizes) {
      const input = { text: 'x'.repeat(size - '{"text":""}'.length) }
      const { runId } = await fixture.storeRun(DESK, { triggerId, input })
      runs.unshift({ runId, input })
      fixture.clock.wind(1)
    }
    const read = async (query: string) => {
      const response = await fixture.api(`/v1/agents/${fixture.agentId}/sessions?${query}`, { key: secret })
      const text = await response.text()
      expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
      return { bytes: Buffer.byteLength(text), list: JSON.parse(text) as SessionList }
    }
    return { ...fixture, key: secret, runs, read }
  }
  const reference = (runId: string, input: JsonObject): ValueReference => {
    const text = JSON.stringify(input)
    const svcValue = digestOf(text)
    return { svcValue, bytes: text.length, url: `/v1/runs/${runId}/values/${svcValue}` }
  }

  test('comes whole as long as it fits', async () => {
    const { read, runs } = await withInputs([MIB, MIB, 100, 5000])
    const { list } = await read('')
    expect(list.items.map(({ input }) => input)).toEqual(runs.map(({ input }) => input))
    expect(list.items.map(({ startContext }) => startContext?.['userInput'])).toEqual(runs.map(({ input }) => input))
  })

  test('names the largest by reference beyond 8 MiB, each at an address of its own', async () => {
    const { read, runs, api, key } = await withInputs([2 * MIB, MIB, 300, MIB, 2 * MIB, 3 * MIB])
    const { list, bytes } = await read('')
    const shown = runs.map(({ runId, input }, at) => ([0, 1, 5].includes(at) ? reference(runId, input) : input))
    expect(list.items.map(({ input }) => input)).toEqual(shown)
    expect(list.items.map(({ startContext }) => startContext)).toEqual(
      shown.map((userInput) => ({ userInput, version: '1.0.0' })),
    )
    expect(bytes).toBeLessThan(8 * MIB)
    const { url, svcValue } = list.items[0]!.input as unknown as ValueReference
    const value = await (await api(url, { key })).text()
    expect([digestOf(value), JSON.parse(value)]).toEqual([svcValue, runs[0]!.input])
  })

  test('of 500 sessions stays below 8 MiB, and is written without reading what it only names', async () => {
    const { read, services } = await withInputs(Array.from({ length: 500 }, () => 40_000))
    let reads = 0
    const { store } = services
    const sessionValue = store.sessionValue.bind(store)
    store.sessionValue = (id, name) => (reads++, sessionValue(id, name))
    const { list, bytes } = await read('take=500')
    expect([list.items.length, list.total, list.nextCursor]).toEqual([500, 500, null])
    expect([bytes < 8 * MIB, reads]).toEqual([true, 0])
  })

  test('with values=ref names everything of more than 4 KiB', async () => {
    const { read, runs, api, key } = await withInputs([4096, 4097])
    const { list } = await read('values=ref')
    const [large, small] = runs
    expect(list.items.map(({ input }) => input)).toEqual([reference(large!.runId, large!.input), small!.input])
    for (const item of list.items)
      expect(await (await api(`/v1/sessions/${item.id}?values=ref`, { key })).json()).toEqual(item)
    expect((await api(`/v1/sessions/${list.items[0]!.id}?values=all`, { key })).status).toBe(400)
  })

  test('leaves the value of another trigger to those who list it', async () => {
    const { runs, api, keyFor, operator } = await withInputs([5000])
    const { runId, input } = runs[0]!
    const other = await keyFor(DESK, { trigger: { name: 'other' } })
    const { url } = reference(runId, input)
    expect((await api(url, { key: other.secret })).status).toBe(200)
    await operator('PATCH /triggers/:id', { id: other.triggerId, body: { exposeTimeline: false } })
    expect((await api(url, { key: other.secret })).status).toBe(403)
    expect((await api(url.replace(/.$/, '-'), { key: other.secret })).status).toBe(403)
  })
})

test('cursors repeat and skip nothing when sessions are added; altered ones and those of other lists are refused', async () => {
  const { api, agentId, deploy, keyFor, storeRun, list } = await desk()
  const { secret } = await keyFor(DESK)
  // All at one instant: the order of rows decides.
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.unshift((await storeRun(DESK)).sessionId)
  const first = await list(secret, '?take=2')
  await storeRun(DESK)
  const second = await list(secret, `?take=2&cursor=${first.nextCursor}`)
  const third = await list(secret, `?take=2&cursor=${second.nextCursor}`)
  expect([first, second, third].flatMap(({ items }) => items.map(({ id }) => id))).toEqual(ids)
  expect([second.total, third.nextCursor]).toEqual([6, null])
  const other = await deploy('acme.other')
  const { secret: otherKey } = await keyFor('acme.other')
  const refused = [
    await api(`/v1/agents/${agentId}/sessions?cursor=${first.nextCursor}x`, { key: secret }),
    await api(`/v1/agents/${agentId}/sessions?cursor=abc`, { key: secret }),
    await api(`/v1/agents/${other}/sessions?cursor=${first.nextCursor}`, { key: otherKey }),
    await api(`/v1/agents/${agentId}/sessions?skip=1&cursor=${first.nextCursor}`, { key: secret }),
  ]
  const details = await Promise.all(
    refused.map(async (each) => ((await each.json()) as { details: unknown[] }).details),
  )
  const unknown = [{ path: '/cursor', message: 'must be the nextCursor of an earlier page of this list' }]
  expect(details).toEqual([unknown, unknown, unknown, [{ path: '/skip', message: 'cannot come with cursor' }]])
})

test('refuses a status that no run has: a misspelt one would list nothing', async () => {
  const { api, agentId, keyFor } = await desk()
  const { secret: key } = await keyFor(DESK)
  const answer = await api(`/v1/agents/${agentId}/sessions?status=Failed,completed`, { key })
  expect([answer.status, ((await answer.json()) as { details: unknown }).details]).toEqual([
    400,
    [
      {
        path: '/status',
        message:
          'must be Running, WaitingForHITL, WaitingForAITL, WaitingForResponse, Completed, Failed or Cancelled, or several of them separated by commas',
      },
    ],
  ])
  expect((await api(`/v1/agents/${agentId}/sessions?status=Failed,Completed`, { key })).status).toBe(200)
})

test('lists those of a version by its label, beside the other filters', async () => {
  const { api, agentId, deploy, keyFor, storeRun, list } = await desk()
  const { secret: key } = await keyFor(DESK)
  const { sessionId } = await storeRun(DESK, { status: 'Completed' })
  await storeRun(DESK)
  await deploy(DESK, '1.1.0-rc.1+a')
  const of = async (query: string) => {
    const { items, total, nextCursor } = await list(key, query)
    return [items.map(({ id }) => id), total, nextCursor]
  }
  expect(await of('?version=1.0.0&status=Completed&from=2026-11-20T10:00:00Z')).toEqual([[sessionId], 1, null])
  expect((await list(key, '?version=1.0.0')).total).toBe(2)
  expect(await of('?version=1.1.0-rc.1%2Ba')).toEqual([[], 0, null])
  expect(await of('?version=9.9.9')).toEqual([[], 0, null])
  const refused = async (query: string) => {
    const answer = await api(`/v1/agents/${agentId}/sessions?${query}`, { key })
    return [answer.status, ((await answer.json()) as { details: unknown }).details]
  }
  const label = { path: '/version', message: 'must be the label of a version such as 1.4.0' }
  expect([await refused('version=latest'), await refused('version=')]).toEqual([
    [400, [label]],
    [400, [label]],
  ])
  expect(await refused('version=1.0.0&versionId=x')).toEqual([
    400,
    [{ path: '/version', message: 'cannot come with versionId' }],
  ])
})

test('lists by the time of the start', async () => {
  const { clock, keyFor, storeRun, list } = await desk()
  const { secret } = await keyFor(DESK)
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    ids.push((await storeRun(DESK)).sessionId)
    clock.wind(60_000)
  }
  const { items, total } = await list(secret, '?from=2026-11-20T10:01:00Z&to=2026-11-20T12:02:00%2B02:00')
  expect([items.map(({ id }) => id), total]).toEqual([[ids[1]], 1])
})

describe('metadata and tags', () => {
  async function started(...bodies: object[]) {
    const made = await running()
    for (const body of bodies) {
      const { status } = await made.post(`/v1/agents/${made.agentId}/runs`, { input: INPUT, ...body })
      expect(status).toBe(202)
    }
    const list = (query: string) => made.get<SessionList>(`/v1/agents/${made.agentId}/sessions${query}`)
    return { ...made, list }
  }
  const INPUT = { order: 'A-1042', amount: 180 }

  test('are listed, filter, and reach no model', async () => {
    const { list, server } = await started(
      { metadata: { customer: 'customer seven' }, tags: ['vip', 'eu'] },
      { tags: ['eu'] },
      {},
    )
    const { items } = await list('')
    expect(items.map(({ metadata, tags }) => [metadata, tags])).toEqual([
      [undefined, undefined],
      [undefined, ['eu']],
      [{ customer: 'customer seven' }, ['vip', 'eu']],
    ])
    const tagged = await list('?tag=eu&take=1')
    const next = await list(`?tag=eu&take=1&cursor=${tagged.nextCursor}`)
    expect([tagged, next].map((each) => [each.items.map(({ id }) => id), each.total])).toEqual([
      [[items[1]!.id], 2],
      [[items[2]!.id], 2],
    ])
    expect((await list('?tag=vip&status=Cancelled')).items).toEqual([])
    const steps = await server.store.stepsOfSession(items[2]!.id as never)
    expect(JSON.stringify(steps)).not.toContain('customer seven')
  })

  test.each([
    [{ metadata: { a: 1 } }, '/metadata/a', 'must be a string'],
    [
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, ''])) },
      '/metadata',
      'must have at most 16 entries',
    ],
    [{ metadata: { ['é'.repeat(33)]: '' } }, `/metadata/${'é'.repeat(33)}`, 'needs a name of 1 to 64 bytes'],
    [{ metadata: { a: 'é'.repeat(257) } }, '/metadata/a', 'must have at most 512 bytes'],
    [{ metadata: { a: '\u0000' } }, '/metadata/a', 'must have no control characters, nor half of a surrogate pair'],
    [{ tags: ['a', 'a'] }, '/tags/1', 'is given twice'],
    [{ tags: ['é'.repeat(33)] }, '/tags/0', 'must have at most 64 bytes'],
    [{ tags: Array.from({ length: 11 }, (_, n) => `t${n}`) }, '/tags', 'must have at most 10 entries'],
  ])('beyond their bounds are refused: %j', async (body, path, message) => {
    const { post, agentId } = await started()
    const refused = await post<{ details: unknown }>(`/v1/agents/${agentId}/runs`, { input: INPUT, ...body })
    expect([refused.status, refused.body.details]).toEqual([400, [{ path, message }]])
  })
})
