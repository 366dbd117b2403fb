/** What a channel of Slack does with notices, whatever Slack answers. Source: docs/design/notifications.md#slack */
import { expect, test } from 'vitest'
import { createRedactor } from '../../../src/base/secret.ts'
import { createTransport } from '../../../src/base/net/transport.ts'
import type { TaskId } from '../../../src/base/ids.ts'
import type { ChannelConfig } from '../../../src/spec/project/config.ts'
import type { NoticeEvent, StoredNotice } from '../../../src/spec/notice.ts'
import type { ShownTask } from '../../../src/spec/task.ts'
import { openChannel, timeoutOfChannel } from '../../../src/server/notify/channels.ts'
import type { NoticeMessage, TryOutcome } from '../../../src/server/notify/channel.ts'
import { aMember, startFakeSlack, type FakeSlack } from '../../fakes/slack.ts'
import { renderBlocks } from '../../fakes/slack-blocks.ts'
import { aSession, aTask, NOW, WORKSPACE } from '../../store/makers.ts'
import { closing } from '../running.ts'

const session = aSession('a')

/** A desk of tasks and notices that a test changes, and a channel that reads it. */
async function open(about: Partial<NonNullable<ChannelConfig['slack']>> = {}, env = { TOKEN: 'xoxb-1-test' }) {
  const slack = await startFakeSlack()
  closing(() => slack.close())
  const tasks = new Map<TaskId, ShownTask>()
  const notices: StoredNotice[] = []
  const people: { email: string; roles: readonly string[] }[] = []
  const config: ChannelConfig = {
    slack: {
      token: { fromEnv: 'TOKEN' },
      ...('role' in about ? {} : { channel: 'C0FINANCE' }),
      api: slack.api,
      ...about,
    },
    content: true,
  }
  const channel = openChannel(config, {
    name: 'finance',
    env,
    configDirectory: '/',
    fetch: createTransport({ keepAlive: false }),
    clock: { now: () => NOW, monotonic: () => NOW },
    redactor: createRedactor(),
    workspace: 'acme',
    desk: {
      readTask: async (id) => tasks.get(id),
      decide: async () => undefined,
      noticesOf: async (id) => notices.filter(({ taskId }) => taskId === id),
      listPeople: async () => people as never,
      linkOf: (id) => `https://desk.acme.example/inbox/${id}`,
      createDecisionLink: async () => undefined,
    },
  })
  const addTask = (name: string, task: Partial<ShownTask> = {}): TaskId => {
    const made = aTask(session, name, {
      tool: { name: 'refunds', ref: 'pay.refunds', version: '1.0.0', side_effect_class: 'non_idempotent_write' },
      arguments: { order: name, amount: 180 },
      approvalsRequired: 1,
    })
    tasks.set(made.id, { ...made, agent: 'pay.clerk@1.0.0', approvalsReceived: 0, apiCompletable: true, ...task })
    return made.id
  }
  const decide = (id: TaskId): void =>
    void tasks.set(id, {
      ...tasks.get(id)!,
      status: 'completed',
      people: {
        startedBy: 'key "shop"',
        versionLabel: '1.0.0',
        you: '',
        standing: 'may_answer',
        votes: [],
        candidates: [],
        decided: { by: 'operator bo', outcome: 'approved', at: '2026-01-02T03:30:00.000Z' },
      },
    })
  const aNotice = (event: NoticeEvent, taskId: TaskId | null, more: Partial<StoredNotice> = {}): NoticeMessage => {
    const notice: StoredNotice = {
      id: `${event} ${taskId} ${notices.length}`,
      workspaceId: WORKSPACE,
      channel: 'finance',
      event,
      at: NOW,
      dueAt: NOW,
      data: { agent: 'pay.clerk' },
      sessionId: session.id,
      runId: session.rootRunId,
      taskId,
      whilePending: false,
      state: 'waiting',
      attempts: 0,
      claims: 1,
      endedAt: null,
      error: null,
      receipt: null,
      ...more,
    }
    notices.push(notice)
    return { notice, body: '{}' }
  }
  /** Sends, and keeps what the outbox would. */
  const send = async (...messages: NoticeMessage[]): Promise<readonly TryOutcome[]> => {
    const sent = await channel.send(messages, AbortSignal.timeout(timeoutOfChannel(config)))
    const outcomes = 'length' in sent ? (sent as readonly TryOutcome[]) : messages.map(() => sent as TryOutcome)
    for (const [at, { notice }] of messages.entries()) {
      const outcome = outcomes[at]!
      const index = notices.findIndex(({ id }) => id === notice.id)
      notices[index] = {
        ...notices[index]!,
        ...((outcome.at === 'delivered' || outcome.at === 'moot') && { state: outcome.at }),
        ...('receipt' in outcome && outcome.receipt && { receipt: outcome.receipt }),
      }
    }
    return outcomes
  }
  const again = ({ notice }: NoticeMessage): NoticeMessage => {
    const index = notices.findIndex(({ id }) => id === notice.id)
    return { notice: (notices[index] = { ...notices[index]!, attempts: 1, claims: 2 }), body: '{}' }
  }
  return { slack, tasks, notices, people, addTask, decide, aNotice, send, again }
}

