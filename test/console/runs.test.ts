/** Runs and one run in a real browser. Source: docs/design/console.md#timeline */
import { expect, test } from 'vitest'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { openDesk } from './open-desk.ts'

describeInBrowser('runs', () => {
  test('are listed live, with those that wait on top, and found by what was said in them', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const done = await desk.start({ order: 'A-1001', amount: 40 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    const rows = page.locator('tbody tr')
    await rows.nth(1).waitFor()
    expect(await rows.nth(0).innerText()).toMatch(/Waits for a person\s+approval: acme.refunds/)
    expect(await rows.nth(1).innerText()).toContain('Completed')
    await desk.start({ order: 'A-3003', amount: 20 })
    await rows.filter({ hasText: 'A-3003' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('a-1001')
    await page.waitForURL(/search=a-1001/)
    await rows.filter({ hasText: 'A-3003' }).waitFor({ state: 'detached' })
    await rows.first().waitFor()
    expect(await rows.count()).toBe(1)
    expect(await rows.getByRole('link').first().getAttribute('href')).toBe(`/runs/${done}`)
    expect(await findingsOfAxe(page)).toEqual([])
  })

  test('are narrowed by agent, version, trigger and person, which the address keeps', async () => {
    const desk = await openDesk()
    const run = await desk.start({ order: 'A-1001', amount: 40 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${desk.server.consoleUrl}/runs`)
    const rows = page.locator('tbody tr')
    await rows.first().waitFor()
    await page.getByLabel('Agent').selectOption('acme.refund-desk')
    await page.getByLabel('Version').selectOption('1.0.0')
    await page.getByLabel('Trigger').selectOption('operator')
    await page.getByLabel('Person').fill('ana')
    // What is typed stays while lists are read again.
    await desk.operator.call('POST /triggers', { body: { agent: 'acme.refund-desk', name: 'late', type: 'api' } })
    await page.getByLabel('Trigger').locator('option[value=late]').waitFor({ state: 'attached' })
    await page.keyboard.press('Enter')
    await page.waitForURL(/person=/)
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      agent: 'acme.refund-desk',
      version: '1.0.0',
      trigger: 'operator',
      person: 'ana',
    })
    await rows.getByRole('link', { name: run.slice(-6) }).waitFor()
    await page.getByLabel('Person').fill('nobody@acme.example')
    await page.keyboard.press('Enter')
    await page.getByText('No runs match.').waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
  })

  test('one that is open is cancelled in the list, after it asked once more', async () => {
    const desk = await openDesk()
    const done = await desk.start({ order: 'A-1001', amount: 40 })
    const waiting = await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    const row = page.getByRole('row').filter({ hasText: waiting.slice(-6) })
    await row.getByRole('button', { name: `Cancel run ${waiting.slice(-6)}` }).click()
    expect(await findingsOfAxe(page)).toEqual([])
    await row.getByRole('button', { name: 'Cancel it now' }).click()
    await row.getByText('Cancelled', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /^Cancel/ }).count()).toBe(0)
    const { items } = await desk.operator.call('GET /runs', { query: { roots: 'true' } })
    expect(items.map(({ runId, status }) => [runId, status])).toEqual([
      [waiting, 'Cancelled'],
      [done, 'Completed'],
    ])
  })

  test('one is opened by the end of its id, and rows and the way back have keys', async () => {
    const desk = await openDesk()
    const run = await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${desk.server.consoleUrl}/runs/${run.slice(-6)}?step=16&tab=why`)
    await page.waitForURL(`**/runs/${run}?step=16&tab=why`)
    await page.locator('.decisions [aria-current]', { hasText: 'acme.refunds' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL('**/runs')
    await page.locator('tbody tr').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/runs/${run}`)
    await page.goto(`${desk.server.consoleUrl}/inbox/ffffffffff`)
    await page.getByRole('heading', { name: 'Nothing has an id that ends so.' }).waitFor()
  })

  test('one shows how much of its limits is used', async () => {
    const desk = await openDesk()
    const run = await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${desk.server.consoleUrl}/runs/${run}`)
    const { budgets } = await desk.operator.call('GET /runs/:id/outline', { id: run, query: {} })
    expect(budgets.map(({ limit, most }) => [limit, most])).toEqual([
      ['max_tokens_per_run', 20_000],
      ['max_loop_iterations', 8],
      ['max_wall_clock_seconds', 120],
      ['max_hitl_wait_minutes', 1440],
    ])
    await page
      .locator('.facts')
      .getByText(`${budgets[0]!.used.toLocaleString('en')} of 20,000`)
      .waitFor()
  })

  test('one is started like another, with what is changed of its input', async () => {
    const desk = await openDesk()
    const run = await desk.start({ order: 'A-1001', amount: 40 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${desk.server.consoleUrl}/runs/${run}`)
    await page.locator('.more-actions > summary').click()
    await page.getByRole('link', { name: 'Start like this' }).click()
    await page.getByLabel('amount').waitFor()
    expect(await page.getByLabel('order').inputValue()).toBe('A-1001')
    expect(await page.getByLabel('amount').inputValue()).toBe('40')
    await page.getByLabel('order').fill('A-1002')
    await page.getByLabel('amount').fill('45')
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.waitForURL(new RegExp('/runs/(?!' + run + ')'))
    await page.getByText('Completed', { exact: true }).first().waitFor()
    const id = new URL(page.url()).pathname.slice('/runs/'.length)
    const { session } = await desk.operator.call('GET /v1/runs/:id/conversation', { id, query: {} })
    expect(session.input).toMatchObject({ order: 'A-1002', amount: 45 })
  })

  test('one shows the steps of its sub-agents below their call, and each step whole', async () => {
    const desk = await openDesk()
    const runId = await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    await page.getByRole('link', { name: runId.slice(-6) }).click()
    const steps = page.getByRole('row')
    await steps.filter({ hasText: 'acme.fraud-check' }).waitFor()
    const levels = await steps.evaluateAll((all) =>
      all.map((each) => [each.getAttribute('aria-level'), (each as HTMLElement).innerText.split('\n')[0]]),
    )
    expect(levels).toEqual([
      ['1', 'Message'],
      ['1', 'Model'],
      ['1', 'Call'],
      ['1', 'Model'],
      ['1', 'Agent'],
      ['2', 'Message'],
      ['2', 'Model'],
      ['2', 'Output'],
      ['1', 'Model'],
      ['1', 'Policy'],
      ['1', 'Task'],
    ])
    await steps.filter({ hasText: 'refunds require approval' }).click()
    const panel = page.getByRole('complementary', { name: 'Step' })
    await panel.getByText('acme.refund-limit@1.0.0 requires an approval: args.amount > 100 (180).').waitFor()
    expect(page.url()).toContain('?step=16')
    await panel.getByRole('link', { name: 'Why, line by line' }).click()
    await page.locator('.written-line.hit.true', { hasText: 'value: 100' }).waitFor()
    expect(await page.locator('.written figcaption code').first().textContent()).toBe('policies/refund-limit.yaml')
    await page.goBack()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Close' }).click()
    expect(await steps.count()).toBe(8)
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('link', { name: 'Conversation' }).click()
    await page.getByText('The item arrived broken and the risk is low').waitFor()
    await page.getByRole('link', { name: 'Events' }).click()
    await page.getByText('engine.session.paused').waitFor()
  })

  test('one goes on while it is looked at, and is cancelled with a reason', async () => {
    const desk = await openDesk()
    const runId = await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/runs/${runId}`)
    await page.getByRole('button', { name: 'Cancel run' }).click()
    await page.getByLabel('Reason').fill('The customer withdrew.')
    await page.getByRole('button', { name: 'Cancel the run' }).click()
    await page.getByText('Cancelled', { exact: true }).waitFor()
    await page.getByText('The customer withdrew.').first().waitFor()
    expect((await desk.operator.call('GET /v1/runs/:id', { id: runId })).status).toBe('Cancelled')
    expect(await page.getByRole('button', { name: 'Cancel run' }).count()).toBe(0)
  })
})
