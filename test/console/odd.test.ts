/**
 * What goes wrong around a page: a clock that is off, a network that is gone, a session that ends.
 * Source: docs/design/console.md#browser-tests
 */
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { describeInBrowser, openPage } from './browser.ts'
import { openAs, openDesk } from './open-desk.ts'

const cardOf = (page: Page) => page.locator('.card')

const NETWORK_ERROR = /net::ERR_|Failed to load|status of 401/

describeInBrowser('a device whose clock is an hour off', () => {
  test.each([-1, 1])('says of the moments of the server how far they are (%i h)', async (hours) => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(desk.server.consoleUrl!)
    await page.clock.install({ time: Date.now() + hours * 3_600_000 })
    await page.goto(await desk.address())
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.locator('.digest code').waitFor()
    expect(await page.locator('.deadline').innerText()).toMatch(/^expires in (?:30m|29m)/)
    expect(await page.locator('.item-age').innerText()).toMatch(/^(?:just now|\d+s ago)$/)
    expect(await page.locator('.deadline-bar.urgent').count()).toBe(0)
  })
})

describeInBrowser('a browser that is offline', () => {
  test('says so, decides nothing, and shows what happened meanwhile once it is back', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page, problems } = await openPage(await desk.address())
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.locator('.digest code').waitFor()
    await page.context().setOffline(true)
    await page.getByRole('button', { name: /^Approve/ }).click()
    await cardOf(page).getByText('The server does not answer. Whether the decision arrived is shown').waitFor()
    expect((await desk.operator.call('GET /tasks', { query: {} })).items.map(({ status }) => status)).toEqual([
      'pending',
    ])
    await desk.start({ order: 'A-1043', amount: 240 })
    await page.context().setOffline(false)
    await page.getByRole('link', { name: /Refund 240 EUR/ }).waitFor()
    await page.getByRole('button', { name: /^Approve/, disabled: false }).click()
    await cardOf(page).getByText('approved by operator ana.').waitFor()
    expect(problems.splice(0).filter((each) => !NETWORK_ERROR.test(each))).toEqual([])
  })
})

describeInBrowser('an address with a code', () => {
  test('signs in, also while the page of before still asks who is signed in', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(`${desk.server.consoleUrl!}/assets/style.css`)
    let answer: (() => void) | undefined
    await page.route('**/sign-in', async (route) => {
      if (answer === undefined && route.request().method() === 'GET')
        await new Promise<void>((resolve) => (answer = resolve))
      await route.continue().catch(() => undefined)
    })
    await page.goto(desk.server.consoleUrl!)
    await page.goto(await desk.address())
    answer?.()
    await page.getByRole('link', { name: /Refund 180 EUR/ }).waitFor()
    expect(new URL(page.url()).hash).toBe('')
  })
})

describeInBrowser('a session', () => {
  test('that is revoked while somebody decides takes no decision, and the task waits on', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page, problems } = await openAs(desk, 'bo@acme.example')
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.locator('.digest code').waitFor()
    await page.getByRole('button', { name: /^Reject/ }).click()
    await page.getByLabel('Reason').fill('Ask the customer first.')
    // The decision leaves before the page has heard that the session ended.
    await page.route('**/live', (route) => route.abort())
    const { items } = await desk.operator.call('GET /console/sessions', { query: {} })
    for (const { sessionId, endedAt } of items)
      if (endedAt === null)
        await desk.operator.call('POST /console/sessions/:id/end', { id: sessionId, body: undefined })
    await page
      .getByRole('button', { name: /^Reject/ })
      .click({ timeout: 2000 })
      .catch(() => undefined)
    await page.getByRole('heading', { name: 'With your operator credential' }).waitFor()
    expect((await desk.operator.call('GET /tasks', { query: {} })).items.map(({ status }) => status)).toEqual([
      'pending',
    ])
    expect(problems.splice(0).filter((each) => !NETWORK_ERROR.test(each))).toEqual([])
  })
})

describeInBrowser('the way back', () => {
  test('leads through the screens as they were opened, and an erased run says so, also to a bookmark', async () => {
    const desk = await openDesk()
    const run = await desk.start({ order: 'A-1042', amount: 180 })
    const { page, problems } = await openPage(await desk.address())
    const refused: string[] = []
    page.on('response', (response) => response.status() === 409 && refused.push(response.url()))
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.locator('.digest code').waitFor()
    await page.getByRole('link', { name: /^Run [0-9a-f]/ }).click()
    await page.getByRole('row').first().waitFor()
    await page.getByRole('link', { name: 'Effects' }).click()
    await page.getByRole('cell', { name: /acme.refunds/ }).waitFor()
    await page.goBack()
    await page.getByRole('row').first().waitFor()
    await page.goBack()
    await page.locator('.digest code').waitFor()
    await page.goForward()
    await page.getByRole('heading', { name: /acme.refund-desk/ }).waitFor()
    const { items } = await desk.operator.call('GET /runs', { query: {} })
    const { sessionId } = items.find(({ runId }) => runId === run)!
    await desk.operator.call('POST /runs/:id/cancel', { id: run, body: {} })
    await desk.operator.call('DELETE /sessions/:id', { id: sessionId })
    const note = page.getByText('said and made is not kept any more.')
    await note.waitFor()
    await page.getByText('A-1042').first().waitFor({ state: 'detached' })
    await page.goto(`${desk.server.consoleUrl!}/runs/${run}?tab=conversation`)
    await note.waitFor()
    expect(await page.getByText('A-1042').count()).toBe(0)
    // What may be undone is asked when the run ends, and refused where it was erased meanwhile: nothing else is.
    expect(refused.filter((url) => url !== `${desk.server.consoleUrl!}/runs/${run}/undo`)).toEqual([])
    expect(problems.splice(0).filter((each) => !each.includes('status of 409'))).toEqual([])
  })
})

describeInBrowser('a person who needs it larger or calmer', () => {
  test('has room at 200 % on every screen, and sees nothing move', async () => {
    const desk = await openDesk()
    const run = await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address(), {
      viewport: { width: 640, height: 400 },
      deviceScaleFactor: 2,
      reducedMotion: 'reduce',
    })
    await page.locator('.item').first().waitFor()
    const wide: string[] = []
    const moving: string[] = []
    for (const path of [
      '/inbox',
      `/runs/${run}`,
      `/runs/${run}?tab=why`,
      '/runs',
      '/agents/acme.refund-desk',
      '/policies',
      '/costs',
      '/admin?tab=server',
    ]) {
      await page.goto(desk.server.consoleUrl! + path)
      await page.locator('#main h1:visible').first().waitFor()
      await page.locator('.loading').waitFor({ state: 'detached' })
      if ((await page.evaluate(() => document.documentElement.scrollWidth)) > 640) wide.push(path)
      if ((await page.evaluate(() => document.getAnimations().length)) > 0) moving.push(path)
    }
    expect({ wide, moving }).toEqual({ wide: [], moving: [] })
  })
})