const stateOf = (outcomes: readonly TryOutcome[]): string[] => [...new Set(outcomes.map(({ at }) => at))]
const shown = ({ messages }: FakeSlack): string[] => messages.map(({ blocks }) => renderBlocks(blocks))
const methodsOf = ({ calls }: FakeSlack): string[] => calls.map(({ method }) => method)

test('five tasks are five messages, and six are one list that says how many are decided', async () => {
  const { slack, addTask, decide, aNotice, send } = await open()
  const few = Array.from({ length: 5 }, (_, at) => aNotice('task.created', addTask(`few-${at}`)))
  expect(stateOf(await send(...few))).toEqual(['delivered'])
  expect(slack.messages).toHaveLength(5)
  const ids = Array.from({ length: 6 }, (_, at) => addTask(`many-${at}`))
  expect(stateOf(await send(...ids.map((id) => aNotice('task.created', id))))).toEqual(['delivered'])
  expect(slack.messages).toHaveLength(6)
  expect(shown(slack)[5]).toBe(
    [
      '# 6 tasks wait for a decision',
      ...ids.map((_, at) => `- pay.refunds amount 180, order many-${at} · pay.clerk@1.0.0 · open`),
    ].join('\n'),
  )
  decide(ids[0]!)
  decide(ids[1]!)
  // Two changes of one message are one update.
  expect(stateOf(await send(aNotice('task.changed', ids[0]!), aNotice('task.changed', ids[1]!)))).toEqual(['delivered'])
  expect(methodsOf(slack).filter((each) => each === 'chat.update')).toHaveLength(1)
  expect(shown(slack)[5]!.split('\n').slice(0, 2)).toEqual([
    '# 4 of 6 tasks wait for a decision',
    '- pay.refunds amount 180, order many-0 · pay.clerk@1.0.0 · Approved · open',
  ])
  for (const id of ids) decide(id)
  await send(aNotice('task.changed', ids[5]!))
  expect(shown(slack)[5]!.split('\n')[0]).toBe('# All 6 tasks are decided')
})

test('a reminder and a decision that a route names are replies to the message of the task', async () => {
  const { slack, addTask, decide, aNotice, send } = await open()
  const id = addTask('a', { expiresAt: NOW + 900_000, onTimeout: 'deny' })
  await send(aNotice('task.created', id))
  await send(aNotice('task.expiring', id))
  decide(id)
  expect(await send(aNotice('task.decided', id))).toEqual([{ at: 'delivered' }])
  const [first] = slack.messages
  expect(slack.messages.map(({ thread }) => thread)).toEqual([undefined, first!.ts, first!.ts])
  expect(shown(slack).slice(1)).toEqual([
    'Expires soon · Approval needed · pay.refunds@1.0.0\ndeadline 2026-01-02 03:19, then deny',
    'Approved · pay.refunds@1.0.0\ndecided approved by operator bo',
  ])
})

