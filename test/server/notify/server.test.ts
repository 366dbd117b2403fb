/** A whole server tells receivers what happens. Source: docs/design/notifications.md#webhooks */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { verifyWebhook } from '../../../clients/typescript/src/webhook.ts'
import type { Conversation } from '../../../src/spec/api.ts'
import type { ChannelConfig, NotifyConfig } from '../../../src/spec/project/config.ts'
import { NOTICE_EVENTS } from '../../../src/spec/notice.ts'
import { removeDirectory } from '../../remove-directory.ts'
import { findFreePort } from '../../free-port.ts'
import { openServer } from '../../../src/server/open.ts'
import { ask, closing, DESK, options, running, taskOf } from '../running.ts'
import { startReceiver, type ReceivedWebhook } from './receiver.ts'

const newKey = (): string => `whsec_${randomBytes(32).toString('base64')}`
const ORDER = { order: 'A-1042', amount: 180 }
const EVERY = { events: NOTICE_EVENTS, to: ['hook'] }

const hooked = (url: string, about: ChannelConfig = {}): NotifyConfig => ({
  channels: { hook: { webhook: { url, secrets: [{ fromEnv: 'HOOK_KEY' }] }, ...about } },
  routes: [EVERY],
})

interface NoticeBody {
  readonly type: string
  readonly timestamp: string
  readonly data: Record<string, unknown>
}

const bodyOf = ({ body }: ReceivedWebhook): NoticeBody => JSON.parse(body) as NoticeBody

/** A server whose run waits for an approval, and what was told until then. */
async function waiting(notify: NotifyConfig, env: Record<string, string>, given: Parameters<typeof running>[0] = {}) {
  const house = await running({ ...given, config: { notify, ...given.config }, env })
  const { runId } = (await house.start(ORDER)).body as { runId: string }
  const cursor = await house.until(runId, 'engine.session.paused')
  const taskId = taskOf(await house.get<Conversation>(`/v1/runs/${runId}/conversation`))
  const approve = async () => {
    await house.post(`/v1/runs/${runId}/messages`, { userTaskId: taskId, approved: true, runId })
    await house.until(runId, 'engine.session.completed', cursor)
  }
  return { ...house, runId, taskId, approve }
}

test('each webhook is signed so that the libraries of the convention verify it', async () => {
  const key = newKey()
  const receiver = await startReceiver()
  const { approve, runId, taskId, agentId } = await waiting(hooked(receiver.url), { HOOK_KEY: key })
  await approve()
  await receiver.until(() => receiver.received.length === 3)
  expect(agentId).toBeDefined()
  const told = new Map(receiver.received.map((each) => [bodyOf(each).type, each]))
  expect([...told.keys()].sort()).toEqual(['deployment.changed', 'task.created', 'task.decided'])
  for (const { headers, body } of receiver.received) {
    expect(new Webhook(key).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body))
    expect(await verifyWebhook(key, headers as Record<string, string>, body)).toEqual(JSON.parse(body))
    expect(() => new Webhook(newKey()).verify(body, headers as Record<string, string>)).toThrow('No matching signature')
  }
  const { data } = bodyOf(told.get('task.created')!)
  expect(data).toMatchObject({ schemaVersion: 1, runId, taskId, agent: DESK, kind: 'approval', tool: 'acme.refunds' })
  // Content is not sent unless asked for.
  expect(receiver.received.map(({ body }) => body).join()).not.toMatch(/180|A-1042|ana@acme/)
  expect(bodyOf(told.get('task.decided')!).data).toMatchObject({ outcome: 'approved', taskId })
})

