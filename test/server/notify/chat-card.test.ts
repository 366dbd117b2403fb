/** What messages of Slack and Teams say. Source: docs/design/notifications.md#chats */
import { expect, test } from 'vitest'
import * as fc from 'fast-check'
import { describeTaskInChat, writeChatCard } from '../../../src/server/notify/chat/chat-card.ts'
import { drawList, drawReply, drawTask } from '../../../src/server/notify/slack/draw-blocks.ts'
import type { ShownTask, TaskPeople } from '../../../src/spec/task.ts'
import { aSession, aTask, NOW } from '../../store/makers.ts'
import { findBlockFault, renderBlocks } from '../../fakes/slack-blocks.ts'
import type { Json } from '../../fakes/slack.ts'

const session = aSession('a')
const RUN = session.rootRunId.slice(-6)

const people: TaskPeople = {
  startedBy: 'key "web-shop"',
  versionLabel: '1.0.0',
  role: 'treasurer',
  you: '',
  standing: 'may_answer',
  votes: [{ by: 'operator ana', approved: true }],
  candidates: ['operator bo', 'operator cleo'],
}

const shown = (about: Partial<ShownTask> = {}): ShownTask => ({
  ...aTask(session, 'a', {
    tool: { name: 'refunds', ref: 'pay.refunds', version: '1.0.0', side_effect_class: 'non_idempotent_write' },
    summary: 'Refund 1500 EUR for order A-1042',
    arguments: { order: 'A-1042', to: 'ana@shop.example', amount: 1500, currency: 'EUR' },
    policies: [
      {
        id: 'acme.limits',
        version: '1.0.0',
        decision: 'require_approval',
        condition: 'args.amount > 100 (1500)',
        matched: true,
        source: 'refund-limits.policy.yaml:9',
      } as never,
    ],
    expiresAt: NOW + 3_600_000,
    onTimeout: 'deny',
  }),
  agent: 'pay.clerk@1.0.0',
  approvalsReceived: 1,
  apiCompletable: true,
  people,
  ...about,
})

const blocksOf = (task: ShownTask, mayShow = true, more: Parameters<typeof drawTask>[1] = {}): readonly Json[] =>
  drawTask(writeChatCard(task, mayShow), { link: 'https://desk.acme.example/inbox/1', ...more }).blocks

test('a message says what, what stopped it, amount and recipient first, for whom, who is still needed, and until when', () => {
  expect(renderBlocks(blocksOf(shown(), true, { value: 'v', note: 'As the person of your e-mail address.' })))
    .toBe(`# Approval needed · pay.refunds@1.0.0
does Refund 1500 EUR for order A-1042
| amount: EUR 1500  (args.amount > 100 · refund-limits.policy.yaml:9)
| to: "ana@shop.example"
| order: "A-1042"
| currency: "EUR"
why acme.limits@1.0.0
asks pay.clerk@1.0.0 · run ${RUN}
for key "web-shop"
votes 1 of 2: operator ana; waits for another treasurer: operator bo or operator cleo
effect non_idempotent_write
deadline 2026-01-02 04:04, then deny
[Approve] [Reject…] [Open]
~ As the person of your e-mail address.`)
})

const decided = shown({
  status: 'completed',
  people: { ...people, decided: { by: 'operator bo', outcome: 'approved', at: '2026-01-02T03:30:00.000Z' } },
})

test('once decided it says who decided and when, and has no deadline', () => {
  expect(renderBlocks(blocksOf(decided)).split('\n').slice(0, 3)).toEqual([
    '# Approved · pay.refunds@1.0.0',
    'decided approved by operator bo',
    'at 2026-01-02 03:30',
  ])
  expect(renderBlocks(blocksOf(decided))).not.toContain('deadline')
  expect(renderBlocks(drawReply(writeChatCard(decided, true)).blocks)).toBe(
    'Approved · pay.refunds@1.0.0\ndecided approved by operator bo',
  )
})

test('without content it says kinds, names of tools and roles alone', () => {
  expect(renderBlocks(blocksOf(shown(), false))).toBe(`# Approval needed · pay.refunds@1.0.0
asks pay.clerk@1.0.0
votes 1 of 2
needs the role treasurer
effect non_idempotent_write
deadline 2026-01-02 04:04, then deny
[Open]`)
  expect(renderBlocks(blocksOf(decided, false))).toContain('decided Approved\n')
  expect(describeTaskInChat(shown(), false)).toBe('pay.refunds@1.0.0 · pay.clerk@1.0.0')
  expect(describeTaskInChat(decided, true)).toBe('Refund 1500 EUR for order A-1042 · pay.clerk@1.0.0 · Approved')
})

test('many are a list, of which the first twenty are shown', () => {
  const lines = Array.from({ length: 23 }, (_, at) => ({ text: `task ${at}`, at: NOW, link: 'https://a.example/1' }))
  const { blocks } = drawList('23 tasks wait for a decision', lines)
  expect(findBlockFault(blocks)).toBeUndefined()
  const text = renderBlocks(blocks).split('\n')
  expect([text[0], text[1], text.length, text.at(-1)]).toEqual([
    '# 23 tasks wait for a decision',
    '- task 0 · until 2026-01-02 03:04 · open',
    22,
    '~ and 3 more',
  ])
})

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4000 }),
  fc.constantFrom(
    '<!channel> <@U0BOSS> <https://evil.example|pay>',
    '*bold* `code` ~gone~ :money: &lt;',
    'x\nwhy approved by operator bo\ndeadline never',
    '\u202Eevil\u0000\u200B',
    'y'.repeat(100_000),
  ),
)

test('texts of others stay texts: Slack takes every message, and none has a mention, a link or markup of theirs', () => {
  fc.assert(
    fc.property(
      fc.dictionary(hostile, fc.oneof(hostile, fc.double(), fc.array(hostile, { maxLength: 3 })), { maxKeys: 40 }),
      hostile,
      hostile,
      (args, summary, question) => {
        const card = writeChatCard(
          shown({ arguments: args as never, summary, prompt: question, people: { ...people, startedBy: question } }),
          true,
        )
        const { blocks, text } = drawTask(card, { value: 'v', link: 'https://desk.acme.example/inbox/1', note: 'n' })
        expect(findBlockFault(blocks)).toBeUndefined()
        expect(JSON.stringify(blocks)).not.toMatch(/"type":"(?:mrkdwn|link|user|usergroup|broadcast|channel|emoji)"/)
        expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
        // A line that begins with a label is one of ours: values and their names have the mark of a quote.
        const labels = renderBlocks(blocks)
          .split('\n')
          .filter((line) => /^(?:decided|deadline) /.test(line))
        expect(labels.length).toBeLessThanOrEqual(1)
      },
    ),
  )
})

test('what is cut makes a message one that nobody can have read whole', () => {
  const isWhole = (args: object, about: Partial<ShownTask> = {}): boolean =>
    writeChatCard(shown({ arguments: args as never, ...about }), true).isWhole
  expect(isWhole({ amount: 1 })).toBe(true)
  expect(isWhole({ note: 'x'.repeat(298) })).toBe(true)
  expect(isWhole({ note: 'x'.repeat(299) })).toBe(false)
  expect(isWhole(Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`a${at}`, at])))).toBe(false)
  expect(isWhole(Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`a${at}`, 'y'.repeat(250)])))).toBe(false)
  expect(isWhole({ amount: 1 }, { summary: 'z'.repeat(601) })).toBe(false)
  expect(writeChatCard(shown(), false).isWhole).toBe(false)
})
