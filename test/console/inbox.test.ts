/** The inbox and its card in a real browser. Source: docs/design/console.md#browser-tests */
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { digestOfJson } from '../../src/base/digest.ts'
import { presentTask } from '../../src/view/task/task-card.ts'
import { readInboxItem } from '../../src/view/task/task-content.ts'
import { describeTaskView } from '../../src/view/task/task-view.ts'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage, runUntil, stopTime } from './browser.ts'
import { openAs, openDesk } from './open-desk.ts'

const cardOf = (page: Page) => page.locator('.card')

describeInBrowser('the inbox', () => {
  test('shows the words that the terminal draws, and approves what it shows', async () => {
    const desk = await openDesk()
    const runId = await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    const [item] = (await desk.operator.call('GET /tasks', { query: {} })).items
    const task = readInboxItem(item!)
    const card = presentTask(task, Date.now())
    await cardOf(page).getByText(card.title).waitFor()
    for (const row of card.rows)
      for (const text of 'text' in row ? [row.text] : row.values.map((value) => value.text))
        expect(await cardOf(page).textContent()).toContain(text)
    const view = digestOfJson(describeTaskView(task))
    await page.locator(`.digest[title="${view}"]`).waitFor()
    await page.getByRole('button', { name: /^Approve/ }).click()
    await cardOf(page).getByText('approved by operator ana.').waitFor()
    const stored = await desk.server.store.task(item!.userTaskId as never)
    expect(stored).toMatchObject({ status: 'completed', answer: { outcome: 'approved', completedBy: 'operator:ana' } })
    expect(stored!.answer!.metadata!['svc/view_digest']).toBe(view)
    expect(await page.evaluate(() => location.pathname)).toBe(`/inbox/${item!.userTaskId}`)
    expect(await page.evaluate(() => location.hash)).toBe('')
    await desk.server.engine.waitForPause(
      { id: runId, sessionId: item!.sessionId } as never,
      AbortSignal.timeout(50_000),
    )
  })

  test('counts the votes of two people in two browsers, and tells a third who decided', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-2001', amount: 1500 })
    const [ana, bo, cleo] = [
      await openAs(desk, 'ana@acme.example'),
      await openAs(desk, 'bo@acme.example'),
      await openAs(desk, 'cleo@acme.example'),
    ]
    for (const { page } of [ana, bo, cleo]) await page.getByRole('link', { name: /Refund 1,500 EUR/ }).click()
    await ana.page.getByRole('button', { name: /^Approve/ }).click()
    await cardOf(ana.page).getByText('Approved: 1 of 2; waits for another person.').waitFor()
    expect(await ana.page.getByRole('button', { name: /^Approve/ }).count()).toBe(0)
    await cardOf(bo.page).getByText('1 of 2: operator ana@acme.example').waitFor()
    await bo.page.getByRole('button', { name: /^Approve/ }).click()
    for (const { page } of [ana, bo, cleo]) await page.locator('.card.closed').waitFor()
    await cardOf(cleo.page).getByText('approved by operator bo@acme.example', { exact: true }).waitFor()
    expect(await cleo.page.getByRole('button', { name: /Approve|Reject/ }).count()).toBe(0)
  })

  test('shows what an edit changes before it is sent, and sends no other value', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.getByRole('button', { name: /^Edit/ }).click()
    await page.getByLabel('amount').fill('90,5')
    await page.getByText('amount is not a number').waitFor()
    await page.getByLabel('amount').fill('90.5')
    await page.getByRole('button', { name: 'See the difference' }).click()
    expect(await page.locator('.changes').innerText()).toMatch(/^amount\s+−\s*180\s+\+\s*90.5$/)
    await page.getByRole('button', { name: 'Approve with these' }).click()
    await page.locator('.card.closed').waitFor()
    const [item] = (await desk.operator.call('GET /tasks', { query: { all: 'true' } })).items
    expect(item!.args).toEqual({ order: 'A-1042', amount: 90.5, currency: 'EUR' })
  })

  test('refuses a decision about a card that is not the task any more, and shows what it is now', async () => {
    const desk = await openDesk()
    const runId = await desk.start({ order: 'A-2001', amount: 1500 })
    const { page, problems } = await openAs(desk, 'cleo@acme.example')
    await page.getByRole('link', { name: /Refund 1,500 EUR/ }).click()
    await page.locator('.digest code').waitFor()
    // This browser hears nothing while somebody else edits the arguments.
    await page.route('**/tasks/*', (route) => route.abort())
    await page.route('**/live', (route) => route.abort())
    const bo = await desk.operator.call('POST /operator-keys', { body: { email: 'bo@acme.example' } })
    const [item] = (await desk.operator.call('GET /tasks', { query: {} })).items
    const response = await fetch(`${desk.server.consoleUrl}/runs/${runId}/messages`, {
      method: 'POST',
      headers: { 'x-operator-key': bo.secret, 'content-type': 'application/json' },
      body: JSON.stringify({
        userTaskId: item!.userTaskId,
        approved: true,
        metadata: {
          'svc/arguments_digest': item!.argsDigest!,
          'svc/arguments': { order: 'A-2001', amount: 1400, currency: 'EUR' },
        },
      }),
    })
    expect(await response.json()).not.toHaveProperty('error')
    const sent = page.waitForResponse((each) => each.url().endsWith('/messages'))
    await page.getByRole('button', { name: /^Approve/ }).click()
    expect(await (await sent).json()).toMatchObject({ code: 'stale_view' })
    await page.unroute('**/tasks/*')
    await page.unroute('**/live')
    await page.reload()
    await cardOf(page).getByText('1400').first().waitFor()
    expect((await desk.server.store.task(item!.userTaskId as never))!.votes).toHaveLength(1)
    expect(problems.splice(0).every((each) => each.includes('ERR_FAILED'))).toBe(true)
  })

  test('survives a restart of the server between showing and approving, with the same task', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page, problems } = await openPage(await desk.address())
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.locator('.digest code').waitFor()
    await desk.server.close()
    await page.getByText('The server does not answer. What you see may be old').waitFor()
    await cardOf(page).getByText('decide when it is back').waitFor()
    await desk.restart()
    await page.getByRole('button', { name: /^Approve/, disabled: false }).click()
    await cardOf(page).getByText('approved by operator ana.').waitFor()
    expect(problems.splice(0).every((each) => /ERR_CONNECTION|Failed to load|ERR_/.test(each))).toBe(true)
  })

  test('follows a task that is cancelled and erased while its card is open', async () => {
    const desk = await openDesk()
    const run = await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.locator('.item').first().click()
    await page.locator('.digest code').waitFor()
    await desk.operator.call('POST /runs/:id/cancel', { id: run, body: {} })
    await page.locator('.card.closed').getByText('cancelled', { exact: true }).waitFor()
    expect(await page.locator('.decide').count()).toBe(0)
    const { items } = await desk.operator.call('GET /runs', { query: {} })
    const { sessionId } = items.find(({ runId }) => runId === run)!
    await desk.operator.call('DELETE /sessions/:id', { id: sessionId })
    await page.locator('.with').getByText('A-1042').waitFor({ state: 'detached' })
  })

  test('is used with the keyboard alone', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    await desk.start({ order: 'A-2001', amount: 1500 })
    const { page } = await openAs(desk, 'ana@acme.example')
    await page.locator('.item').first().waitFor()
    await page.keyboard.press('j')
    await cardOf(page).getByText('180').first().waitFor()
    await page.keyboard.press('j')
    await cardOf(page).getByText('1500').first().waitFor()
    await page.keyboard.press('k')
    await cardOf(page).getByText('"A-1042"', { exact: true }).waitFor()
    await page.keyboard.press('r')
    await page.getByLabel('Reason').waitFor()
    await page.keyboard.type('Ask the customer first.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await cardOf(page).getByText('rejected by operator ana@acme.example: Ask the customer first.').first().waitFor()
  })

  test('takes no key for a card that nobody can have read: a double press or a held key approves nothing', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    await desk.start({ order: 'A-1043', amount: 190 })
    const { page } = await openPage(await desk.address())
    const statuses = async () =>
      (await desk.operator.call('GET /tasks', { query: { all: 'true' } })).items.map(({ status }) => status).toSorted()
    const offered = page.locator('[aria-keyshortcuts=a]')
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await offered.waitFor()
    await stopTime(page)
    await page.keyboard.press('a')
    await runUntil(page, page.locator('.card.closed'))
    await page.keyboard.press('j')
    await runUntil(page, cardOf(page).getByText('"A-1043"', { exact: true }))
    await runUntil(page, page.getByRole('button', { name: /^Approve/, disabled: false }))
    const early = page.getByRole('alert')
    expect(await early.count()).toBe(0)
    await page.keyboard.press('a')
    await page.clock.runFor(500)
    expect(await offered.count()).toBe(0)
    expect(await early.allTextContents()).toEqual(['Too early: "a" decided nothing. Read it, then press again.'])
    // Held: it repeats.
    await page.keyboard.down('a')
    await page.keyboard.down('a')
    await page.clock.runFor(900)
    await page.keyboard.down('a')
    await page.clock.runFor(900)
    expect(await offered.count()).toBe(0)
    await page.keyboard.up('a')
    expect(await statuses()).toEqual(['completed', 'pending'])
    await page.clock.runFor(200)
    await runUntil(page, offered)
    await page.keyboard.press('a')
    await runUntil(page, page.locator('.card.closed'))
    expect(await statuses()).toEqual(['completed', 'completed'])
  })

  test('sends no edit by a double click on the button that shows the difference', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.getByRole('button', { name: /^Edit/ }).click()
    await page.getByLabel('amount').fill('90')
    await stopTime(page)
    await page.getByRole('button', { name: 'See the difference' }).dblclick()
    await page.locator('.changes').waitFor()
    expect(await page.getByRole('button', { name: 'Approve with these', disabled: true }).count()).toBe(1)
    const [item] = (await desk.operator.call('GET /tasks', { query: {} })).items
    expect(item).toMatchObject({ status: 'pending', args: { amount: 180 } })
  })

  test('keeps the reason that is typed before the digest of the card is known', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.locator('.item').first().waitFor()
    await page.addInitScript(() => {
      const digest = crypto.subtle.digest.bind(crypto.subtle)
      const isReleased = new Promise<void>((resolve) => addEventListener('release-digest', () => resolve()))
      crypto.subtle.digest = async (...asked) => isReleased.then(async () => digest(...asked))
    })
    await page.reload()
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await cardOf(page).getByText('digest …').waitFor()
    await page.keyboard.press('r')
    const reason = page.getByLabel('Reason')
    await reason.waitFor()
    await page.keyboard.type('all later')
    await page.evaluate(() => dispatchEvent(new Event('release-digest')))
    await page.locator('.digest code').waitFor()
    await page.keyboard.type(' please')
    expect(await reason.inputValue()).toBe('all later please')
  })

  test('takes the keys for its reason each time that it asks for one', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.locator('.digest code').waitFor()
    for (const text of ['all', 'later', 'rather']) {
      await page.keyboard.press('r')
      await page.getByLabel('Reason').waitFor()
      await page.keyboard.type(text)
      expect(await page.getByLabel('Reason').inputValue()).toBe(text)
      await page.getByRole('button', { name: 'Back' }).click()
    }
  })

  test.each(['light', 'dark'] as const)('has no finding of axe in %s', async (colorScheme) => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address(), { colorScheme })
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.locator('.digest code').waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: /^Edit/ }).click()
    await page.getByLabel('amount').waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
  })

  test('has room at 320 pixels', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address(), { viewport: { width: 320, height: 640 } })
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.locator('.digest code').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
    const box = await page.getByRole('button', { name: /^Approve/ }).boundingBox()
    expect(box!.height).toBeGreaterThanOrEqual(44)
    expect(box!.y + box!.height).toBeLessThanOrEqual(640 - 56)
  })
})
