/** People decide in Slack, and nobody else. Source: docs/design/notifications.md#clicks */
import { expect, test } from 'vitest'
import * as fc from 'fast-check'
import type { ChannelConfig } from '../../../src/spec/project/config.ts'
import type { DecisionProof } from '../../../src/spec/people/decision-proof.ts'
import type { SideEffectClass } from '../../../src/spec/document.ts'
import type { ApprovalObligations } from '../../../src/spec/policy-set.ts'
import { ACTIONS } from '../../../src/server/notify/slack/draw-blocks.ts'
import { aMember, startFakeSlack, type FakeSlack, type Json } from '../../fakes/slack.ts'
import { renderBlocks } from '../../fakes/slack-blocks.ts'
import {
  buttonOf,
  clickPayload,
  signedBySlack,
  SIGNING_SECRET,
  submissionPayload,
  type SlackRequest,
} from '../../fakes/slack-clicks.ts'
import { openWaitingRefund } from '../gated-desk.ts'
import { ask, closing, options } from '../running.ts'

const { approve, reject } = ACTIONS

interface Given {
  readonly least?: DecisionProof
  readonly obligations?: ApprovalObligations
  readonly sideEffectClass?: SideEffectClass
  readonly slack?: Partial<NonNullable<ChannelConfig['slack']>>
  readonly content?: boolean
}

