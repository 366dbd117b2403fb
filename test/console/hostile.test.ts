/**
 * Content of others in a real browser: it stays text, and what cannot be undone needs a second act.
 * Source: docs/design/console.md#browser-tests
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { REFUND_DESK } from '../../scripts/screens/refund-server.ts'
import { safeJson } from '../../src/base/text/escape-text.ts'
import type { InboxItem } from '../../src/operations/tasks.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import { snapshotOf } from '../server/fixtures.ts'
import { ask, desk, DESK, policiesFor, publishDesk, tool } from '../server/running.ts'
import { describeInBrowser, openPage, stopTime } from './browser.ts'
import { asBrowser, newCode, openWithConsole, signedIn } from './browser-session.ts'
import { openDesk } from './open-desk.ts'

/** Calls a tool with what it was given: undone by nobody. */
const payer: AgentSnapshot = snapshotOf(DESK, '1.0.0', {
  model: {
    provider: 'scripted',
    name: 'script',
    script: [
      {
        say: '<img src=x onerror=alert(1)> **bold** [a](javascript:alert(2))',
        call: { tool: 'refunds', arguments: { amount: 180, note: '${input.note}' } },
      },
      { say: { refunded: 180 } },
    ],
  },
  tools: [tool('acme.refunds', { sideEffectClass: 'irreversible_action' })],
  policies: policiesFor('refunds'),
  output: desk.output,
})

async function openWaiting(note: string) {
  const server = await openWithConsole()
  await publishDesk(server.operator, {}, payer)
  const { runId, sessionId } = await ask<{ runId: string; sessionId: string }>(server.operator, 'POST /runs', {
    agent: DESK,
    input: { note },
  })
  await server.engine.waitForPause({ id: runId, sessionId } as never, AbortSignal.timeout(10_000))
  const { page } = await openPage(`${server.consoleUrl}/#code=${await newCode(server)}`)
  await page.getByRole('link', { name: /acme.refunds amount 180/ }).click()
  await page.locator('.digest code').waitFor()
  const decided = async () => {
    const { items } = await ask<{ items: { status: string }[] }>(server.operator, 'GET /tasks?all=true')
    return items[0]!.status
  }
  return { server, page, runId, decided }
}

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  "javascript:alert('1')",
  '${alert(1)} {{constructor.constructor("alert(1)")()}}',
  'pay \u202e\u2066dekcehc\u2069 now',
  'a\u200bb\u0000c\u001b[31mred\u001b[0m\r\nlast',
  '</dd></dl><button>Approve</button>',
]

describeInBrowser('content of others', () => {
  test.each(HOSTILE)('stays text on the card, the timeline and the run: %j', async (note) => {
    const { page, runId, server } = await openWaiting(note)
    expect(await page.locator('.card').textContent()).toContain(note.includes('\n') ? 'red' : safeJson(note))
    expect(await page.locator('.card img, .card script, .card svg[onload]').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
    await page.goto(`${server.consoleUrl}/runs/${runId}?tab=conversation`)
    await page.getByText('onerror=alert(1)> **bold**').waitFor()
    expect(await page.locator('.said a[href^="javascript"], .said img').count()).toBe(0)
    for (const [tab, place] of [
      ['why', '.explained'],
      ['effects', '.table'],
    ] as const) {
      await page.goto(`${server.consoleUrl}/runs/${runId}?tab=${tab}`)
      await page.locator(place).waitFor()
      expect(await page.locator('#main :is(img, script, svg[onload], a[href^="javascript"])').count()).toBe(0)
      expect(await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069\u200b]/.test(document.body.innerText))).toBe(false)
    }
    expect(await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069\u200b]/.test(document.body.innerText))).toBe(false)
  })

  test('of a megabyte is folded, and approved only once it was opened and shown to its end', async () => {
    const { page, decided } = await openWaiting('x'.repeat(600_000))
    const approve = page.getByRole('button', { name: /Hold to approve/ })
    expect(await approve.isDisabled()).toBe(true)
    await page.getByText('Open the folded value first.').waitFor()
    await page.getByRole('button', { name: /Show all 600,002 characters/ }).click()
    await page.getByText('Read the opened value to the end first.').waitFor()
    await page.keyboard.press('a')
    expect(await approve.isDisabled()).toBe(true)
    // What the key was told may move the page again: a person scrolls on, too.
    await expect
      .poll(async () => {
        for (const end of await page.locator('.value-end').all())
          await end.evaluate((each) => each.scrollIntoView({ block: 'center' }))
        // On a busy machine the key came before the card counts as read, and what is said of it stays.
        return await page.locator('.why-not', { hasText: 'Read the opened value' }).count()
      })
      .toBe(0)
    expect(await approve.isDisabled()).toBe(false)
    expect(await decided()).toBe('pending')
  })

  test('that is folded, and shorter than the screen, is read once it is opened', async () => {
    const { page } = await openWaiting('x'.repeat(700))
    const approve = page.getByRole('button', { name: /Hold to approve/ })
    expect(await approve.isDisabled()).toBe(true)
    await page.getByRole('button', { name: /Show all 702 characters/ }).click()
    await expect.poll(() => approve.isDisabled()).toBe(false)
  })
})