test('content is sent where the channel asks for it, and a secret never', async () => {
  const receiver = await startReceiver()
  const env = { HOOK_KEY: newKey(), BANK_TOKEN: 'A-1042-is-a-secret-here' }
  const notify = hooked(receiver.url, { content: true, env: [] })
  const house = await running({
    config: {
      notify: { ...notify, channels: { ...notify.channels, unused: { command: ['true'], env: ['BANK_TOKEN'] } } },
    },
    env,
  })
  const { runId } = (await house.start({ order: env.BANK_TOKEN, amount: 180 })).body as { runId: string }
  await house.until(runId, 'engine.session.paused')
  await receiver.until(() => receiver.received.some((each) => bodyOf(each).type === 'task.created'))
  const { data } = bodyOf(receiver.received.find((each) => bodyOf(each).type === 'task.created')!)
  expect(data['content']).toMatchObject({ task: { arguments: { amount: 180 } } })
  expect(receiver.received.map(({ body }) => body).join()).not.toContain(env.BANK_TOKEN)
})

test('while a key is replaced, receivers with the old and with the new one verify', async () => {
  const [old, next] = [newKey(), newKey()]
  const receiver = await startReceiver()
  const notify = hooked(receiver.url)
  const secrets = [{ fromEnv: 'OLD_KEY' }, { fromEnv: 'NEW_KEY' }]
  await running({
    config: { notify: { ...notify, channels: { hook: { webhook: { url: receiver.url, secrets } } } } },
    env: { OLD_KEY: old, NEW_KEY: next },
  })
  await receiver.until(() => receiver.received.length === 1)
  const [{ headers, body }] = receiver.received as [ReceivedWebhook]
  for (const key of [old, next])
    expect(new Webhook(key).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body))
})