/** A refund that waits, told in Slack, where ana and bo have roles and eve has an account only. */
async function open({
  least,
  obligations,
  sideEffectClass = 'non_idempotent_write',
  slack: about,
  content = true,
}: Given = {}) {
  const slack = await startFakeSlack()
  closing(() => slack.close())
  for (const [id, email] of [
    ['U0ANA', 'Ana@acme.example'],
    ['U0BO', 'bo@acme.example'],
    ['U0EVE', 'eve@acme.example'],
  ] as const)
    slack.users.set(email, aMember(id, email))
  const base = options()
  const refund = await openWaitingRefund(
    least,
    {
      config: {
        ...base.config,
        notify: {
          channels: {
            finance: {
              slack: {
                token: { fromEnv: 'SLACK_TOKEN' },
                signing_secret: { fromEnv: 'SLACK_SECRET' },
                channel: 'C0FINANCE',
                api: slack.api,
                ...about,
              },
              content,
            },
            quiet: { slack: { token: { fromEnv: 'SLACK_TOKEN' }, channel: 'C0FINANCE', api: slack.api } },
          },
          routes: [{ events: ['task.created'], to: ['finance'] }],
        },
      },
      env: { ...base.env, SLACK_TOKEN: 'xoxb-1-test', SLACK_SECRET: SIGNING_SECRET },
    },
    obligations,
    sideEffectClass,
  )
  const { server, runId, userTaskId } = refund
  for (const [email, roles] of [
    ['ana@acme.example', ['treasurer']],
    ['bo@acme.example', ['clerk']],
  ] as const)
    await ask(server.operator, 'POST /operator-keys', { email, roles })
  await slack.until(() => slack.messages.length === 1)
  const [message] = slack.messages
  // The receipt of the message is stored after Slack answered.
  for (;;) {
    const { items } = await ask<{ items: { state: string }[] }>(server.operator, `GET /notices?task=${userTaskId}`)
    if (items.every(({ state }) => state === 'delivered')) break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const send = async ({ headers, body }: SlackRequest, channel = 'finance') => {
    const response = await fetch(`${server.url}/notify/slack/${channel}`, { method: 'POST', headers, body })
    const text = await response.text()
    return { status: response.status, json: text === '' ? undefined : (JSON.parse(text) as Json) }
  }
  const click = (action: string, user: string, more: object = {}) =>
    send(signedBySlack(clickPayload(slack, { message: message!, action, user }, more)))
  const statusOf = async () => (await ask<{ status: string }>(server.operator, `GET /tasks/${userTaskId}`)).status
  const said = () => slack.answers.map(({ text }) => text)
  const answerOf = async () => {
    const { items } = await refund.get<{ items: { type: string; content: Json }[] }>(`/v1/runs/${runId}/conversation`)
    return items.find(({ type }) => type === 'UserTaskRes')?.content
  }
  return { ...refund, slack, message: message!, send, click, statusOf, said, answerOf }
}

test('a click approves as the person of the address, and the message says who it was', async () => {
  const { slack, message, click, answerOf, said, until, runId, server } = await open({
    obligations: { approver_role: 'treasurer' },
  })
  // Who could decide is known to the message only if they were there first.
  expect(renderBlocks(message.blocks).replace(': operator ana@acme.example', '')).toBe(
    `# Approval needed · acme.refunds@1.0.0
| amount: 180
why Refunds need a person. (acme.gate@1.0.0)
asks acme.refund-desk@1.0.0 · run ${runId.slice(-6)}
for key ${await keyOf(server)}
effect non_idempotent_write
needs a treasurer
[Approve] [Reject…] [Open]
~ You decide as the person of your e-mail address in Slack.`,
  )
  expect(await click(approve, 'U0ANA')).toEqual({ status: 200, json: undefined })
  await until(runId, 'engine.session.completed')
  expect(await answerOf()).toMatchObject({
    outcome: 'approved',
    completed_by: 'operator:ana@acme.example',
    channel: 'slack',
    proof: 'link',
  })
  const acts = await ask<{ items: { kind: string }[] }>(server.operator, 'GET /acts')
  expect(acts.items.find(({ kind }) => kind === 'run.answered')).toMatchObject({
    by: 'operator:ana@acme.example',
    proof: 'link',
    channel: 'slack',
    refused: null,
  })
  await slack.until(() => message.edits > 0)
  expect(renderBlocks(message.blocks)).toMatch(
    /^# Approved · acme\.refunds@1\.0\.0\ndecided approved by operator ana@acme\.example\nat /,
  )
  expect(renderBlocks(message.blocks)).toContain('how in Slack, as the person of their e-mail address')
  expect(said()).toEqual([])
})

const keyOf = async (server: { operator: Parameters<typeof ask>[0] }): Promise<string> => {
  const { items } = await ask<{ items: { prefix: string }[] }>(server.operator, 'GET /keys')
  return `${items[0]!.prefix}…`
}

test('a rejection asks why in a window, and tells the agent', async () => {
  const { slack, click, send, answerOf, statusOf } = await open()
  await click(reject, 'U0ANA')
  const opened = slack.calls.find(({ method }) => method === 'views.open')!
  expect(opened.fields['trigger_id']).toBe('13345224609.738474920.8088930838d88f008e0')
  const view = JSON.parse(opened.fields['view']!) as Json
  expect(await statusOf()).toBe('pending')
  expect(await send(signedBySlack(submissionPayload(view, 'U0ANA', ' not without a receipt ')))).toEqual({
    status: 200,
    json: undefined,
  })
  expect(await answerOf()).toMatchObject({ outcome: 'rejected', comment: 'not without a receipt', channel: 'slack' })
  // Sent once more, it is answered in the window.
  const { json } = await send(signedBySlack(submissionPayload(view, 'U0BO', null)))
  expect(json).toMatchObject({ response_action: 'update', view: { title: { text: 'Nothing was decided' } } })
  expect(JSON.stringify(json)).toContain('it was rejected by operator ana@acme.example: not without a receipt.')
})

type Refused = [string, string, RegExp, ((slack: FakeSlack) => void)?]

test.each<Refused>([
  ['whom Slack does not know', 'U0NOBODY', /Slack tells no e-mail address of you/],
  ['without a credential', 'U0EVE', /nobody with the address eve@acme\.example has a credential \(svc keys create/],
  ['without the role', 'U0BO', /it takes a person with the role treasurer/],
  [
    'of another workspace, which may claim any address',
    'U0ANA',
    /you belong to another workspace of Slack/,
    ({ users }) => users.set('Ana@acme.example', aMember('U0ANA', 'Ana@acme.example', { team_id: 'T0EVIL' })),
  ],
  [
    'whose account was deleted',
    'U0ANA',
    /you are no person of this workspace/,
    ({ users }) => users.set('Ana@acme.example', aMember('U0ANA', 'Ana@acme.example', { deleted: true })),
  ],
  [
    'whose address is not confirmed',
    'U0ANA',
    /your e-mail address is not confirmed in Slack/,
    ({ users }) => users.set('Ana@acme.example', aMember('U0ANA', 'Ana@acme.example', { is_email_confirmed: false })),
  ],
  [
    'of whom Slack says nothing, being away',
    'U0ANA',
    /Slack did not say who you are \(Slack answered users\.info with 503/,
    (slack) => {
      slack.answer = ({ method }, response) =>
        method === 'users.info' ? (response.writeHead(503).end(), 'answered') : undefined
    },
  ],
])('a person %s decides nothing, and is told why', async (_, user, words, prepare) => {
  const { slack, click, said, statusOf } = await open({ obligations: { approver_role: 'treasurer' } })
  prepare?.(slack)
  expect((await click(approve, user)).status).toBe(200)
  expect(said()).toEqual([expect.stringMatching(words)])
  expect(slack.answers[0]).toMatchObject({ response_type: 'ephemeral', replace_original: false })
  expect(await statusOf()).toBe('pending')
})

test('a late click decides nothing, and is told what was decided', async () => {
  const { click, said, post, runId, userTaskId, statusOf, slack, message } = await open()
  const { value } = buttonOf(message, approve)!
  await post(`/v1/runs/${runId}/messages`, { userTaskId, approved: false, runId, text: 'no' })
  await slack.until(() => message.edits > 0)
  expect([buttonOf(message, approve), await statusOf()]).toEqual([undefined, 'completed'])
  await click(approve, 'U0ANA', { actions: [{ action_id: approve, value }] })
  expect(said()).toEqual([expect.stringMatching(/^Nothing was decided: it was rejected by key svc_.*: no\.$/)])
})

test('of two people who click at once, one decides, and the other is told', async () => {
  const { slack, message, send, answerOf } = await open()
  const request = (user: string) => signedBySlack(clickPayload(slack, { message, action: approve, user }))
  const [ana, bo] = [request('U0ANA'), request('U0BO')]
  await Promise.all([send(ana), send(bo), send(ana)])
  await slack.until(() => slack.answers.length >= 2)
  expect(await answerOf()).toMatchObject({ outcome: 'approved', channel: 'slack' })
  expect(slack.answers.map(({ text }) => text).join('\n')).toMatch(/it was approved by operator (ana|bo)@acme/)
})

const OTHER = `sha256:${'0'.repeat(64)}`

test.each<[string, (value: string) => object, RegExp]>([
  [
    'of a card that has changed',
    (value) => ({ actions: [{ action_id: approve, value: `${value.split(' ')[0]} ${OTHER}` }] }),
    /the task changed since this message was drawn/,
  ],
  [
    'of another task',
    () => ({ actions: [{ action_id: approve, value: `019f0000-0000-7000-8000-000000000000 ${OTHER}` }] }),
    /this message is not the one that svc keeps/,
  ],
  [
    'in a message that svc did not send',
    () => ({ container: { message_ts: '1.1', channel_id: 'C0FINANCE' } }),
    /this message is not the one that svc keeps/,
  ],
  ['without a value', () => ({ actions: [{ action_id: approve }] }), /this message is not the one that svc keeps/],
])('a click %s decides nothing', async (_, about, words) => {
  const { click, said, message, statusOf } = await open()
  const value = buttonOf(message, approve)!['value'] as string
  await click(approve, 'U0ANA', about(value))
  expect(said()).toEqual([expect.stringMatching(words)])
  expect(await statusOf()).toBe('pending')
})

test.each<[string, Given, string]>([
  ['that cannot be undone', { sideEffectClass: 'irreversible_action' }, 'its call cannot be undone'],
  ['whose policy asks for a passkey', { least: 'passkey' }, 'its policy asks for a passkey'],
  ['that several people approve', { obligations: { approvals_required: 2 } }, 'several people approve it'],
  [
    'that asks for a confirmation',
    { obligations: { comprehension_required: true } },
    'its policy asks for a confirmation that its arguments were read',
  ],
  [
    'that its starter must not decide',
    { obligations: { separation_of_duties: true } },
    'who did not start the run proves it with a credential',
  ],
])('a task %s is decided in the console, whatever is clicked', async (_, given, reason) => {
  const { click, message, said, statusOf, userTaskId } = await open(given)
  const lines = renderBlocks(message.blocks).split('\n')
  expect(lines.slice(-2)).toEqual(['[Open]', `~ Decide in the console: ${reason}.`])
  await click(approve, 'U0ANA', { actions: [{ action_id: approve, value: `${userTaskId} ${OTHER}` }] })
  expect(said()).toEqual([`Nothing was decided: ${reason}. Decide in the console.`])
  expect(await statusOf()).toBe('pending')
})

test('what is not shown is not decided: without content there is no button', async () => {
  const { message } = await open({ content: false })
  expect(renderBlocks(message.blocks)).toMatch(/\[Open\]$/)
})

test.each<[string, (signed: SlackRequest) => SlackRequest]>([
  ['with another secret', ({ body }) => signedBySlack(new URLSearchParams(body).get('payload')!, undefined, 'other')],
  ['six minutes old', ({ body }) => signedBySlack(new URLSearchParams(body).get('payload')!, Date.now() / 1000 - 360)],
  [
    'of the future',
    ({ body }) => signedBySlack(new URLSearchParams(body).get('payload')!, Math.floor(Date.now() / 1000) + 360),
  ],
  ['with another body', ({ headers, body }) => ({ headers, body: `${body}&x=1` })],
  [
    'with another time',
    ({ headers, body }) => ({
      headers: { ...headers, 'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000) - 1) },
      body,
    }),
  ],
  ['without a signature', ({ body }) => ({ headers: { 'x-slack-request-timestamp': '1' }, body })],
  ['with nothing', ({ body }) => ({ headers: {}, body })],
])('a request %s is not of Slack', async (_, change) => {
  const { slack, message, send, statusOf } = await open()
  const signed = signedBySlack(clickPayload(slack, { message, action: approve, user: 'U0ANA' }))
  const { status, json } = await send(change(signed))
  expect([status, json!['code'], await statusOf()]).toEqual([401, 'not_signed_by_slack', 'pending'])
  expect(slack.answers).toEqual([])
})

test('a channel that takes no clicks, or is none, has no address', async () => {
  const { slack, message, send } = await open()
  const signed = signedBySlack(clickPayload(slack, { message, action: approve, user: 'U0ANA' }))
  for (const channel of ['quiet', 'nowhere', '__proto__']) expect((await send(signed, channel)).status).toBe(404)
})

test('an answer goes to Slack alone, whatever address a request names', async () => {
  const { slack, click, statusOf } = await open()
  await click(approve, 'U0EVE', { response_url: 'http://127.0.0.1:1/elsewhere' })
  expect([slack.answers, await statusOf()]).toEqual([[], 'pending'])
})

test('what Slack might send as well is taken, and what it cannot mean is refused', async () => {
  const { send, statusOf, slack } = await open()
  for (const type of ['block_actions', 'view_submission', 'view_closed', 'shortcut', 'message_action'])
    expect((await send(signedBySlack({ type }))).status).toBe(200)
  for (const payload of ['', '{', '[]', 'null', '['.repeat(10_000)]) {
    const { status, json } = await send(signedBySlack(payload))
    expect([status, json!['code']]).toEqual([400, 'invalid_json'])
  }
  expect([slack.answers, await statusOf()]).toEqual([[], 'pending'])
})

test('no payload makes the server fail', async () => {
  const { send, slack, message, statusOf } = await open()
  const click = clickPayload(slack, { message, action: reject, user: 'U0EVE' })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(click)), fc.jsonValue(), async (name, value) => {
      // A number that JavaScript cannot hold is refused, as everywhere.
      expect([200, 400]).toContain((await send(signedBySlack({ ...click, [name]: value }))).status)
    }),
    { numRuns: 60 },
  )
  expect(await statusOf()).toBe('pending')
})
