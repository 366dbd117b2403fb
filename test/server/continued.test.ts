/** Sessions over HTTP: going on, reading, naming and erasing. Source: docs/design/steering.md#a-conversation-goes-on */
import { expect, test } from 'vitest'
import type { Conversation, RunStatusBody, SessionListItem, StartRunResponse } from '../../src/spec/api.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import { snapshotOf } from './fixtures.ts'
import { closedFaultsOf } from '../api/document.ts'
import { policy } from '../engine/bench.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import { DESK, ask, policiesFor, running, taskOf, tool } from './running.ts'

const CHAT: Partial<AgentSnapshot> = {
  model: { provider: 'scripted', name: 'script', script: [{ say: 'You said ${input.message}.' }] },
  tools: [],
  policies: policiesFor(),
  output: { format: 'text', strict: false, on_invalid: 'fail' },
  inputContract: { type: 'object', required: ['message'], properties: {}, 'x-svc-metadata': ['customer'] },
}
const faultsOf = (schema: string, value: unknown): string[] =>
  closedFaultsOf({ $ref: `api#/components/schemas/${schema}` }, value)
const chat = snapshotOf(DESK, '1.0.0', CHAT)

async function open(trigger: object = {}, more: Parameters<typeof running>[0] = {}) {
  const house = await running({ snapshot: chat, trigger, ...more })
  const { server, secret, agentId } = house
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  const send = async <T>(method: string, path: string, body?: unknown, key = secret) => {
    const response = await fetch(server.url + path, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json', prefer: 'wait=20' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as T & { code: string; error: string } }
  }
  const start = async (message: string, more: object = {}, key = secret) =>
    send<StartRunResponse>('POST', `/v1/agents/${agentId}/runs`, { input: { message }, ...more }, key)
  return { ...house, send, start }
}

test('a start with sessionId answers as any start, and the session is that of its newest root run', async () => {
  const { start, send } = await open()
  const { body: first } = await start('one', { metadata: { customer: '42', secretish: 'x' }, tags: ['vip'] })
  const { status, body: second } = await start('two', { sessionId: first.sessionId })
  expect(status).toBe(202)
  expect(second).toMatchObject({
    sessionId: first.sessionId,
    status: 'Completed',
    output: 'You said two.',
    pending: [],
  })
  const { body: session } = await send<SessionListItem>('GET', `/v1/sessions/${first.sessionId}`)
  expect(session).toMatchObject({
    id: first.sessionId,
    rootRunId: second.runId,
    entryRunId: first.runId,
    runCount: 2,
    status: 'Completed',
    output: 'You said two.',
    metadata: { customer: '42', secretish: 'x' },
    tags: ['vip'],
  })
  const { body: told } = await send<Conversation>('GET', `/v1/runs/${first.runId}/conversation`)
  expect(told.runs.map(({ id, parentRunId, depth }) => [id, parentRunId, depth])).toEqual([
    [first.runId, null, 0],
    [second.runId, null, 0],
  ])
  const asked = told.items.filter(({ type }) => type === 'UserMessage').map(({ content }) => content as object)
  expect(asked[1]).toMatchObject({ earlier: { messages: 2, left_out: 0 } })
  expect((asked[1] as { text: string }).text).toContain('"customer": "42"')
  expect((asked[1] as { text: string }).text).not.toContain('secretish')
})

test('the stream of a continued run begins and ends with its own part of the session', async () => {
  const { start, events } = await open()
  const { body: first } = await start('one')
  const { body: second } = await start('two', { sessionId: first.sessionId })
  const subjectsOf = async (runId: string) => (await events(runId)).events.map(({ subject }) => subject)
  expect((await subjectsOf(first.runId)).at(0)).toBe('engine.session.started')
  const own = await subjectsOf(second.runId)
  expect([own.at(0), own.at(-1)]).toEqual(['engine.session.resumed', 'engine.session.completed'])
  expect(own.filter((subject) => subject === 'engine.session.completed').length).toBe(1)
})

test('what cannot go on is refused with a reason', async () => {
  const { start } = await open()
  const { body: first } = await start('one')
  const refused = async (more: object) => {
    const { status, body } = await start('more', more)
    return [status, body.code]
  }
  expect(await refused({ sessionId: 'x' })).toEqual([400, 'validation_failed'])
  expect(await refused({ sessionId: first.runId })).toEqual([404, 'not_found'])
  expect(await refused({ versionId: first.runId })).toEqual([400, 'validation_failed'])
  expect(await refused({ sessionId: first.sessionId, versionId: first.runId })).toEqual([404, 'not_found'])
})

test('a key may run a version that was deployed, and none that never was', async () => {
  const { start, server, send } = await open()
  const { body: first } = await start('one')
  const { body: before } = await send<SessionListItem>('GET', `/v1/sessions/${first.sessionId}`)
  const next = snapshotOf(DESK, '2.0.0', { ...CHAT, purpose: 'Later.' })
  const third = snapshotOf(DESK, '3.0.0', { ...CHAT, purpose: 'Never deployed.' })
  const bundle = (agent: typeof chat) => ({ root: DESK, agents: [agent], documents: [], closureDigest: agent.digest })
  await ask(server.operator, 'POST /publish', { bundle: bundle(next), deploy: true })
  await ask(server.operator, 'POST /publish', { bundle: bundle(third) })
  const { items } = (await ask(server.operator, `GET /versions?agent=${DESK}`)) as {
    items: { versionLabel: string; agentVersionId: string }[]
  }
  const idOf = (label: string) => items.find(({ versionLabel }) => versionLabel === label)!.agentVersionId
  const { body: deployed } = await start('two', { sessionId: first.sessionId })
  expect(await send<RunStatusBody>('GET', `/v1/runs/${deployed.runId}`)).toMatchObject({
    body: { versionLabel: '2.0.0' },
  })
  const { body: earlier } = await start('three', { sessionId: first.sessionId, versionId: before.agentVersionId })
  expect(await send<RunStatusBody>('GET', `/v1/runs/${earlier.runId}`)).toMatchObject({
    body: { versionLabel: '1.0.0' },
  })
  const { status, body } = await start('four', { sessionId: first.sessionId, versionId: idOf('3.0.0') })
  expect([status, body.code]).toEqual([409, 'version_not_deployable'])
})

/** A version of the agent with a tool that pays, on a grant that ends here, or by the approval of a person. */
function payer(version: string, rule: Partial<PolicyEntry>): AgentSnapshot {
  const entry = policy(`rule-${version}`, rule)
  return snapshotOf(DESK, version, {
    ...CHAT,
    tools: [tool('acme.pay', { sideEffectClass: 'non_idempotent_write' })],
    policies: sealSet({ ...policiesFor('pay'), entries: [entry], index: { pay: [entry.id] } }),
  })
}
const LAX: Partial<PolicyEntry> = { effect: 'grant' }
const STRICT: Partial<PolicyEntry> = { effect: 'require_approval', obligations: { approvals_required: 1 } }

test.each([
  ['the stricter version is deployed', LAX, STRICT, [403, 'version_looser']],
  ['the laxer version is deployed', STRICT, LAX, [202, undefined]],
])('a key that continues its session on the version before, where %s', async (_, before, after, expected) => {
  const [first, second] = [payer('1.0.0', before), payer('2.0.0', after)]
  const { start, server, send, agentId } = await open({}, { snapshot: first })
  const { body: begun } = await start('one')
  const { body: session } = await send<SessionListItem>('GET', `/v1/sessions/${begun.sessionId}`)
  const bundle = { root: DESK, agents: [second], documents: [], closureDigest: second.digest }
  await ask(server.operator, 'POST /publish', { bundle, deploy: true, allowWiden: true })
  const named = { sessionId: begun.sessionId, versionId: session.agentVersionId }
  const { status, body } = await start('two', named)
  expect([status, body.code]).toEqual(expected)
  // The deployed one is always right, and for an operator any.
  expect((await start('three', { sessionId: begun.sessionId })).status).toBe(202)
  const byOperator = await ask<StartRunResponse>(server.operator, `POST /v1/agents/${agentId}/runs`, {
    ...named,
    input: { message: 'four' },
  })
  expect(byOperator.sessionId).toBe(begun.sessionId)
})

test('a key whose trigger may run older versions names a laxer one, and the deployment says so', async () => {
  const [first, second] = [payer('1.0.0', LAX), payer('2.0.0', STRICT)]
  const { start, server, send } = await open({ allowOlderVersions: true }, { snapshot: first })
  const { body: begun } = await start('one')
  const { body: session } = await send<SessionListItem>('GET', `/v1/sessions/${begun.sessionId}`)
  const bundle = { root: DESK, agents: [second], documents: [], closureDigest: second.digest }
  await ask(server.operator, 'POST /publish', { bundle, deploy: true, allowWiden: true })
  expect(await ask(server.operator, `GET /looser-versions?agent=${DESK}`)).toEqual({ items: [], triggers: ['api'] })
  const named = { sessionId: begun.sessionId, versionId: session.agentVersionId }
  expect((await start('two', named)).status).toBe(202)
})

test.each([
  ['the stricter version is deployed', LAX, STRICT, [['1.0.0', 1, 2]]],
  ['the laxer version is deployed', STRICT, LAX, []],
])('open runs of the version before are listed where %s', async (_, before, after, expected) => {
  const asks = { script: [{ call: { tool: 'ask_user', arguments: { message: 'Which?' } } }, { say: 'Done.' }] }
  const askingVersion = (version: string, rule: Partial<PolicyEntry>): AgentSnapshot => {
    const { digest: _digest, ...content } = payer(version, rule)
    const policies = sealSet({ ...content.policies, index: { ...content.policies.index, ask_user: [] } })
    const tools = [...content.tools, tool('svc.ask_user', { builtin: true })]
    return snapshotOf(DESK, version, {
      ...content,
      tools,
      policies,
      model: { provider: 'scripted', name: 's', ...asks },
    })
  }
  const [first, second] = [askingVersion('1.0.0', before), askingVersion('2.0.0', after)]
  const { start, server, until } = await open({}, { snapshot: first })
  const { body: begun } = await start('one')
  await until(begun.runId, 'engine.session.paused')
  const bundle = { root: DESK, agents: [second], documents: [], closureDigest: second.digest }
  await ask(server.operator, 'POST /publish', { bundle, deploy: true, allowWiden: true })
  interface Listed {
    readonly items: readonly { version: string; runs: number; looser: readonly string[]; held: boolean }[]
  }
  const read = () => ask<Listed>(server.operator, `GET /looser-versions?agent=${DESK}`)
  const shown = (await read()).items.map(({ version, runs, looser }) => [version, runs, looser.length])
  expect(shown).toEqual(expected)
  if (expected.length === 0) return
  await ask(server.operator, 'POST /pauses', { kind: 'version', name: `${DESK}@1.0.0`, paused: true })
  expect((await read()).items.map(({ held }) => held)).toEqual([true])
})

test('an operator starts a session on a version that is not deployed, and on none that is yanked', async () => {
  const { start, server, agentId } = await open()
  const next = snapshotOf(DESK, '2.0.0', { ...CHAT, purpose: 'Later.' })
  const bundle = { root: DESK, agents: [next], documents: [], closureDigest: next.digest }
  await ask(server.operator, 'POST /publish', { bundle })
  const { items } = (await ask(server.operator, `GET /versions?agent=${DESK}`)) as {
    items: { versionLabel: string; agentVersionId: string }[]
  }
  const { agentVersionId: versionId } = items.find(({ versionLabel }) => versionLabel === '2.0.0')!
  const input = { message: 'two' }
  const byKey = await start('two', { versionId })
  expect([byKey.status, byKey.body.code]).toEqual([400, 'validation_failed'])
  interface Started {
    readonly runId: string
    readonly versionLabel: string
  }
  const named = await ask<Started>(server.operator, 'POST /runs', { agent: DESK, input, version: '2.0.0' })
  const route = `POST /v1/agents/${agentId}/runs`
  const byId = await ask<Started>(server.operator, route, { input, versionId })
  for (const { runId } of [named, byId])
    expect(await ask<Started>(server.operator, `GET /v1/runs/${runId}`)).toMatchObject({ versionLabel: '2.0.0' })
  await expect(ask(server.operator, 'POST /runs', { agent: DESK, input, version: '3.0.0' })).rejects.toThrow('3.0.0')
  await ask(server.operator, 'POST /yank', { kind: 'Agent', id: DESK, version: '2.0.0', yanked: true })
  await expect(ask(server.operator, 'POST /runs', { agent: DESK, input, version: '2.0.0' })).rejects.toThrow('yanked')
})

test('title, metadata and tags are set and removed, and bad ones change nothing', async () => {
  const { start, send } = await open()
  const { body: first } = await start('one', { tags: ['old'] })
  const path = `/v1/sessions/${first.sessionId}`
  const set = await send<SessionListItem>('PATCH', path, { title: 'Talk', tags: ['new'], metadata: { a: 'b' } })
  expect(set).toMatchObject({ status: 200, body: { title: 'Talk', tags: ['new'], metadata: { a: 'b' } } })
  for (const bad of [
    { titel: 'x' },
    { title: 'x'.repeat(201) },
    { title: 'a\nb' },
    { tags: ['a', 'a'] },
    { metadata: { '': 'x' } },
    [],
  ])
    expect((await send('PATCH', path, bad)).status).toBe(400)
  // Half of a pair of code units is no character: the replacement character stands for it in everything that is stored.
  const halves = { title: 'half \ud83d', tags: ['half \ud83d'], metadata: { '\udc00': 'x' } }
  expect((await send<SessionListItem>('PATCH', path, halves)).body).toMatchObject({
    title: 'half \ufffd',
    tags: ['half \ufffd'],
    metadata: { '\ufffd': 'x' },
  })
  const { body } = await send<SessionListItem>('PATCH', path, { title: null, tags: [], metadata: {} })
  expect([body.title, body.tags, body.metadata]).toEqual([undefined, [], {}])
})

test('a session is erased by a key only where its trigger allows it, and once', async () => {
  const closed = await open()
  const { body: kept } = await closed.start('one')
  expect(await closed.send('DELETE', `/v1/sessions/${kept.sessionId}`)).toMatchObject({
    status: 403,
    body: { code: 'delete_not_allowed' },
  })
  const { start, send, events } = await open({ allowDelete: true })
  const { body: first } = await start('one', { metadata: { a: 'words' } })
  const path = `/v1/sessions/${first.sessionId}`
  const { status, body } = await send<SessionListItem>('DELETE', path)
  expect([status, body.input, body.output, body.startContext, body.metadata]).toEqual([
    200,
    null,
    null,
    null,
    undefined,
  ])
  expect((await send<SessionListItem>('DELETE', path)).body.erasedAt).toBe(body.erasedAt)
  const { body: told } = await send<Conversation>('GET', `/v1/runs/${first.runId}/conversation`)
  expect(told.items.map(({ type, content }) => [type, content])).toEqual(
    ['UserMessage', 'Reasoning', 'Output', 'RunCompleted', 'SessionCompleted'].map((type) => [type, null]),
  )
  expect(JSON.stringify([told, await events(first.runId)])).not.toMatch(/You said|words/)
  expect(await send<RunStatusBody>('GET', `/v1/runs/${first.runId}`)).toMatchObject({
    body: { status: 'Completed', output: null, erasedAt: body.erasedAt },
  })
  expect((await events(first.runId)).events.at(-1)!.subject).toBe('engine.session.completed')
  expect(await start('two', { sessionId: first.sessionId })).toMatchObject({
    status: 409,
    body: { code: 'session_erased' },
  })
})

test('an erased session answers as the document says, to keys and to operators', async () => {
  const { server, secret, start, get, post, events, until } = await running({
    trigger: { allowDelete: true },
  })
  const { runId, sessionId } = (await start({ order: 'A-1042', amount: 180 })).body
  const path = `/v1/runs/${runId}`
  await until(runId!, 'engine.run.paused')
  const userTaskId = taskOf(await get<Conversation>(`${path}/conversation`))
  await post(`${path}/messages`, { runId, userTaskId, approved: true })
  await until(runId!, 'engine.session.completed')
  const before = (await events(runId!)).events
  const erased = await fetch(`${server.url}/v1/sessions/${sessionId}`, {
    method: 'DELETE',
    headers: { 'x-api-key': secret },
  })
  expect(erased.status).toBe(200)

  expect(await post(`${path}/messages`, { runId, text: 'Hello?' })).toMatchObject({
    status: 202,
    body: { code: 'run_not_waiting', status: 'Completed' },
  })
  expect(await post(`${path}/messages`, { runId, userTaskId, approved: true })).toMatchObject({
    status: 202,
    body: { duplicate: true },
  })
  const told = await get<Conversation>(`${path}/conversation`)
  expect(faultsOf('Conversation', told)).toEqual([])
  const left = (await events(runId!)).events
  expect(left.flatMap(({ id: _id, ...event }) => faultsOf('StreamEvent', event))).toEqual([])
  // The two events of the task, and the end of its step as it then was, have nothing left to tell.
  expect(before.filter(({ id }) => left.every((each) => each.id !== id)).map(({ subject }) => subject)).toEqual([
    'engine.user_task.created',
    'engine.step.completed',
    'engine.user_task.completed',
  ])
  const { rows } = await ask<{ rows: unknown[] }>(server.operator, `GET /runs/${runId}/outline`)
  expect(rows).toHaveLength(told.items.length)
  expect(await ask<object>(server.operator, 'GET /decisions')).toEqual({ items: [], total: 0 })
})

test('while the timeline is hidden the conversation of a session that went on has its ends alone', async () => {
  const { start, send } = await open({ exposeTimeline: false })
  const { body: first } = await start('one')
  const { body: second } = await start('two', { sessionId: first.sessionId })
  expect(second.output).toBe('You said two.')
  const { body: told } = await send<Conversation>('GET', `/v1/runs/${second.runId}/conversation`)
  expect(told.items.map(({ type, runId }) => [type, runId])).toEqual([
    ['RunCompleted', first.runId],
    ['SessionCompleted', first.runId],
    ['RunCompleted', second.runId],
    ['SessionCompleted', second.runId],
  ])
})