describeInBrowser('a call that cannot be undone', () => {
  test('is not approved by a click: it asks once more', async () => {
    const { page, decided } = await openWaiting('fine')
    await page.getByRole('button', { name: /Hold to approve/ }).click()
    await page.getByText('This cannot be undone once it is sent.').waitFor()
    expect(await decided()).toBe('pending')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('button', { name: /Hold to approve/ }).click()
    await page.getByRole('button', { name: 'Yes, approve acme.refunds' }).click()
    await page.locator('.card.closed').waitFor()
    expect(await decided()).toBe('completed')
  })

  test('is approved by a button that is held, and not by one that is let go', async () => {
    const { page, decided } = await openWaiting('fine')
    const box = (await page.getByRole('button', { name: /Hold to approve/ }).boundingBox())!
    await page.mouse.move(box.x + 20, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + 400, box.y + 300)
    await page.mouse.up()
    expect(await decided()).toBe('pending')
    await page.mouse.move(box.x + 20, box.y + 10)
    await page.mouse.down()
    await page.locator('.card.closed').waitFor()
    await page.mouse.up()
    expect(await decided()).toBe('completed')
  })

  test('is not approved by a double click: the second click confirms nothing', async () => {
    const { page, decided } = await openWaiting('fine')
    await stopTime(page)
    await page.getByRole('button', { name: /Hold to approve/ }).dblclick()
    await page.getByText('This cannot be undone once it is sent.').waitFor()
    const sent: string[] = []
    page.on('request', (request) => void sent.push(request.url()))
    await page.getByRole('button', { name: 'Yes, approve acme.refunds' }).click({ force: true })
    expect(await page.getByRole('button', { name: 'Yes, approve acme.refunds', disabled: true }).count()).toBe(1)
    expect(await page.getByRole('alert').allTextContents()).toEqual([
      'Too early: the press decided nothing. Read it, then press again.',
    ])
    expect(sent.filter((url) => url.endsWith('/messages'))).toEqual([])
    expect(await decided()).toBe('pending')
  })

  test('is not approved by a key that is let go on another screen', async () => {
    const { page, decided } = await openWaiting('fine')
    await page.locator('[aria-keyshortcuts=a]').waitFor()
    await stopTime(page)
    await page.keyboard.down('a')
    await page.locator('.hold.held').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.card').waitFor({ state: 'detached' })
    await page.keyboard.up('a')
    await page.clock.runFor(10_000)
    await page.clock.resume()
    await page.getByRole('link', { name: /acme.refunds amount 180/ }).click()
    await page.locator('.digest code').waitFor()
    expect(await decided()).toBe('pending')
  })

  test('is not approved by a key that is let go in another window', async () => {
    const { page, decided } = await openWaiting('fine')
    await page.locator('[aria-keyshortcuts=a]').waitFor()
    await stopTime(page)
    await page.keyboard.down('a')
    await page.locator('.hold.held').waitFor()
    await page.evaluate(() => (document.hasFocus = () => false))
    await page.clock.runFor(10_000)
    await page.locator('.hold.held').waitFor({ state: 'detached' })
    expect(await decided()).toBe('pending')
  })

  test('is approved by the key that is held, and not by one that is tapped', async () => {
    const { page, decided } = await openWaiting('fine')
    await page.locator('[aria-keyshortcuts=a]').waitFor()
    await page.keyboard.press('a')
    await page.getByText('This cannot be undone once it is sent.').waitFor()
    expect(await decided()).toBe('pending')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.keyboard.down('a')
    await page.locator('.card.closed').waitFor()
    await page.keyboard.up('a')
    expect(await decided()).toBe('completed')
  })
})

