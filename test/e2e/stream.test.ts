import { EventSource } from 'eventsource'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from './caller.ts'
import { openClerk, type Clerk } from './clerk.ts'

let clerk: Clerk
beforeAll(async () => {
  clerk = await openClerk()
})
afterAll(() => clerk.close())

interface Frame {
  readonly id?: number
  readonly event: Json
}

const open = (runId: string, { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {}) =>
  fetch(`${clerk.server.url}/v1/runs/${runId}/stream${query}`, {
    headers: { 'X-API-Key': clerk.access.secret, ...headers },
  })

/** What a simple reader makes of the text: blank lines end a frame, and only two fields are looked at. */
const framesOf = (text: string): Frame[] =>
  text.split('\n\n').flatMap((block) => {
    const lines = block.split('\n')
    const data = lines.filter((line) => line.startsWith('data:'))
    if (data.length === 0) return []
    expect(data).toHaveLength(1)
    expect(lines.filter((line) => line.startsWith('event:'))).toEqual([])
    const id = lines.find((line) => line.startsWith('id:'))
    return [{ ...(id !== undefined && { id: Number(id.slice(3)) }), event: JSON.parse(data[0]!.slice(5)) }]
  })

const read = async (runId: string, options?: Parameters<typeof open>[1]): Promise<Frame[]> =>
  framesOf(await (await open(runId, options)).text())

const subjects = (frames: readonly Frame[]): string[] => frames.map(({ event }) => event.subject)

test('a run that has ended is told from its first event to its last, and then the stream ends', async () => {
  const runId = await clerk.begin('hello')
  const response = await open(runId)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  expect(response.headers.get('cache-control')).toContain('no-store')
  expect(response.headers.get('x-request-id')).toBeTruthy()
  const text = await response.text()
  expect(text.startsWith('retry: 1000\n\n')).toBe(true)
  const frames = framesOf(text)
  expect(frames.map(({ id }) => id)).toEqual(frames.map((_, at) => at + 1))
  expect(subjects(frames)).toEqual([
    'engine.session.started',
    'engine.run.started',
    'engine.step.completed',
    'engine.step.completed',
    'engine.step.completed',
    'engine.run.completed',
    'engine.session.completed',
  ])
  const { sessionId } = (await clerk.api.get(`/v1/runs/${runId}`)).body
  for (const { event } of frames) {
    expect(Object.keys(event)).toEqual(['ts', 'kind', 'subject', 'data'])
    expect(event.ts).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(event.kind).toBe(event.subject.split('.')[1])
    expect(event.data).toMatchObject({ sessionId, runId })
  }
  expect(frames.at(-1)!.event.data).toMatchObject({ status: 'Completed', output: 'Hello.', error: null })
  const items = await clerk.api.items(runId)
  const steps = frames.filter(({ event }) => event.kind === 'step').map(({ event }) => event.data.step)
  expect(steps).toEqual(items.slice(0, steps.length))
})

test('a run is followed live through its pause; text of the model arrives in pieces without an id', async () => {
  const runId = await clerk.begin('text')
  const stream = open(runId).then((response) => response.text())
  const { user_task_id: userTaskId } = await clerk.api.task(runId)
  await clerk.api.send(runId, { userTaskId, textValue: 'a long and winding answer' })
  const text = await stream
  const frames = framesOf(text)
  const stored = frames.filter(({ id }) => id !== undefined)
  expect(stored.map(({ id }) => id)).toEqual(stored.map((_, at) => at + 1))
  expect(subjects(stored)).toEqual([
    'engine.session.started',
    'engine.run.started',
    'engine.step.completed',
    'engine.step.completed',
    'engine.step.completed',
    'engine.step.started',
    'engine.step.started',
    'engine.user_task.created',
    'engine.run.paused',
    'engine.session.paused',
    'engine.step.completed',
    'engine.user_task.completed',
    'engine.step.completed',
    'engine.step.completed',
    'engine.step.completed',
    'engine.run.resumed',
    'engine.session.resumed',
    'engine.step.completed',
    'engine.step.completed',
    'engine.run.completed',
    'engine.session.completed',
  ])
  const created = stored.find(({ event }) => event.subject === 'engine.user_task.created')!.event
  expect(created.data.task).toMatchObject({ user_task_id: userTaskId, kind: 'text', status: 'pending' })
  const deltas = frames.filter(({ event }) => event.subject === 'engine.step.delta')
  for (const { id, event } of deltas) {
    expect(id).toBeUndefined()
    expect(event.kind).toBe('step')
  }
  expect(text.match(/^: live$/gm)).toHaveLength(1)
})

describe('a reader that comes back', () => {
  let runId: string
  let all: Frame[]
  beforeAll(async () => {
    runId = await clerk.begin('hello')
    all = await read(runId)
  })

  test('with the last id it saw gets exactly what follows', async () => {
    for (const { id } of all.slice(0, -1)) {
      const rest = all.filter((each) => each.id! > id!)
      expect(await read(runId, { headers: { 'Last-Event-ID': String(id) } })).toEqual(rest)
      expect(await read(runId, { query: `?after=${id}` })).toEqual(rest)
    }
    expect(await read(runId, { query: '?after=0' })).toEqual(all)
  })

  test('after everything is told with 204 to stop', async () => {
    const last = String(all.at(-1)!.id)
    expect((await open(runId, { headers: { 'Last-Event-ID': last } })).status).toBe(204)
  })

  test.each(['8', '999999', '-1', 'abc', '1.5'])('with a cursor that names no event (%s) gets 400', async (cursor) => {
    for (const options of [{ headers: { 'Last-Event-ID': cursor } }, { query: `?after=${cursor}` }]) {
      const response = await open(runId, options)
      expect([response.status, ((await response.json()) as Json).code]).toEqual([400, 'validation_failed'])
    }
  })
})

test("the root's stream has its sub-agent's events; the sub-agent's own ends with it", async () => {
  const root = await clerk.begin('child')
  const { user_task_id: userTaskId } = await clerk.api.task(root)
  const child = (await clerk.api.get(`/v1/runs/${root}/conversation`)).body.runs[1].id
  const following = Promise.all([read(root), read(child)])
  await clerk.api.send(root, { userTaskId })
  const [ofRoot, ofChild] = await following
  const stored = ofRoot.filter(({ id }) => id !== undefined)
  expect(stored.map(({ id }) => id)).toEqual(stored.map((_, at) => at + 1))
  const spawned = stored.find(({ event }) => event.subject === 'engine.subagent.spawned')!.event
  expect(spawned).toMatchObject({
    kind: 'run',
    data: { runId: root, childRunId: child, agentName: 'acme.helper', depth: 1 },
  })
  expect(subjects(stored)).toContain('engine.subagent.completed')
  expect(stored.some(({ event }) => event.data.runId === child && event.kind === 'user_task')).toBe(true)
  expect(subjects(stored).at(-1)).toBe('engine.session.completed')
  expect(ofChild.filter(({ event }) => event.kind !== 'session').every(({ event }) => event.data.runId === child)).toBe(
    true,
  )
  expect(ofChild.at(-1)!.event).toMatchObject({
    subject: 'engine.run.completed',
    data: { runId: child, output: 'signed' },
  })
})

test('text of the model arrives while it is written, without an id, and is whole in its step', async () => {
  const runId = await clerk.api.start(clerk.agentId, { case: 'moment' })
  const frames = await read(runId)
  const deltas = frames.filter(({ event }) => event.subject === 'engine.step.delta')
  for (const { id, event } of deltas) expect([id, event.kind, event.data.runId]).toEqual([undefined, 'step', runId])
  expect(deltas.map(({ event }) => event.data.text).join('')).toBe('A moment later.')
  // Not stored: who comes later does not see them, and misses nothing.
  const later = await read(runId)
  expect(later).toEqual(frames.filter(({ id }) => id !== undefined))
  const said = later.find(({ event }) => event.data.step?.type === 'Reasoning')!.event.data.step
  expect(said.content.text).toBe('A moment later.')
})

test('the votes of a task and its end are told with the task as it is then', async () => {
  const runId = await clerk.begin('pay')
  const { user_task_id: userTaskId, arguments_digest: digest } = await clerk.api.task(runId)
  await (
    await clerk.approver('ana@acme.example')
  )(userTaskId, digest)
  await clerk.api.post(`/v1/runs/${runId}/cancel`)
  const tasks = (await read(runId)).filter(({ event }) => event.kind === 'user_task').map(({ event }) => event)
  expect(tasks.map(({ subject, data: { task } }) => [subject, task.status, task.approvals_received])).toEqual([
    ['engine.user_task.created', 'pending', 0],
    ['engine.user_task.voted', 'pending', 1],
    ['engine.user_task.cancelled', 'cancelled', 1],
  ])
  for (const { data } of tasks) expect(data.task.user_task_id).toBe(userTaskId)
})

test('a question between agents is told as aitl events', async () => {
  const frames = await read(await clerk.begin('question'))
  const aitl = frames.filter(({ event }) => event.kind === 'aitl').map(({ event }) => event)
  expect(aitl.map(({ subject }) => subject)).toEqual(['engine.aitl.requested', 'engine.aitl.answered'])
  expect(aitl[0].data).toMatchObject({ requestId: aitl[1].data.requestId, question: 'Which form?' })
  expect(aitl[1].data).toMatchObject({ answer: 'form B' })
})

test('a cancelled run ends its streams', async () => {
  const runId = await clerk.api.start(clerk.agentId, { case: 'slow' })
  const following = read(runId)
  await clerk.api.post(`/v1/runs/${runId}/cancel`)
  expect(subjects(await following).slice(-2)).toEqual(['engine.run.cancelled', 'engine.session.cancelled'])
})

test('a standard EventSource reads it, and stops by itself when everything was sent', async () => {
  const runId = await clerk.begin('hello')
  const seen: string[] = []
  const statuses: number[] = []
  await new Promise<void>((done, failed) => {
    const source = new EventSource(`${clerk.server.url}/v1/runs/${runId}/stream`, {
      fetch: async (url, init) => {
        const response = await fetch(url, { ...init, headers: { ...init.headers, 'X-API-Key': clerk.access.secret } })
        statuses.push(response.status)
        return response
      },
    })
    source.addEventListener('message', ({ data, lastEventId }) => {
      seen.push(`${lastEventId} ${(JSON.parse(data as string) as Json).subject}`)
    })
    source.addEventListener('error', ({ code }) => {
      if (source.readyState === source.CLOSED) done()
      else if (code !== undefined && code !== 204) failed(new Error(`closed with ${code}`))
    })
  })
  expect(statuses).toEqual([200, 204])
  expect(seen).toHaveLength(7)
  expect(seen.at(-1)).toBe('7 engine.session.completed')
})

test('a reader that leaves in the middle disturbs nobody', async () => {
  const runId = await clerk.begin('text')
  const { port } = new URL(clerk.server.url)
  await new Promise<void>((done) => {
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write(
        `GET /v1/runs/${runId}/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-API-Key: ${clerk.access.secret}\r\n\r\n`,
      ),
    )
    socket.once('data', () => socket.destroy())
    socket.once('close', () => done())
  })
  const { user_task_id: userTaskId } = await clerk.api.task(runId)
  await clerk.api.send(runId, { userTaskId, textValue: 'x' })
  expect((await clerk.api.settled(runId)).status).toBe('Completed')
})