/** What a receiver does, and what the first try says. */
test.each<[string, Parameters<typeof startReceiver>[0], { state: string; error: string | null }]>([
  ['200', (_, response) => void response.writeHead(200).end('ok'), { state: 'delivered', error: null }],
  ['500', (_, response) => void response.writeHead(500).end(), { state: 'waiting', error: 'it answered 500' }],
  [
    'a redirect',
    (_, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    { state: 'waiting', error: 'it answered 307, a redirect, which is not followed' },
  ],
  [
    '410',
    (_, response) => void response.writeHead(410).end(),
    { state: 'dead', error: 'it answered 410: the address takes no webhooks any more' },
  ],
  [
    'an answer without end',
    (_, response) => {
      response.writeHead(200)
      const flood = (): void => void (response.destroyed || response.write('x'.repeat(65_536), flood))
      flood()
    },
    { state: 'delivered', error: null },
  ],
  ['nothing', () => {}, { state: 'waiting', error: 'it did not answer within 300 ms' }],
  [
    'the end of the connection',
    (_, response) => void response.destroy(),
    { state: 'waiting', error: 'socket hang up' },
  ],
])('svc notify test says what became of it where a receiver answers %s', async (_, answer, expected) => {
  const receiver = await startReceiver(answer)
  const { operator } = await running({
    config: { notify: { ...hooked(receiver.url, { timeout: '300ms' }), routes: [] } },
    env: { HOOK_KEY: newKey() },
  })
  expect(await operator('POST /notices/test', { channel: 'hook' })).toMatchObject({
    ...expected,
    event: 'notify.test',
    attempts: 1,
  })
  expect(receiver.received).toHaveLength(1)
})

test.each<[string, string | undefined]>([
  ['is not set', undefined],
  ['is no key', 'hunter2-hunter2'],
  ['is too short', `whsec_${randomBytes(8).toString('base64')}`],
])('nothing leaves unsigned: a key that %s', async (_, key) => {
  const receiver = await startReceiver()
  const { operator } = await running({
    config: { notify: { ...hooked(receiver.url), routes: [] } },
    env: key === undefined ? {} : { HOOK_KEY: key },
  })
  expect(await operator('POST /notices/test', { channel: 'hook' })).toMatchObject({
    state: 'waiting',
    error: 'the environment variable HOOK_KEY of the server has no key of the form whsec_BASE64 with 24 to 64 bytes',
  })
  expect(receiver.received).toEqual([])
})

test('a webhook reaches no listener of the server itself', async () => {
  const port = await findFreePort()
  const notify = { ...hooked(`http://127.0.0.1:${port}/v1/healthz`), routes: [] }
  const base = options()
  const server = await openServer({ ...base, port, config: { ...base.config, notify }, env: { HOOK_KEY: newKey() } })
  closing(() => server.close())
  expect(await ask(server.operator, 'POST /notices/test', { channel: 'hook' })).toMatchObject({
    state: 'waiting',
    error: expect.stringContaining(`127.0.0.1:${port} is an address of this server`) as unknown,
  })
})

test('a dead notice is sent again with the same id', async () => {
  let isGone = true
  const receiver = await startReceiver((_, response) => void response.writeHead(isGone ? 410 : 204).end())
  const { server, operator } = await running({ config: { notify: hooked(receiver.url) }, env: { HOOK_KEY: newKey() } })
  const dead = async () =>
    (await ask<{ items: { noticeId: string }[] }>(server.operator, 'GET /notices?state=dead')).items.map(
      ({ noticeId }) => noticeId,
    )
  await receiver.until(() => receiver.received.length === 1)
  const { noticeId } = await ask<{ noticeId: string }>(server.operator, 'POST /notices/test', {
    channel: 'hook',
  })
  const ids = await dead()
  expect(ids).toContain(noticeId)
  const { facts } = await ask<{ facts: { name: string; text: string }[] }>(server.operator, 'GET /overview')
  expect(facts.find(({ name }) => name === 'Undelivered')?.text).toBe(`${ids.length} (svc notify list --dead)`)
  isGone = false
  const before = receiver.received.length
  await operator(`POST /notices/${noticeId}/retry`)
  await receiver.until(() => receiver.received.length > before)
  expect(receiver.received.at(-1)!.headers['webhook-id']).toBe(noticeId)
  await expect(operator(`POST /notices/${crypto.randomUUID()}/retry`)).rejects.toThrow('No such notice')
  await expect(operator('POST /notices/test', { channel: 'hok' })).rejects.toThrow('no channel \\"hok\\"')
})

test('a program gets the notice on its input, and no variable but those that are named', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-notify-'))
  closing(() => removeDirectory(directory))
  const file = join(directory, 'told')
  const program = join(directory, 'tell.mjs')
  writeFileSync(
    program,
    `import { readFileSync, writeFileSync } from 'node:fs'
     const { OUT, OTHER, SVC_OPERATOR } = process.env
     writeFileSync(OUT, JSON.stringify({ OTHER, SVC_OPERATOR, notice: JSON.parse(readFileSync(0, 'utf8')) }))
     console.log('not JSON')`,
  )
  const { server } = await running({
    config: {
      notify: {
        channels: {
          script: { command: ['node', program], env: ['OUT'] },
          broken: { command: ['node', '-e', 'console.error("no such host"); process.exit(3)'] },
          slow: { command: ['node', '-e', 'setInterval(() => {}, 1000)'], timeout: '400ms' },
          absent: { command: ['/nowhere/at-all'] },
        },
        routes: [],
      },
    },
    env: { OUT: file, OTHER: 'x' },
  })
  const outcomes = await Promise.all(
    ['script', 'broken', 'slow', 'absent'].map((channel) =>
      ask<{ state: string; error: string | null }>(server.operator, 'POST /notices/test', { channel }),
    ),
  )
  expect(outcomes.map(({ state, error }) => [state, error])).toEqual([
    ['delivered', null],
    ['waiting', 'exit code 3: no such host'],
    ['waiting', 'it did not answer within 400 ms'],
    ['waiting', '/nowhere/at-all could not be started: ENOENT.'],
  ])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ notice: { type: 'notify.test' } })
  expect(JSON.parse(readFileSync(file, 'utf8'))).not.toMatchObject({ OTHER: 'x' })
})
