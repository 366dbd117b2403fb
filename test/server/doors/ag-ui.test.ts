/** Deployed agents behind AG-UI, driven by its official client. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { AgentSnapshot } from '../../../src/spec/snapshot.ts'
import { DESK, desk, options, running, scripted, tool } from '../running.ts'

/** What the tests use of the client. */
interface AgUiAgent {
  readonly messages: readonly {
    readonly role: string
    readonly content?: unknown
    readonly toolCalls?: readonly object[]
  }[]
  readonly pendingInterrupts: readonly (JsonObject & { readonly id: string })[]
  addMessage(message: object): void
  runAgent(
    run: { readonly resume?: readonly object[] },
    subscriber: { readonly onEvent: (given: { readonly event: JsonObject }) => void },
  ): Promise<{ readonly result: unknown }>
}
const CLIENT = resolve(import.meta.dirname, 'clients/node_modules/@ag-ui/client/dist/index.mjs')
const CHAT = { inputContract: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } } }
const ECHO = scripted([{ say: 'You said: ${input.message}' }], [], CHAT)

async function open(snapshot: AgentSnapshot, trigger: object = {}) {
  const opened = await running({ snapshot, config: { ...options().config, doors: { ag_ui: true } }, trigger })
  const url = `${opened.server.url}/ag-ui/${DESK}`
  const post = (body: unknown) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${opened.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { ...opened, url, post }
}

async function connect(url: string, secret: string, threadId = 'thread-1') {
  const { HttpAgent } = (await import(pathToFileURL(CLIENT).href)) as {
    readonly HttpAgent: new (config: object) => AgUiAgent
  }
  const agent = new HttpAgent({ url, threadId, headers: { authorization: `Bearer ${secret}` } })
  let messages = 0
  /** @returns the events of a run, without what differs from run to run */
  const run = async (text?: string, resume?: readonly object[]) => {
    if (text !== undefined) agent.addMessage({ id: `m${++messages}`, role: 'user', content: text })
    const events: JsonObject[] = []
    await agent.runAgent(resume ? { resume } : {}, { onEvent: ({ event }) => void events.push(event) })
    return events
  }
  return { agent, run }
}

const typesOf = (events: readonly JsonObject[]) => events.map(({ type }) => type)
const answer = (interruptId: string, payload: object) => ({ interruptId, status: 'resolved', payload })

describe.skipIf(!existsSync(CLIENT))('with npm ci --prefix test/server/doors/clients --ignore-scripts', () => {
  test('an answer is a message, and the thread one session', async () => {
    const { url, secret, operator } = await open(ECHO)
    const { agent, run } = await connect(url, secret)
    const events = await run('hello')
    expect([typesOf(events)[0], typesOf(events).at(-1)]).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' }, result: 'You said: hello' })
    await run('again')
    expect(agent.messages.map(({ content }) => content)).toEqual([
      'hello',
      'You said: hello',
      'again',
      'You said: again',
    ])
    const { items } = (await operator('GET /runs')) as { items: readonly { sessionId: string }[] }
    expect([items.length, new Set(items.map(({ sessionId }) => sessionId)).size]).toEqual([2, 1])
  })

  test('calls and their results are shown, an approval is an interrupt, and its answer continues the run', async () => {
    const { url, secret, operator } = await open(desk)
    const { agent, run } = await connect(url, secret)
    const events = await run('{"order":"A-1042","amount":180}')
    expect(events.filter(({ type }) => type === 'TOOL_CALL_START')).toMatchObject([
      { toolCallName: 'lookup' },
      { toolCallName: 'refunds' },
    ])
    expect(events.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({ content: '{"status":"delivered"}' })
    const [interrupt] = agent.pendingInterrupts
    expect(interrupt).toMatchObject({
      reason: 'approval',
      toolCallId: expect.any(String) as string,
      responseSchema: { properties: { approved: { type: 'boolean' } }, required: ['approved'] },
      metadata: { call: { name: 'refunds', arguments: { amount: 180 } }, votes: { have: 0, need: 1 } },
    })
    const rest = await run(undefined, [answer(interrupt!.id, { approved: true })])
    expect(rest.at(-1)).toMatchObject({ outcome: { type: 'success' }, result: { refunded: 180 } })
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: '{"refunded":180}' })
    expect(await operator('GET /runs')).toMatchObject({ total: 1 })
  })

  test('who abandons an approval rejects the call', async () => {
    const { url, secret } = await open(desk)
    const { agent, run } = await connect(url, secret)
    await run('{"order":"A-1042","amount":180}')
    const events = await run(undefined, [{ interruptId: agent.pendingInterrupts[0]!.id, status: 'cancelled' }])
    expect(events.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({
      content: expect.stringContaining('rejected') as unknown,
    })
  })

  test('a question is an interrupt; who abandons it cancels the run', async () => {
    const asks = scripted(
      [{ call: { tool: 'ask_user', arguments: { message: 'Which order?' } } }, { say: 'Looking at it.' }],
      [tool('svc.ask_user', { builtin: true })],
      CHAT,
    )
    const { url, secret } = await open(asks)
    const one = await connect(url, secret)
    await one.run('it broke')
    const [question] = one.agent.pendingInterrupts
    expect(question).toMatchObject({ reason: 'reply', message: 'Which order?' })
    const rest = await one.run(undefined, [answer(question!.id, { value: 'A-1042' })])
    expect(rest.at(-1)).toMatchObject({ result: 'Looking at it.' })
    const other = await connect(url, secret, 'thread-2')
    await other.run('it broke')
    const end = await other.run(undefined, [{ interruptId: other.agent.pendingInterrupts[0]!.id, status: 'cancelled' }])
    expect(end.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
  })

  test('a trigger that hides its timeline shows the answer, and no call', async () => {
    const { url, secret } = await open(
      scripted(
        [{ say: 'Looking.', call: { tool: 'lookup', arguments: {} } }, { say: 'Done.' }],
        [tool('acme.orders.lookup', { sideEffectClass: 'read_only' })],
      ),
      { exposeTimeline: false },
    )
    const { agent, run } = await connect(url, secret)
    expect(typesOf(await run('hello'))).not.toContain('TOOL_CALL_START')
    expect(agent.messages.at(-1)).toMatchObject({ content: 'Done.' })
  })
})

describe('what is not as AG-UI says', () => {
  const THREAD = { threadId: 't', runId: 'r', messages: [{ id: '1', role: 'user', content: 'hello' }] }
  test.each([
    ['no object', [], '/ must be an object.'],
    ['no message', { ...THREAD, messages: [] }, '/messages must end with a message of the user.'],
    ['no thread', { ...THREAD, threadId: 7 }, '/threadId must be text of 1 to 200 characters.'],
    ['tools', { ...THREAD, tools: [{ name: 'x' }] }, '/tools must be empty: an agent has tools of its own.'],
    ['an answer to nothing', { ...THREAD, resume: [answer('x', {})] }, 'No such thread that waits.'],
    [
      'a strange status',
      { ...THREAD, resume: [{ interruptId: 'x', status: 'done' }] },
      '/resume/0/status must be resolved or cancelled.',
    ],
    [
      'one answer twice',
      { ...THREAD, resume: [answer('x', {}), answer('x', {})] },
      '/resume answers an interrupt twice.',
    ],
  ])('%s: the place is named, and nothing is started', async (_, body, error) => {
    const { post, operator } = await open(ECHO)
    const response = await post(body)
    expect([response.status < 500, ((await response.json()) as { error: string }).error]).toEqual([true, error])
    expect(await operator('GET /runs')).toMatchObject({ total: 0 })
  })

  test('answers to a part of what waits, and to what does not wait, are refused', async () => {
    const { post } = await open(desk)
    const input = { ...THREAD, messages: [{ role: 'user', content: '{"order":"A-1","amount":180}' }] }
    await (await post(input)).text()
    const strange = await post({ ...input, runId: 'r2', resume: [answer('01a22602-59e3-7000-9416-1758673c6fb6', {})] })
    expect(await strange.json()).toMatchObject({
      error: expect.stringContaining('what does not wait any more') as unknown,
    })
  })

  test('a run that is sent again is the same run, and a thread that waits says again for what', async () => {
    const { post, operator } = await open(desk)
    const input = { ...THREAD, messages: [{ role: 'user', content: '{"order":"A-1","amount":180}' }] }
    const again = { ...input, runId: 'r2', messages: [] }
    const texts = [await (await post(input)).text(), await (await post(input)).text(), await (await post(again)).text()]
    for (const text of texts) expect(text).toContain('"outcome":{"type":"interrupt"')
    expect(await operator('GET /runs')).toMatchObject({ total: 1 })
  })

  test('a key that may not approve is told so, and the run goes on waiting', async () => {
    const { post, operator } = await open(desk, { allowApprovals: false })
    const input = { ...THREAD, messages: [{ role: 'user', content: '{"order":"A-1","amount":180}' }] }
    const [, id] = /"interrupts":\[\{"id":"([^"]+)"/.exec(await (await post(input)).text()) ?? []
    const refused = await post({ ...input, runId: 'r2', resume: [answer(id!, { approved: true })] })
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'approval_not_allowed' }])
    expect(await operator('GET /runs')).toMatchObject({ items: [{ status: 'WaitingForHITL' }] })
  })

  test('a front end that goes away leaves the run as it is', async () => {
    const { url, secret, get, until, operator } = await open(desk)
    const stop = new AbortController()
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...THREAD, messages: [{ role: 'user', content: '{"order":"A-1","amount":180}' }] }),
      signal: stop.signal,
    })
    await response.body!.getReader().read()
    stop.abort()
    const { items } = (await operator('GET /runs')) as { items: readonly { runId: string }[] }
    await until(items[0]!.runId, 'engine.run.paused')
    expect(await get(`/v1/runs/${items[0]!.runId}`)).toMatchObject({ status: 'WaitingForHITL' })
  })
})