test('a task that was decided before it was told is not told, and a decision that a route names is a message of its own', async () => {
  const { slack, addTask, decide, aNotice, send } = await open()
  const id = addTask('a')
  decide(id)
  expect(await send(aNotice('task.created', id))).toEqual([{ at: 'moot' }])
  expect(await send(aNotice('task.changed', id))).toEqual([{ at: 'moot' }])
  expect(slack.calls).toEqual([])
  expect(stateOf(await send(aNotice('task.decided', addTask('gone'))))).toEqual(['delivered'])
  expect(slack.messages).toHaveLength(1)
})

test('what changes while its message is on the way waits for it, and is drawn by whoever is last', async () => {
  const { slack, addTask, decide, aNotice, send } = await open()
  const id = addTask('a')
  const created = aNotice('task.created', id)
  let whileSent: readonly TryOutcome[] = []
  slack.answer = async ({ method }) => {
    if (method !== 'chat.postMessage' || slack.messages.length > 0) return undefined
    decide(id)
    whileSent = await send(aNotice('task.changed', id))
    return undefined
  }
  expect(stateOf(await send(created))).toEqual(['delivered'])
  expect(whileSent).toEqual([{ at: 'later', afterMs: 5000 }])
  expect(shown(slack)).toEqual([expect.stringMatching(/^# Approved · pay.refunds/)])
})

test('a message that somebody deleted is not missed', async () => {
  const { slack, addTask, decide, aNotice, send } = await open()
  const id = addTask('a')
  await send(aNotice('task.created', id))
  slack.messages.length = 0
  decide(id)
  expect(stateOf(await send(aNotice('task.changed', id)))).toEqual(['delivered'])
})

test('each person with the role is told directly, and once, though some tries fail', async () => {
  const { slack, people, addTask, decide, aNotice, send, again } = await open({ role: 'treasurer' })
  people.push(
    { email: 'ana@acme.example', roles: ['treasurer'] },
    { email: 'ana@acme.example', roles: ['treasurer', 'chief'] },
    { email: 'bo@acme.example', roles: ['treasurer'] },
    { email: 'cleo@acme.example', roles: ['clerk'] },
    { email: 'nobody@acme.example', roles: ['treasurer'] },
  )
  for (const [id, name] of [
    ['U0ANA', 'ana'],
    ['U0BO', 'bo'],
    ['U0CLEO', 'cleo'],
  ] as const)
    slack.users.set(`${name}@acme.example`, aMember(id, `${name}@acme.example`))
  const id = addTask('a')
  const created = aNotice('task.created', id)
  slack.answer = ({ method, fields }, response) => {
    if (method !== 'chat.postMessage' || fields['channel'] !== 'U0BO') return undefined
    response.writeHead(500).end()
    return 'answered'
  }
  expect(await send(created)).toMatchObject([
    {
      at: 'failed',
      why: 'Slack answered chat.postMessage with 500 and no JSON of its API',
      receipt: { messages: [{ to: 'U0ANA' }] },
    },
  ])
  slack.answer = () => undefined
  expect(stateOf(await send(again(created)))).toEqual(['delivered'])
  expect(slack.messages.map(({ channel }) => channel)).toEqual(['D0ANA', 'D0BO'])
  decide(id)
  await send(aNotice('task.changed', id))
  expect(slack.messages.map(({ edits }) => edits)).toEqual([1, 1])
  // Slack's answers are kept for some minutes.
  expect(methodsOf(slack).filter((each) => each === 'users.lookupByEmail')).toHaveLength(3)
})

test('a person whom Slack does not reach keeps a message from nobody else', async () => {
  const { slack, people, addTask, aNotice, send, again } = await open({ role: 'treasurer' })
  for (const name of ['ana', 'bo', 'cleo']) {
    people.push({ email: `${name}@acme.example`, roles: ['treasurer'] })
    slack.users.set(`${name}@acme.example`, aMember(`U0${name}`, `${name}@acme.example`))
  }
  const errors: Record<string, string> = { U0ana: 'channel_not_found', U0bo: 'a_new_error' }
  slack.answer = ({ method, fields }) => {
    const error = method === 'chat.postMessage' ? errors[fields['channel']!] : undefined
    return error === undefined ? undefined : { ok: false, error }
  }
  const created = aNotice('task.created', addTask('a'))
  expect(await send(created)).toMatchObject([
    {
      at: 'failed',
      why: 'Slack answered chat.postMessage with a_new_error',
      receipt: { messages: [{ to: 'U0cleo' }] },
    },
  ])
  delete errors['U0bo']
  expect(await send(again(created))).toMatchObject([
    {
      at: 'refused',
      why: expect.stringContaining('(chat.postMessage: channel_not_found)') as string,
      receipt: { messages: [{ to: 'U0cleo' }, { to: 'U0bo' }] },
    },
  ])
})

test('where nobody can be told, it says what to do', async () => {
  const { addTask, aNotice, send } = await open({ role: 'treasurer' })
  expect(await send(aNotice('task.created', addTask('a')))).toEqual([
    {
      at: 'refused',
      why: 'nobody with the role treasurer has a credential whose e-mail address Slack knows (svc keys create --operator --email YOU --role treasurer)',
    },
  ])
})

type Fault = [string, (slack: FakeSlack) => void, Extract<TryOutcome, { why: string }>]

test.each<Fault>([
  [
    'a revoked token',
    (slack) => void (slack.token = 'xoxb-2-other'),
    {
      at: 'refused',
      why: 'Slack takes the token in TOKEN no more: install the app again, set its new bot token, and start the server again (chat.postMessage: invalid_auth)',
    },
  ],
  [
    'a missing scope',
    (slack) => void (slack.scopes = 'users:read'),
    {
      at: 'refused',
      why: 'the token in TOKEN lacks the scope chat:write: add it to the app under OAuth & Permissions, and install the app again (chat.postMessage: missing_scope)',
    },
  ],
  [
    'an archived channel',
    (slack) => void slack.archived.add('C0FINANCE'),
    {
      at: 'refused',
      why: 'the channel is archived: name another one, or bring it back (chat.postMessage: is_archived)',
    },
  ],
  [
    'a channel that the app is not in',
    (slack) => slack.channels.clear(),
    {
      at: 'refused',
      why: 'Slack knows no such channel, or the app is not in it: invite the app, or correct the channel (chat.postMessage: channel_not_found)',
    },
  ],
  [
    'a limit',
    (slack) => {
      slack.answer = (_, response) => (response.writeHead(429, { 'retry-after': '77' }).end(), 'answered')
    },
    { at: 'failed', why: 'Slack asks for patience (chat.postMessage)', retryAfterMs: 77_000 },
  ],
  [
    'an outage',
    (slack) => {
      slack.answer = (_, response) => (response.writeHead(503).end('<html>'), 'answered')
    },
    { at: 'failed', why: 'Slack answered chat.postMessage with 503 and no JSON of its API' },
  ],
  [
    'an error of its own',
    (slack) => {
      slack.answer = () => ({ ok: false, error: 'internal_error' })
    },
    { at: 'failed', why: 'Slack answered chat.postMessage with internal_error' },
  ],
  [
    'an answer without end',
    (slack) => {
      slack.answer = (_, response) => {
        response.writeHead(200)
        const flood = (): void => void (response.destroyed || response.write('x'.repeat(65_536), flood))
        flood()
        return 'answered'
      }
    },
    { at: 'failed', why: 'Slack answered chat.postMessage with 200 and no JSON of its API' },
  ],
  [
    'the end of the connection',
    (slack) => {
      slack.answer = (_, response) => (response.destroy(), 'answered')
    },
    { at: 'failed', why: 'Slack cannot be reached: socket hang up' },
  ],
])('%s is said with what to do, and is tried again where that can help', async (_, make, expected) => {
  const { slack, addTask, aNotice, send } = await open()
  make(slack)
  expect(await send(aNotice('task.created', addTask('a')))).toEqual([expected])
})

test('a limit that is met midway costs those behind it no try', async () => {
  const { slack, addTask, aNotice, send } = await open()
  slack.answer = (_, response) => {
    if (slack.messages.length < 2) return undefined
    response.writeHead(429, { 'retry-after': '3' }).end()
    return 'answered'
  }
  const notices = Array.from({ length: 4 }, (_, at) => aNotice('task.created', addTask(`task-${at}`)))
  expect((await send(...notices)).map(({ at }) => at)).toEqual(['delivered', 'delivered', 'failed', 'later'])
})

test('a message that Slack refuses keeps no other one back', async () => {
  const { slack, addTask, aNotice, send } = await open()
  slack.answer = ({ fields }) =>
    fields['blocks']?.includes('poison')
      ? { ok: false, error: 'invalid_blocks', response_metadata: { messages: ['[ERROR] no'] } }
      : undefined
  const outcomes = await send(aNotice('task.created', addTask('poison')), aNotice('task.created', addTask('a')))
  expect(outcomes).toMatchObject([
    { at: 'refused', why: 'Slack does not take this message: [ERROR] no (chat.postMessage: invalid_blocks)' },
    { at: 'delivered' },
  ])
})

test.each([['xoxb'], [''], ['hunter2 hunter2']])('nothing leaves without a bot token: %j', async (TOKEN) => {
  const { slack, addTask, aNotice, send } = await open({}, { TOKEN })
  expect(await send(aNotice('task.created', addTask('a')))).toEqual([
    { at: 'refused', why: 'the environment variable TOKEN of the server has no bot token of the form xoxb-…' },
  ])
  expect(slack.calls).toEqual([])
})

test('what is about no task is a message or, of many, a list', async () => {
  const { slack, aNotice, send } = await open()
  await send({ ...aNotice('run.failed', null), link: 'https://desk.acme.example/runs/1' })
  expect(shown(slack)).toEqual([
    '# A run failed · pay.clerk\nwhen 2026-01-02 03:04\nabout \n| agent: pay.clerk\n[Open]',
  ])
  await send(...Array.from({ length: 6 }, () => aNotice('run.failed', null)))
  expect(shown(slack)[1]).toBe(['# 6 notices', ...Array<string>(6).fill('- A run failed · pay.clerk')].join('\n'))
})

test('a test says which scopes are missing', async () => {
  const { slack, aNotice, send } = await open({ role: 'treasurer' })
  slack.scopes = 'chat:write,users:read'
  expect(await send(aNotice('notify.test', null))).toEqual([
    {
      at: 'refused',
      why: 'the token in TOKEN lacks the scope im:write, users:read.email: add it to the app under OAuth & Permissions, and install the app again',
    },
  ])
})

test('a test says that people who click could not be known, or could not be believed', async () => {
  const unknown = await open({ signing_secret: { fromEnv: 'SECRET' } }, { TOKEN: 'xoxb-1-test', SECRET: 'x' } as never)
  unknown.slack.scopes = 'chat:write'
  expect(await unknown.send(unknown.aNotice('notify.test', null))).toMatchObject([
    { at: 'refused', why: expect.stringContaining('lacks the scope users:read, users:read.email: add it') as unknown },
  ])
  const unbelieved = await open({ signing_secret: { fromEnv: 'SECRET' } })
  expect(await unbelieved.send(unbelieved.aNotice('notify.test', null))).toEqual([
    { at: 'refused', why: 'the environment variable SECRET of the server has no signing secret, so no click counts' },
  ])
})
