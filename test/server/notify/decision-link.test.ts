/** One person decides one task once, by a link in a mail, and nobody else. Source: docs/design/notifications.md#links-that-decide */
import { describe, expect, test } from 'vitest'
import { hashKey } from '../../../src/base/api-key.ts'
import type { Clock } from '../../../src/base/clock.ts'
import type { Log } from '../../../src/base/log.ts'
import type { SideEffectClass } from '../../../src/spec/document.ts'
import type { DecisionProof } from '../../../src/spec/people/decision-proof.ts'
import type { ApprovalObligations } from '../../../src/spec/policy-set.ts'
import { ask } from '../running.ts'
import { hasMailServer } from './mail-server.ts'
import { openMailedRefund, PEOPLE, readPage, sealIn, sendForm } from './mailed-refund.ts'

interface ActRow {
  readonly kind: string
  readonly by: string
  readonly proof: string
  readonly channel: string
  readonly refused: string | null
}

const actsOf = async (operator: Parameters<typeof ask>[0], kind: string) =>
  (await ask<{ items: ActRow[] }>(operator, 'GET /acts')).items
    .filter((each) => each.kind === kind)
    .map(({ by, proof, channel, refused }) => ({ by, proof, channel, refused }))

describe.skipIf(!hasMailServer)('with npm ci --prefix test/server/notify/smtp --ignore-scripts', () => {
  test('recipients with a credential get a link of their own, and others the mail without one', async () => {
    const { mails, mailOf, linkOf } = await openMailedRefund()
    expect(mails.map(({ to }) => to)).toEqual([[PEOPLE.ana], [PEOPLE.bo], [PEOPLE.list]])
    expect(linkOf(PEOPLE.ana)).toMatch(/\/decide\/[A-Za-z0-9_-]{43}$/)
    expect(linkOf(PEOPLE.bo)).not.toBe(linkOf(PEOPLE.ana))
    expect(mailOf(PEOPLE.ana).body).toMatch(
      /Approve or reject it until \d{4}-\d\d-\d\d \d\d:\d\d UTC, without signing in:/,
    )
    expect(linkOf(PEOPLE.list)).toBeUndefined()
    expect(mailOf(PEOPLE.list).body).toContain('To decide, sign in to the console')
  })

  test('a scanner that opens the link as often as it likes decides nothing and uses nothing up', async () => {
    const { linkOf, statusOf, server } = await openMailedRefund()
    const link = linkOf(PEOPLE.ana)!
    for (const method of ['GET', 'HEAD', 'GET', 'GET']) expect((await readPage(link, { method })).status).toBe(200)
    // A scanner that presses buttons, but fills in nothing, or knows nothing of the page.
    expect((await sendForm(link, {})).status).toBe(409)
    expect((await sendForm(link, { decision: 'approve' })).status).toBe(409)
    const { html } = await readPage(link)
    expect((await sendForm(link, { seal: sealIn(html), comment: '' })).text).toContain(
      'Nothing was decided: choose one of the two.',
    )
    expect(await statusOf()).toBe('pending')
    expect(await server.store.oneTimeToken(hashKey(link.slice(-43)))).toMatchObject({ purpose: 'decide', usedAt: null })
  })

  test('the page shows the card, runs nothing, loads nothing and is kept nowhere', async () => {
    const { linkOf } = await openMailedRefund()
    const { html, text, headers } = await readPage(linkOf(PEOPLE.ana)!)
    expect(text).toMatch(
      /^acme Approval needed · acme\.refunds@1\.0\.0 with amount 180 says "A refund is due\." why Refunds need a person\. acme\.gate@1\.0\.0 asks acme\.refund-desk@1\.0\.0 · run [\da-f]{6} for key svc_\w+… votes 0 of 1 effect non_idempotent_write Your decision Approve Reject Comment \(optional\) Send the decision You decide as ana@acme\.example, once, until \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Opening this page decides nothing\. Open it in the console$/,
    )
    expect(html).not.toMatch(/<script|\son\w+=|src=|url\(/)
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    expect([headers.get('cache-control'), headers.get('referrer-policy'), headers.get('x-frame-options')]).toEqual([
      'no-store',
      'same-origin',
      'DENY',
    ])
  })

  test.each<[string, { outcome: string; approved: boolean; comment?: string }]>([
    ['approve', { outcome: 'approved', approved: true }],
    ['reject', { outcome: 'rejected', approved: false, comment: 'not without a receipt' }],
  ])('the form of the page can %s, as the person of the mail, with the proof of a link', async (decision, answer) => {
    const { linkOf, answerOf, server, userTaskId } = await openMailedRefund({
      obligations: { approver_role: 'treasurer' },
    })
    const link = linkOf(PEOPLE.ana)!
    const { html } = await readPage(link)
    const comment = decision === 'reject' ? ' not without a receipt ' : ''
    const sent = await sendForm(link, { seal: sealIn(html), decision, comment })
    expect([sent.status, sent.text]).toEqual([
      200,
      `${decision === 'approve' ? 'Approved' : 'Rejected'} You decided as ana@acme.example. The link decides nothing more. Open it in the console`,
    ])
    expect(await answerOf()).toMatchObject({
      ...answer,
      completed_by: 'operator:ana@acme.example',
      channel: 'email',
      proof: 'link',
    })
    const { people } = await ask<{ people: { decided: object } }>(server.operator, `GET /tasks/${userTaskId}`)
    expect(people.decided).toMatchObject({ by: 'operator ana@acme.example', how: 'with a one-time link in a mail' })
    expect(await actsOf(server.operator, 'run.answered')).toEqual([
      { by: 'operator:ana@acme.example', proof: 'link', channel: 'email', refused: null },
    ])
    const late = await sendForm(link, { seal: sealIn(html), decision: 'approve' })
    expect([late.status, late.text]).toEqual([
      409,
      `This task is decided It was ${answer.outcome} by operator ana@acme.example${answer.comment === undefined ? '' : `: ${answer.comment}`}. Open it in the console`,
    ])
  })

  test('of many forms that are sent in one moment one decides', async () => {
    const { linkOf, server } = await openMailedRefund()
    const link = linkOf(PEOPLE.ana)!
    const seal = sealIn((await readPage(link)).html)
    const pages = await Promise.all(
      Array.from({ length: 8 }, (_, at) => sendForm(link, { seal, decision: at % 2 === 0 ? 'approve' : 'reject' })),
    )
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await actsOf(server.operator, 'run.answered')).filter(({ refused }) => refused === null)).toHaveLength(1)
  })

  test('a form of another site, or without an origin, is refused and uses nothing up', async () => {
    const { linkOf, statusOf, server } = await openMailedRefund()
    const link = linkOf(PEOPLE.ana)!
    const seal = sealIn((await readPage(link)).html)
    const fields = { seal, decision: 'approve' }
    for (const origin of ['https://evil.example', 'null', ''])
      expect((await sendForm(link, fields, { origin })).status).toBe(403)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams(fields).toString()
    expect((await readPage(link, { method: 'POST', headers: form, body })).status).toBe(403)
    expect(
      (
        await readPage(link, {
          method: 'POST',
          headers: { origin: new URL(link).origin },
          body: JSON.stringify(fields),
        })
      ).status,
    ).toBe(400)
    expect(await statusOf()).toBe('pending')
    expect(await server.store.oneTimeToken(hashKey(link.slice(-43)))).toMatchObject({ usedAt: null })
  })

  test.each([
    ['forged', (link: string) => link.replace(/.{3}$/, 'xyz')],
    ['cut', (link: string) => link.slice(0, -5)],
    ['too long', (link: string) => `${link}AAAA`],
  ])('a link that is %s is answered in words', async (_, spoil) => {
    const { linkOf } = await openMailedRefund()
    const link = spoil(linkOf(PEOPLE.ana)!)
    const { html } = await readPage(linkOf(PEOPLE.ana)!)
    for (const page of [await readPage(link), await sendForm(link, { seal: sealIn(html), decision: 'approve' })])
      expect([page.status, page.text]).toEqual([
        404,
        'This link is not known It was never a link of this server, or it is older than a week. Copy it whole from the mail, or decide in the console.',
      ])
  })

  test('a seal of another link does not count', async () => {
    const { linkOf, statusOf } = await openMailedRefund()
    const { html } = await readPage(linkOf(PEOPLE.bo)!)
    const page = await sendForm(linkOf(PEOPLE.ana)!, { seal: sealIn(html), decision: 'approve' })
    expect([page.status, page.text]).toEqual([409, expect.stringContaining('this was not sent by the page below')])
    expect(await statusOf()).toBe('pending')
  })

  test('a challenge of a passkey is no link', async () => {
    const { server, linkOf, userTaskId } = await openMailedRefund()
    const secret = 'c'.repeat(43)
    const now = Date.now()
    const { workspaceId } = (await server.store.oneTimeToken(hashKey(linkOf(PEOPLE.ana)!.slice(-43))))!
    await server.store.putOneTimeToken(
      {
        hash: hashKey(secret),
        workspaceId,
        purpose: 'approve',
        operator: PEOPLE.ana,
        subject: userTaskId,
        createdAt: now,
        expiresAt: now + 60_000,
        usedAt: null,
      },
      0,
    )
    expect((await readPage(`${server.consoleUrl!}/decide/${secret}`)).status).toBe(404)
  })

  test('after its time a link decides nothing, also where the clock jumps', async () => {
    let ahead = 0
    const clock: Clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() }
    const { linkOf, statusOf } = await openMailedRefund({ clock, email: { decide_within: '10m' } })
    const link = linkOf(PEOPLE.ana)!
    const seal = sealIn((await readPage(link)).html)
    ahead = 10 * 60_000 + 1000
    const page = await sendForm(link, { seal, decision: 'approve' })
    expect([page.status, page.text]).toEqual([
      409,
      'This link is too old It was good for a short time only. Decide in the console. Open it in the console',
    ])
    expect(await statusOf()).toBe('pending')
  })

  test('a person whose credential was revoked, or without the role, decides nothing', async () => {
    const { linkOf, keys, server, statusOf } = await openMailedRefund()
    const link = linkOf(PEOPLE.ana)!
    const seal = sealIn((await readPage(link)).html)
    await ask(server.operator, `POST /keys/${keys[PEOPLE.ana]!}/revoke`)
    const page = await sendForm(link, { seal, decision: 'approve' })
    expect([page.status, page.text]).toEqual([
      409,
      'You cannot decide here No credential of ana@acme.example is valid any more. Open it in the console',
    ])
    expect(await statusOf()).toBe('pending')
  })

  test('a link is good for what its mail showed, and for nothing that came later', async () => {
    const { linkOf, server, userTaskId, statusOf } = await openMailedRefund()
    const token = (await server.store.oneTimeToken(hashKey(linkOf(PEOPLE.ana)!.slice(-43))))!
    // The same link, had its mail shown other arguments.
    const secret = 'a'.repeat(43)
    await server.store.putOneTimeToken({ ...token, hash: hashKey(secret) }, 0)
    const page = await sendForm(`${server.consoleUrl!}/decide/${secret}`, { seal: 'x', decision: 'approve' })
    expect([page.status, page.text]).toEqual([
      409,
      'The task changed It is not any more what your mail showed. Decide in the console. Open it in the console',
    ])
    expect([token.subject?.slice(0, 36), await statusOf()]).toEqual([userTaskId, 'pending'])
  })

  /** What only the console decides, and why the mail says so. */
  test.each<[string, { least?: DecisionProof; obligations?: ApprovalObligations; sideEffectClass?: SideEffectClass }]>([
    ['its call cannot be undone', { sideEffectClass: 'irreversible_action' }],
    ['its policy asks for a passkey', { least: 'passkey' }],
    ['its policy asks for a key', { least: 'key' }],
    ['several people approve it', { obligations: { approvals_required: 2 } }],
    ['who did not start the run proves it with a credential', { obligations: { separation_of_duties: true } }],
  ])('announces only: %s', async (why, given) => {
    const { linkOf, mailOf } = await openMailedRefund(given)
    expect([linkOf(PEOPLE.ana), linkOf(PEOPLE.bo)]).toEqual([undefined, undefined])
    expect(mailOf(PEOPLE.ana).body).toContain(`decide: in the console: ${why}`)
  })

  test('who lacks the role reads which one it takes', async () => {
    const { linkOf, mailOf } = await openMailedRefund({ obligations: { approver_role: 'treasurer' } })
    expect(linkOf(PEOPLE.bo)).toBeUndefined()
    expect(mailOf(PEOPLE.bo).body).toContain('decide: in the console: it needs the role treasurer')
  })

  test('no link without decide_within: all recipients get one mail', async () => {
    const { mails, linkOf } = await openMailedRefund({ email: { decide_within: undefined } })
    expect(mails.map(({ to }) => to)).toEqual([[PEOPLE.ana, PEOPLE.bo, PEOPLE.list]])
    expect(linkOf(PEOPLE.ana)).toBeUndefined()
  })

  test('the secret is in no row of the store, no log line and no event', async () => {
    const lines: string[] = []
    const log: Log = { write: (...line) => void lines.push(JSON.stringify(line)) }
    const { linkOf, server, runId, get, until } = await openMailedRefund({ log })
    const link = linkOf(PEOPLE.ana)!
    const { html } = await readPage(link)
    await sendForm(link, { seal: sealIn(html), decision: 'approve' })
    await until(runId, 'engine.session.completed')
    const secret = link.slice(-43)
    const token = await server.store.oneTimeToken(hashKey(secret))
    const [notices, acts] = [await ask(server.operator, 'GET /notices'), await ask(server.operator, 'GET /acts')]
    const conversation = await get(`/v1/runs/${runId}/conversation`)
    expect(JSON.stringify([token, notices, acts, conversation, lines])).not.toContain(secret)
    expect(lines.filter((line) => line.includes('/decide/:token'))).toHaveLength(1)
    expect(token!.usedAt).not.toBeNull()
  })
})
