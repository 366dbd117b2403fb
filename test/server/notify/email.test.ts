/** Mail by a real mail server. Source: docs/design/notifications.md#mail */
import { createServer, type AddressInfo, type Server as NetServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { TaskId } from '../../../src/base/ids.ts'
import { createRedactor } from '../../../src/base/secret.ts'
import type { DeskTask } from '../../../src/server/notify/channel.ts'
import { openEmailChannel } from '../../../src/server/notify/email.ts'
import type { StoredNotice } from '../../../src/spec/notice.ts'
import { aSession, aTask, NOW, WORKSPACE } from '../../store/makers.ts'
import type { NotifyConfig } from '../../../src/spec/project/config.ts'
import { closing, DESK, running } from '../running.ts'
import { waitUntil } from '../../wait-until.ts'
import { hasMailServer, startMailServer } from './mail-server.ts'

const refusal = (code: number, words: string) => Object.assign(new Error(words), { responseCode: code })

const mailbox = (about: object = {}): NotifyConfig => ({
  channels: {
    mail: {
      email: {
        server: { fromEnv: 'SMTP' },
        from: 'svc <svc@acme.example>',
        to: ['ana@acme.example', 'bo@acme.example'],
      },
      timeout: '2s',
      ...about,
    },
  },
  routes: [{ events: ['task.created'], to: ['mail'] }],
})

const testOf = async (env: Record<string, string>, about: object = {}) => {
  const { operator } = await running({ config: { notify: mailbox(about) }, env })
  return (await operator('POST /notices/test', { channel: 'mail' })) as { state: string; error: string | null }
}

describe.skipIf(!hasMailServer)('with npm ci --prefix test/server/notify/smtp --ignore-scripts', () => {
  test('a mail has the words of the card, and says on which channel a person was told', async () => {
    const { port, received } = await startMailServer()
    const house = await running({
      config: { notify: mailbox({ content: true, timeout: '30s' }) },
      env: { SMTP: `smtp://127.0.0.1:${port}` },
    })
    const { runId } = (await house.start({ order: 'A-1042', amount: 180 })).body as { runId: string }
    await house.until(runId, 'engine.session.paused')
    let told: { channel: string; state: string; event: string }[] = []
    await waitUntil(async () => {
      const { items } = (await house.operator('GET /tasks')) as { items: { people: { told?: typeof told } }[] }
      told = items[0]?.people.told ?? []
      return told[0]?.state === 'delivered'
    })
    expect(told).toEqual([
      {
        channel: 'mail',
        to: ['ana@acme.example', 'bo@acme.example'],
        event: 'task.created',
        state: 'delivered',
        at: expect.stringMatching(/Z$/) as unknown,
      },
    ])
    const [mail] = received
    expect(mail).toMatchObject({ from: 'svc@acme.example', to: ['ana@acme.example', 'bo@acme.example'] })
    expect(mail!.headers).toMatch(/^Subject: =\?UTF-8\?Q\?=5Bacme=5D_Approval_needed/m)
    expect(mail!.headers).toMatch(/^Auto-Submitted: auto-generated/im)
    expect(mail!.body).toContain('with: amount: 180')
    expect(mail!.body).toContain(`asks: ${DESK}@1.0.0`)
    expect(mail!.body).toContain('text/html')
  })

  test('a password is sent, and in no error when it is wrong', async () => {
    const secret = 'pa55 word/&'
    const asked: string[] = []
    const { port } = await startMailServer({
      disabledCommands: ['STARTTLS'],
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (
        { username, password }: { username: string; password: string },
        _: unknown,
        done: (error: Error | null, answer?: object) => void,
      ) => {
        asked.push(`${username} ${password}`)
        if (username === 'svc') return done(null, { user: 'svc' })
        done(new Error(`wrong password ${password}`))
      },
    })
    const at = (user: string): string => `smtp://${user}:${encodeURIComponent(secret)}@127.0.0.1:${port}`
    expect(await testOf({ SMTP: at('svc') })).toMatchObject({ state: 'delivered' })
    const { state, error } = await testOf({ SMTP: at('eve') })
    expect([state, asked]).toEqual(['waiting', [`svc ${secret}`, `eve ${secret}`]])
    expect(error).toMatch(/^Invalid login: 535/)
    expect(error).not.toContain('pa55')
  })

  test('a try that failed for one recipient is made again for that one alone', async () => {
    let isWell = false
    const { port, received } = await startMailServer({}, () =>
      isWell || received.length === 0 ? undefined : refusal(451, 'try again later'),
    )
    const to = ['ana@acme.example', 'bo@acme.example', 'list@acme.example']
    const { send } = mailChannel(port, { to, decide_within: '1h' }, ['Ana@acme.example'])
    expect(await send(null)).toEqual([
      { at: 'failed', why: 'Message failed: 451 try again later', receipt: { told: ['ana@acme.example'] } },
    ])
    isWell = true
    expect(await send({ told: ['ana@acme.example'] })).toEqual([{ at: 'delivered', receipt: { told: to } }])
    expect(received.map((each) => each.to)).toEqual([['ana@acme.example'], ['bo@acme.example', 'list@acme.example']])
    expect(received.map(({ body }) => body.includes(LINK.url))).toEqual([true, false])
  })

  test('a recipient whom the mail server refuses is tried again alone, and named', async () => {
    const refused = new Map([['Bo@ACME.example', refusal(450, '4.2.0 greylisted')]])
    const { port, received } = await startMailServer({
      onRcptTo: ({ address }: { readonly address: string }, _: unknown, done: (error?: Error) => void) =>
        done([...refused].find(([one]) => one.toLowerCase() === address.toLowerCase())?.[1]),
    })
    const to = ['ana@acme.example', 'Bo@ACME.example', 'list@acme.example']
    const { send } = mailChannel(port, { to })
    const told = ['ana@acme.example', 'list@acme.example']
    const why = 'Bo@acme.example: Recipient command failed: 450 4.2.0 greylisted'
    expect(await send(null)).toEqual([{ at: 'failed', why, receipt: { told } }])
    // With another notice, of which nobody was told yet: each gets what they miss, once.
    refused.clear()
    const both = await send({ told }, null)
    expect(both).toEqual([
      { at: 'delivered', receipt: { told: [...told, 'Bo@ACME.example'] } },
      { at: 'delivered', receipt: { told: [...told, 'Bo@ACME.example'] } },
    ])
    expect(received.map((each) => each.to)).toEqual([told, told, ['Bo@acme.example']])
  })

  test('a mailbox that is gone keeps no mail from the people behind it', async () => {
    const { port, received } = await startMailServer({
      onRcptTo: ({ address }: { readonly address: string }, _: unknown, done: (error?: Error) => void) =>
        done(address.startsWith('ana') ? refusal(550, '5.1.1 no such user') : undefined),
    })
    const to = ['ana@acme.example', 'bo@acme.example', 'list@acme.example']
    const people = ['ana@acme.example', 'bo@acme.example']
    const { send } = mailChannel(port, { to, decide_within: '1h' }, people)
    expect(await send(null)).toEqual([
      {
        at: 'failed',
        why: "Can't send mail - all recipients were rejected: 550 5.1.1 no such user",
        receipt: { told: ['bo@acme.example', 'list@acme.example'] },
      },
    ])
    expect(received.map((each) => each.to)).toEqual([['bo@acme.example'], ['list@acme.example']])
  })

  test.each<[string, () => Error, RegExp]>([
    ['refuses it', () => refusal(550, 'no such mailbox'), /550 no such mailbox/],
    ['asks for patience', () => refusal(451, 'try again later'), /451 try again later/],
  ])('a mail server that %s', async (_, refuse, words) => {
    const { port, received } = await startMailServer({}, refuse)
    const { state, error } = await testOf({ SMTP: `smtp://127.0.0.1:${port}` })
    expect([state, received]).toEqual(['waiting', []])
    expect(error).toMatch(words)
  })

  test.each<[string, (port: number) => NetServer]>([
    ['says nothing', () => createServer(() => {})],
    ['hangs up', () => createServer((socket) => socket.destroy())],
    [
      'never stops its greeting',
      () =>
        createServer((socket) => {
          socket.on('error', () => {})
          flood(socket.write.bind(socket))
        }),
    ],
  ])('a mail server that %s', async (_, make) => {
    const server = make(0)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const sockets = new Set<{ destroy(): void }>()
    server.on('connection', (socket) => sockets.add(socket))
    closing(
      () => new Promise<void>((resolve) => (sockets.forEach((each) => each.destroy()), server.close(() => resolve()))),
    )
    const { port } = server.address() as AddressInfo
    expect(await testOf({ SMTP: `smtp://127.0.0.1:${port}` }, { timeout: '500ms' })).toMatchObject({
      state: 'waiting',
      error: expect.any(String) as unknown,
    })
  })
})

const LINK = { url: 'https://desk.acme.example/decide/abc', expiresAt: NOW + 3_600_000 }

/** A channel without a server of svc, which sends notices of one task with these receipts. */
function mailChannel(
  port: number,
  email: { readonly to: readonly string[]; readonly decide_within?: string },
  people: readonly string[] = [],
) {
  const task = aDeskTask()
  const channel = openEmailChannel(
    { email: { server: { fromEnv: 'SMTP' }, from: 'svc@acme.example', ...email, to: [...email.to] }, content: true },
    {
      name: 'mail',
      env: { SMTP: `smtp://127.0.0.1:${port}` },
      configDirectory: '/',
      fetch,
      clock: { now: () => NOW, monotonic: () => NOW },
      redactor: createRedactor(),
      timeoutMs: 5000,
      workspace: 'acme',
      desk: {
        readTask: async () => task,
        decide: async () => undefined,
        noticesOf: async () => [],
        listPeople: async () => people.map((each) => ({ email: each, roles: [] })) as never,
        linkOf: () => undefined,
        createDecisionLink: async () => LINK,
      },
    },
  )
  const send = (...receipts: readonly StoredNotice['receipt'][]) =>
    channel.send(
      receipts.map((receipt) => ({ notice: { ...aNotice(task.id), receipt }, body: '{}', task })),
      new AbortController().signal,
    )
  return { send }
}

const session = aSession('mail')

const aDeskTask = (): DeskTask => ({
  ...aTask(session, 'mail', {
    kind: 'approval',
    tool: { name: 'refunds', ref: 'pay.refunds', version: '1.0.0', side_effect_class: 'non_idempotent_write' },
    arguments: { amount: 180 },
    argumentsDigest: 'sha256:1',
    approvalsRequired: 1,
  }),
  agent: 'pay.clerk@1.0.0',
  approvalsReceived: 0,
  apiCompletable: true,
})

const aNotice = (taskId: string): StoredNotice => ({
  id: 'n1',
  workspaceId: WORKSPACE,
  channel: 'mail',
  event: 'task.created',
  at: NOW,
  dueAt: NOW,
  data: {},
  sessionId: session.id,
  runId: session.rootRunId,
  taskId: taskId as TaskId,
  whilePending: true,
  state: 'waiting',
  attempts: 0,
  claims: 1,
  endedAt: null,
  error: null,
  receipt: null,
})

/** A line of a greeting that goes on, until the other side is gone. */
function flood(write: (text: string) => boolean): void {
  const timer = setInterval(() => void write('220-hello\r\n'.repeat(100)), 5)
  setTimeout(() => clearInterval(timer), 3000)
}

test.each<[string, Record<string, string>]>([
  ['is not set', {}],
  ['is no address of a mail server', { SMTP: 'https://mail.acme.example' }],
  ['cannot be read', { SMTP: 'smtp://[' }],
])('an address that %s is named by its variable', async (_, env) => {
  expect(await testOf(env)).toMatchObject({
    state: 'waiting',
    error: 'the environment variable SMTP of the server has no address such as smtps://user:password@host',
  })
})
