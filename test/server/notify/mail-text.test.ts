/** What a mail says. Source: docs/design/notifications.md#mail */
import { expect, test } from 'vitest'
import * as fc from 'fast-check'
import type { NoticeMessage } from '../../../src/server/notify/channel.ts'
import { writeMail } from '../../../src/server/notify/mail-text.ts'
import type { NoticeEvent } from '../../../src/spec/notice.ts'
import type { ShownTask } from '../../../src/spec/task.ts'
import { aSession, aTask, NOW, WORKSPACE } from '../../store/makers.ts'

const session = aSession('a')

const shown = (about: Partial<ShownTask> = {}): ShownTask => ({
  ...aTask(session, 'a', {
    tool: { name: 'refunds', ref: 'pay.refunds', version: '1.0.0', side_effect_class: 'irreversible_action' },
    summary: 'Refund 180 EUR for order A-1042',
    arguments: { amount: 180, currency: 'EUR' },
    expiresAt: NOW + 3_600_000,
  }),
  agent: 'pay.clerk@1.0.0',
  approvalsReceived: 1,
  apiCompletable: true,
  ...about,
})

const message = (about: Partial<NoticeMessage> = {}, event: NoticeEvent = 'task.created'): NoticeMessage => ({
  notice: {
    id: 'n1',
    workspaceId: WORKSPACE,
    channel: 'mail',
    event,
    at: NOW,
    dueAt: NOW,
    data: { agent: 'pay.clerk', tool: 'pay.refunds', kind: 'approval' },
    sessionId: session.id,
    runId: session.rootRunId,
    taskId: null,
    whilePending: false,
    state: 'waiting',
    attempts: 0,
    claims: 1,
    endedAt: null,
    error: null,
    receipt: null,
  },
  body: '{}',
  ...about,
})

test('has the words of the card, as text and as HTML, and a link', () => {
  const link = 'https://desk.acme.example/inbox/1?tab=all&x="y"'
  const { subject, text, html } = writeMail([message({ task: shown(), link })], 'acme', NOW)
  expect(subject).toBe('[acme] Approval needed · pay.refunds@1.0.0')
  expect(text).toBe(`Approval needed · pay.refunds@1.0.0
  when: 2026-01-02 03:04 UTC
  effect: irreversible_action
  deadline: expires in 1h
  does: Refund 180 EUR for order A-1042
  with: amount: EUR 180
    currency: "EUR"
  asks: pay.clerk@1.0.0 · run ${session.rootRunId.slice(-6)}
  votes: 1 of 2; waits for another person
  https://desk.acme.example/inbox/1?tab=all&x="y"

To decide, sign in to the console, or use svc inbox. This mail decides nothing, and neither does opening its link.
`)
  expect(html).toContain(
    '<a href="https://desk.acme.example/inbox/1?tab=all&amp;x=&quot;y&quot;">Open it in the console</a>',
  )
  expect(html).toContain('Refund 180 EUR for order A-1042</dd>')
})

test('a link that decides stands before the one to the console, and the mail says whose it is', () => {
  const decide = { url: 'https://desk.acme.example/decide/abc', expiresAt: NOW + 3_600_000 }
  const { text, html } = writeMail(
    [{ ...message({ task: shown(), link: 'https://desk.acme.example/1' }), decide }],
    'acme',
    NOW,
  )
  expect(text.slice(text.indexOf('  Approve or')))
    .toBe(`  Approve or reject it until 2026-01-02 04:04 UTC, without signing in:
  https://desk.acme.example/decide/abc
  Or in the console:
  https://desk.acme.example/1

This mail decides nothing, and neither does opening its links. The links that decide are yours: whoever has this mail decides as you, so do not forward it.
`)
  expect(html).toMatch(/<a style="[^"<>]+" href="https:\/\/desk\.acme\.example\/decide\/abc">Approve or reject it<\/a>/)
})

test('who may not decide by a link reads why', () => {
  const decide = { why: 'its call cannot be undone\nBcc: c@d' }
  expect(writeMail([{ ...message({ task: shown() }), decide }], 'acme', NOW).text).toContain(
    '  decide: in the console: its call cannot be undone\\nBcc: c@d\n',
  )
})

test('without content it has names and ids alone', () => {
  expect(writeMail([message()], 'acme', NOW).text).toBe(`Waits for a decision: pay.refunds
  when: 2026-01-02 03:04 UTC
  agent: pay.clerk
  tool: pay.refunds
  kind: approval

To decide, sign in to the console, or use svc inbox. This mail decides nothing, and neither does opening its link.
`)
})

test('many are one digest, which says how many', () => {
  const { subject, text } = writeMail([message(), message({}, 'run.failed'), message({}, 'task.expiring')], 'acme', NOW)
  expect(subject).toBe('[acme] 3 notices, first: Waits for a decision: pay.refunds')
  expect(text.split('\n').filter((line) => /^\S.*: pay\.refunds$/.test(line))).toEqual([
    'Waits for a decision: pay.refunds',
    'A run failed: pay.refunds',
    'Expires soon: pay.refunds',
  ])
})

test('no text of others begins a header, a tag or a control sequence', () => {
  const hostile = fc.array(
    fc.constantFrom(
      '\r\nBcc: c@d',
      '\n',
      '\u2028',
      '\u0000',
      '\u001B[2K',
      '\u202E',
      '<x-evil>',
      '"',
      "'",
      '&',
      'é',
      'a',
    ),
    { maxLength: 8 },
  )
  const text = fc.oneof(
    hostile.map((each) => each.join('')),
    fc.string({ unit: 'binary', maxLength: 200 }),
  )
  fc.assert(
    fc.property(text, text, text, (one, two, three) => {
      const task = shown({ title: one, prompt: two, summary: three, arguments: { [one]: two, note: three } })
      const plain = message()
      const named = { ...plain, notice: { ...plain.notice, data: { agent: one, tool: two, [three]: one } } }
      for (const { subject, html, text: body } of [
        writeMail([message({ task })], one, NOW),
        writeMail([named], two, NOW),
        writeMail([named, message({ task })], three, NOW),
      ]) {
        expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029\u202A-\u202E]/u)
        expect(body.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202A-\u202E]/u)
        expect(
          html
            .match(/<[^>]*>/g)!
            .filter((tag) => !/^<(?:!doctype html|\/?(?:html|body|h1|dl|dt|dd|p)\b[^<]*)>$/.test(tag)),
        ).toEqual([])
      }
    }),
  )
})
