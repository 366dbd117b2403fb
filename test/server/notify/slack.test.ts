/** A whole server tells Slack what waits, and changes it when it is decided. Source: docs/design/notifications.md#slack */
import { expect, test } from 'vitest'
import type { ChannelConfig, NotifyConfig } from '../../../src/spec/project/config.ts'
import type { AgentSnapshot } from '../../../src/spec/snapshot.ts'
import { startFakeSlack, type FakeSlack } from '../../fakes/slack.ts'
import { renderBlocks } from '../../fakes/slack-blocks.ts'
import { closing, desk, running, taskOf } from '../running.ts'
import type { Conversation } from '../../../src/spec/api.ts'

const CHANNEL = 'C0FINANCE'
const ENV = { SLACK_TOKEN: 'xoxb-1-test' }

async function startSlack(): Promise<FakeSlack> {
  const slack = await startFakeSlack()
  closing(() => slack.close())
  return slack
}

const finance = ({ api }: FakeSlack, about: Partial<NonNullable<ChannelConfig['slack']>> = {}): ChannelConfig => ({
  slack: { token: { fromEnv: 'SLACK_TOKEN' }, channel: CHANNEL, api, ...about },
  content: true,
})

const notifying = (channel: ChannelConfig, events: NotifyConfig['routes'][0]['events'] = ['task.created']) => ({
  channels: { finance: channel },
  routes: [{ events, to: ['finance'] }],
})

const ORDER = { order: 'A-1042', amount: 180 }

async function house(
  slack: FakeSlack,
  notify: NotifyConfig = notifying(finance(slack)),
  snapshot: AgentSnapshot = desk,
) {
  const server = await running({ config: { notify }, env: ENV, snapshot })
  const ask = async (input: object = ORDER) => {
    const { runId } = (await server.start(input)).body as { runId: string }
    await server.until(runId, 'engine.run.paused')
    const taskId = taskOf(await server.get<Conversation>(`/v1/runs/${runId}/conversation`))
    const answer = async (approved: boolean) =>
      await server.post(`/v1/runs/${runId}/messages`, { userTaskId: taskId, approved, runId, text: 'not now' })
    return { runId, taskId, answer }
  }
  const notices = async () =>
    (
      (await server.operator('GET /notices')) as {
        items: { noticeId: string; event: string; state: string; error: string | null }[]
      }
    ).items
  return { ...server, ask, notices }
}

test('a task is one message, which says who decided once it is decided, in whatever way', async () => {
  const slack = await startSlack()
  const { ask } = await house(slack)
  const { answer } = await ask()
  await slack.until(() => slack.messages.length === 1)
  const [message] = slack.messages
  expect(renderBlocks(message!.blocks)).toContain('# Approval needed · acme.refunds@1.0.0\n| amount: 180\n')
  expect(slack.calls.find(({ method }) => method === 'chat.postMessage')!.fields).toMatchObject({
    channel: CHANNEL,
    unfurl_links: 'false',
    unfurl_media: 'false',
    text: 'Approval needed · acme.refunds@1.0.0',
  })
  await answer(false)
  await slack.until(() => message!.edits > 0)
  expect(renderBlocks(message!.blocks)).toMatch(
    /^# Rejected · acme\.refunds@1\.0\.0\ndecided rejected by key "?.*: not now\nat 20/,
  )
  expect(slack.messages).toHaveLength(1)
})

test('what somebody has to mend is a dead notice at once, and a retry sends it', async () => {
  const slack = await startSlack()
  slack.channels.clear()
  const { ask, operator, notices } = await house(slack)
  await ask()
  await slack.until(() => slack.calls.length === 1)
  const error =
    'Slack knows no such channel, or the app is not in it: invite the app, or correct the channel (chat.postMessage: channel_not_found)'
  expect(await operator('POST /notices/test', { channel: 'finance' })).toMatchObject({ state: 'dead', error })
  const dead = (await notices()).find(({ event }) => event === 'task.created')!
  expect(dead).toMatchObject({ state: 'dead', error })
  slack.channels.add(CHANNEL)
  await operator(`POST /notices/${dead.noticeId}/retry`)
  await slack.until(() => slack.messages.length === 1)
  expect(await operator('POST /notices/test', { channel: 'finance' })).toMatchObject({ state: 'delivered' })
})
