/** What svc sends to Slack and Teams, and the fake of Slack, checked with the packages of Slack and Microsoft. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import { writeChatCard } from '../../../src/server/notify/chat/chat-card.ts'
import { drawTeamsCard } from '../../../src/server/notify/chat/draw-teams-card.ts'
import {
  drawList,
  drawNotice,
  drawReply,
  drawTask,
  type SlackDrawing,
} from '../../../src/server/notify/slack/draw-blocks.ts'
import { isSignedBySlack, signForSlack } from '../../../src/server/notify/slack/slack-signature.ts'
import type { NoticeMessage } from '../../../src/server/notify/channel.ts'
import type { ShownTask } from '../../../src/spec/task.ts'
import { startFakeSlack } from '../../fakes/slack.ts'
import { aSession, aTask, NOW, WORKSPACE } from '../../store/makers.ts'
import { commandOf } from '../../../scripts/tool.js'
import { removeDirectory } from '../../remove-directory.ts'
import { closing } from '../running.ts'

const FOLDER = join(import.meta.dirname, 'chat')
const isInstalled = existsSync(join(FOLDER, 'node_modules'))
const load = createRequire(join(FOLDER, 'package.json'))

const session = aSession('a')
const LINK = 'https://desk.acme.example/inbox/1'

const task: ShownTask = {
  ...aTask(session, 'a', {
    tool: { name: 'refunds', ref: 'pay.refunds', version: '1.0.0', side_effect_class: 'non_idempotent_write' },
    summary: 'Refund 1500 EUR for order A-1042',
    arguments: { amount: 1500, currency: 'EUR', note: '**bold** [pay](https://evil.example)' },
    expiresAt: NOW + 3_600_000,
    onTimeout: 'deny',
  }),
  agent: 'pay.clerk@1.0.0',
  approvalsReceived: 1,
  apiCompletable: true,
}

const message: NoticeMessage = {
  notice: {
    id: 'n1',
    workspaceId: WORKSPACE,
    channel: 'finance',
    event: 'task.created',
    at: NOW,
    dueAt: NOW,
    data: { agent: 'pay.clerk', nested: { amount: 1 } },
    sessionId: session.id,
    runId: session.rootRunId,
    taskId: task.id as never,
    whilePending: false,
    state: 'waiting',
    attempts: 0,
    claims: 1,
    endedAt: null,
    error: null,
    receipt: null,
  },
  body: '{}',
  link: LINK,
}

const desk = {
  readTask: async () => task,
  decide: async () => undefined,
  noticesOf: async () => [],
  listPeople: async () => [],
  linkOf: () => LINK,
  createDecisionLink: async () => undefined,
}

describe.skipIf(!isInstalled)('with node scripts/tools.js test/server/notify/chat', () => {
  test("every message fits the types of Slack's own client", () => {
    const card = writeChatCard(task, true)
    const drawings = [
      drawTask(card, { link: LINK, value: 'v', note: 'n' }),
      drawList('2 tasks wait', [{ text: 'a', at: NOW, link: LINK }, { text: 'b' }], LINK),
      drawNotice(message),
      drawReply(card),
    ]
    const toText = (list: readonly SlackDrawing[]): string =>
      `import type { KnownBlock } from '@slack/types'
export const messages: KnownBlock[][] = ${JSON.stringify(list.map(({ blocks }) => blocks))}`
    const text = toText(drawings)
    // Negative control: a wrong element, in another file, is found.
    const found = findTypeErrors({
      'messages.ts': text,
      'wrong.ts': text.replace('"rich_text_quote"', '"rich_text_quot"'),
    })
    expect(found).toMatch(/^wrong\.ts\(/)
    expect(found).not.toContain('messages.ts(')
  }, 120_000)

  test("Slack's own client gets from the fake what Slack says", async () => {
    const slack = await startFakeSlack()
    closing(() => slack.close())
    const { WebClient } = load('@slack/web-api') as typeof import('./slack-client.d.ts')
    const client = new WebClient('xoxb-1-test', { slackApiUrl: `${slack.api}/`, retryConfig: { retries: 0 } })
    const drawing = drawTask(writeChatCard(task, true), { link: LINK })
    const posted = await client.chat.postMessage({ channel: 'C0FINANCE', ...drawing })
    expect(posted).toMatchObject({ ok: true, channel: 'C0FINANCE', ts: expect.any(String) as unknown })
    await client.chat.update({ channel: 'C0FINANCE', ts: posted.ts, text: 'x', blocks: [] })
    expect(slack.messages).toMatchObject([{ text: 'x', edits: 1 }])
    expect((await client.auth.test()).team_id).toBe('T0ACME')
    await expect(client.users.info({ user: 'U0NOBODY' })).rejects.toMatchObject({ data: { error: 'user_not_found' } })
    slack.scopes = ''
    await expect(client.chat.postMessage({ channel: 'C0FINANCE', text: 'x' })).rejects.toMatchObject({
      data: { error: 'missing_scope', needed: 'chat:write' },
    })
  })

  test("Slack's own check and svc's agree, whatever the request", () => {
    const { isValidSlackRequest } = load(
      '@slack/bolt/dist/receivers/verify-request.js',
    ) as typeof import('./slack-client.d.ts')
    const now = 1_764_000_000_000
    const signed = fc.record({
      body: fc.string({ unit: 'binary', maxLength: 200 }),
      secret: fc.string({ minLength: 1 }),
      ageS: fc.integer({ min: -290, max: 600 }),
      change: fc.constantFrom('nothing', 'body', 'secret', 'time', 'case', 'version', 'length'),
    })
    fc.assert(
      fc.property(signed, ({ body: text, secret, ageS, change }) => {
        const body = text.toWellFormed()
        const time = now / 1000 - ageS
        const right = signForSlack(String(time), Buffer.from(body), secret)
        const signature =
          change === 'case'
            ? right.toUpperCase()
            : change === 'version'
              ? `v1${right.slice(2)}`
              : change === 'length'
                ? right.slice(0, -1)
                : right
        const timestamp = change === 'time' ? time + 1 : time
        const sent = change === 'body' ? `${body}x` : body
        const checked = change === 'secret' ? `${secret}x` : secret
        const official = isValidSlackRequest({
          signingSecret: checked,
          body: sent,
          headers: { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp },
          nowMilliseconds: now,
        })
        const ours = isSignedBySlack({ timestamp: String(timestamp), signature, body: Buffer.from(sent) }, checked, now)
        expect(ours).toBe(official)
        expect(ours).toBe(change === 'nothing' && ageS <= 300)
      }),
    )
  })

  test.each([
    ['one task', [message]],
    ['many', [message, message]],
    ['a notice', [{ ...message, notice: { ...message.notice, taskId: null } }]],
  ])("a card of %s is valid for Microsoft's own renderer", async (_, messages) => {
    const content = await drawTeamsCard(messages, { content: true }, desk)
    const { AdaptiveCard } = load('adaptivecards/dist/adaptivecards.js') as typeof import('./slack-client.d.ts')
    const card = new AdaptiveCard()
    card.parse(content)
    expect(card.validateProperties().validationEvents.map(({ message: said }) => said)).toEqual([])
    const wrong = new AdaptiveCard()
    wrong.parse({ ...content, body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRunn' }] }, { type: 'Nothing' }] })
    expect(wrong.toJSON()).not.toEqual({ ...content })
    // Nothing that it does not know was left out.
    const kept = card.toJSON() as { readonly body: unknown }
    expect(kept.body).toEqual((content as { readonly body: unknown }).body)
  })
})

/** What TypeScript says of files beside the packages. */
function findTypeErrors(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chat-'))
  closing(() => removeDirectory(folder))
  symlinkSync(join(FOLDER, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text] of Object.entries({ ...files, 'package.json': '{"type":"module"}' }))
    writeFileSync(join(folder, name), text)
  const [program, ...given] = commandOf('tsc')
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--types', '']
  const { stdout, stderr } = spawnSync(program!, [...given, ...options, ...Object.keys(files)], {
    cwd: folder,
    encoding: 'utf8',
  })
  return stdout + stderr
}