describeInBrowser('a session', () => {
  test('that is revoked ends in the browser at once', async () => {
    const { server, page } = await openWaiting('fine')
    const other = await signedIn(server)
    const { body } = await other.send('GET /console/sessions')
    const [, theirs] = body['items'] as { sessionId: string; isThis: boolean }[]
    page.removeAllListeners('console')
    await other.send(`POST /console/sessions/${theirs!.sessionId}/end`, { body: {} })
    await page.getByRole('heading', { name: 'With your operator credential' }).waitFor({ timeout: 5000 })
  })

  test('keeps neither the code nor the cookie where a script could read it, and its own half for its origin only', async () => {
    const { page } = await openWaiting('fine')
    expect(
      await page.evaluate(() => [
        document.cookie,
        location.hash,
        [localStorage, sessionStorage].map((each) => Object.entries(each)),
      ]),
    ).toEqual(['', '', [[['svc-page-key', expect.stringMatching(/^[0-9A-Za-z]{38}$/)]], []]])
  })

  test('is no use to another web server of the same host name, which gets its cookie', async () => {
    const { server, page, decided } = await openWaiting('fine')
    let captured = ''
    const other = createServer((request, response) => {
      captured = request.headers.cookie ?? ''
      response.setHeader('content-type', 'text/html').end('<title>other</title>')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = other.address() as AddressInfo
      const tab = await page.context().newPage()
      await tab.goto(`http://127.0.0.1:${port}/`)
      expect(captured).toMatch(/^svc-console-\d+=/)
      expect(await tab.evaluate(() => Object.entries(localStorage))).toEqual([])
      const send = asBrowser(server.consoleUrl!, captured)
      const { items } = await ask<{ items: InboxItem[] }>(server.operator, 'GET /tasks')
      const { runId, userTaskId } = items[0]!
      const vote = { runId, userTaskId, approved: true }
      for (const path of [`/runs/${runId}/messages`, `/v1/runs/${runId}/messages`, `/v1/runs/${runId}/input`])
        expect(await send(`POST ${path}`, { body: vote })).toMatchObject({
          status: 401,
          body: { code: 'not_signed_in' },
        })
      expect(await decided()).toBe('pending')
      // Another tab of the same origin needs no second sign-in.
      await tab.goto(`${server.consoleUrl}/inbox/${userTaskId}`)
      await tab.locator('.digest code').waitFor()
    } finally {
      other.close()
    }
  })

  test('is not shown in the frame of another page', async () => {
    const { server } = await openWaiting('fine')
    const response = await fetch(server.consoleUrl!, { headers: { accept: 'text/html' } })
    expect([response.headers.get('x-frame-options'), response.headers.get('content-security-policy')]).toEqual([
      'DENY',
      expect.stringContaining("frame-ancestors 'none'"),
    ])
  })
})

describeInBrowser('documents of others', () => {
  test('stay text in the editor, in an explanation and in the history of deployments', async () => {
    const desk = await openDesk()
    const evil = '<img src=x onerror=alert(1)>'
    await desk.publish('1.1.0', {
      'policies/refund-limit.yaml': [
        'reason: Refunds above EUR 100 need a person',
        `reason: '${evil}' # ${evil} \u202edekcehc`,
      ],
    })
    const body = { agent: REFUND_DESK, version: '1.1.0', message: evil }
    await desk.operator.call('POST /deploy', { body })
    const run = await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    const inert = async (): Promise<void> => {
      // The editor puts images without a source beside the marks it draws.
      expect(await page.locator('#main :is(img:not(.cm-widgetBuffer), script, [onerror])').count()).toBe(0)
    }
    await page.goto(`${desk.server.consoleUrl}/runs/${run}?tab=why`)
    await page.locator('.written-line', { hasText: 'onerror' }).first().waitFor()
    await inert()
    expect(await page.evaluate(() => document.body.innerText.includes('\u202e'))).toBe(false)
    await page.goto(`${desk.server.consoleUrl}/policies?file=policies/refund-limit.yaml`)
    await page.locator('.cm-line', { hasText: 'onerror' }).first().waitFor()
    await page.locator('.cm-specialChar').waitFor()
    await inert()
    await page.goto(`${desk.server.consoleUrl}/agents/${REFUND_DESK}`)
    await page.getByRole('region', { name: 'Deployments' }).getByText(evil).waitFor()
    await inert()
  })
})
