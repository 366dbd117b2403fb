/** Cards in Teams, and what a workflow answers. Source: docs/design/notifications.md#teams */
import { expect, test } from 'vitest'
import type { ServerResponse } from 'node:http'
import type { ChannelConfig } from '../../../src/spec/project/config.ts'
import { running } from '../running.ts'
import { startReceiver } from './receiver.ts'

const teams: ChannelConfig = { teams: { url: { fromEnv: 'TEAMS_URL' } }, content: true }

type CardNode = { readonly type: string; readonly text?: string; readonly [name: string]: unknown }

/** A card as a person reads it. */
export const renderCard = (node: CardNode): string => {
  if (node.type === 'TextRun') return node.text!
  const inside = ['inlines', 'items', 'body'].flatMap((name) => (node[name] ?? []) as CardNode[]).map(renderCard)
  if (node.type === 'RichTextBlock') return inside.join('')
  return node.type === 'Container' ? inside.map((line) => `| ${line}`).join('\n') : inside.join('\n')
}

const cardOf = (body: string) => {
  const { type, attachments } = JSON.parse(body) as {
    type: string
    attachments: { contentType: string; contentUrl: null; content: CardNode }[]
  }
  expect([type, attachments.length, attachments[0]!.contentType]).toEqual([
    'message',
    1,
    'application/vnd.microsoft.card.adaptive',
  ])
  return attachments[0]!.content
}

test('a task is a card that leads to the console and decides nothing', async () => {
  const receiver = await startReceiver((_, response) => void response.writeHead(202).end())
  const house = await running({
    config: {
      notify: { channels: { desk: teams }, routes: [{ events: ['task.created', 'task.decided'], to: ['desk'] }] },
    },
    env: { TEAMS_URL: `${receiver.url}/workflows/1?sig=secret-of-the-workflow` },
  })
  const { runId } = (await house.start({ order: 'A-1', amount: 180 })).body as { runId: string }
  await house.until(runId, 'engine.run.paused')
  await receiver.until(() => receiver.received.length === 1)
  const card = cardOf(receiver.received[0]!.body)
  expect(renderCard(card).split('\n')).toEqual([
    'Approval needed · acme.refunds@1.0.0',
    '| amount: 180',
    'reason The action cannot be undone and no policy grants it.',
    `asks acme.refund-desk@1.0.0 · run ${runId.slice(-6)}`,
    expect.stringMatching(/^for key svc_/),
    'effect irreversible_action',
    'To decide, sign in to the console: a click in Teams proves nobody.',
  ])
  expect(JSON.stringify(card)).not.toMatch(/"type":"(?:TextBlock|FactSet|Action\.(?:Submit|Execute|Http))"/)
})

test.each<[string, (response: ServerResponse) => void, { state: string; error: string | null }]>([
  ['202', (response) => void response.writeHead(202).end(), { state: 'delivered', error: null }],
  [
    '404',
    (response) => void response.writeHead(404).end(),
    {
      state: 'dead',
      error: 'the workflow answered 404: it was deleted, or switched off, or its address in TEAMS_URL is not whole',
    },
  ],
  [
    '429',
    (response) => void response.writeHead(429, { 'retry-after': '9' }).end(),
    { state: 'waiting', error: 'the workflow answered 429' },
  ],
  [
    '302',
    (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    { state: 'waiting', error: 'the workflow answered 302, a redirect, which is not followed' },
  ],
])('a workflow that answers %s', async (_, answer, expected) => {
  const receiver = await startReceiver((__, response) => answer(response))
  const { operator } = await running({
    config: { notify: { channels: { desk: teams }, routes: [] } },
    env: { TEAMS_URL: receiver.url },
  })
  expect(await operator('POST /notices/test', { channel: 'desk' })).toMatchObject(expected)
  expect(renderCard(cardOf(receiver.received[0]!.body))).toMatch(/^A test of this channel\nwhen 20.*\nby operator:ana/)
})

test('an address that is missing is named by its variable, and never said itself', async () => {
  const { operator } = await running({
    config: { notify: { channels: { desk: teams }, routes: [] } },
    env: { TEAMS_URL: 'not an address' },
  })
  expect(await operator('POST /notices/test', { channel: 'desk' })).toMatchObject({
    state: 'dead',
    error: 'the environment variable TEAMS_URL of the server has no address of a workflow',
  })
})
