/** Runs that are ended, go on, are repeated or forked from their page. Source: docs/design/steering.md#resume */
import { expect, test } from 'vitest'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { openDesk } from './open-desk.ts'

describeInBrowser('the page of a run', () => {
  test('cancels it with a reason, lets it go on where it stopped, and says why it cannot a second time', async () => {
    const desk = await openDesk()
    const runId = await desk.start({ order: 'A-1042', amount: 180 })
    const { page, problems } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/runs/${runId}`)
    await page.getByRole('button', { name: 'Cancel run' }).click()
    await page.getByLabel('Reason').fill('The customer called.')
    await page.getByRole('button', { name: 'Cancel the run' }).click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    await page.getByText('The customer called.').first().waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByLabel('Reason').fill('They called again.')
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Resume the run' }).click()
    await page.getByText('Waits for a person', { exact: true }).first().waitFor()
    const { items } = await desk.operator.call('GET /v1/runs/:id/conversation', { id: runId })
    const resumed = items.find(({ type }) => type === 'RunResumed')!
    expect(resumed.content).toMatchObject({ resumed_by: 'operator:ana', reason: 'They called again.' })
    // The task of before is gone; the call is proposed anew.
    const waiting = (await desk.operator.call('GET /tasks', { query: {} })).items
    expect(waiting.map(({ tool }) => tool)).toEqual(['acme.refunds'])
    await page.getByRole('link', { name: 'Decide' }).click()
    await page.locator('.digest code').waitFor()
    await page.getByRole('button', { name: /^Approve/ }).click()
    await page.locator('.card.closed').waitFor()
    await page.goto(`${desk.server.consoleUrl}/runs/${runId}`)
    await page.getByText('Completed', { exact: true }).first().waitFor()
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('starts it again, as a new run that names it', async () => {
    const desk = await openDesk()
    const runId = await desk.start({ order: 'A-1001', amount: 40 })
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/runs/${runId}`)
    await page.locator('.more-actions > summary').click()
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByText('A new run of the deployed version of acme.refund-desk').waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Start it' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(runId))
    const { items } = await desk.operator.call('GET /runs', { query: { roots: 'true' } })
    expect(items.map(({ retryOf }) => retryOf)).toEqual([runId, undefined])
  })

  test('tells what a fork with another message would do, and starts it', async () => {
    const desk = await openDesk()
    const runId = await desk.start({ order: 'A-1001', amount: 40 })
    await desk.publish('1.1.0', { 'policies/refund-limit.yaml': ['value: 100', 'value: 10'] })
    const { page, problems } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/runs/${runId}`)
    await page.getByRole('row').filter({ hasText: 'Message' }).first().click()
    await page.getByRole('link', { name: 'Fork after this step' }).click()
    await page.getByLabel('What step #1 says').waitFor()
    await page.getByLabel('Version').selectOption('1.1.0')
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Try it dry' }).click()
    await page.getByText(/^as 1\.1\.0: /).waitFor()
    await page.getByText(/^refunds \{.*\}: require approval instead of allow$/).waitFor()
    expect((await desk.operator.call('GET /runs', { query: { roots: 'true' } })).total).toBe(1)
    await page.getByRole('button', { name: 'Start the fork' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(runId))
    await page.getByText('Waits for a person', { exact: true }).first().waitFor()
    const { items } = await desk.operator.call('GET /runs', { query: { roots: 'true' } })
    expect(items[0]).toMatchObject({ forkOf: runId, forkStep: 1, versionLabel: '1.1.0' })
    expect(problems).toEqual([])
  })

  test('asks once more before a run goes on with a version that may do more', async () => {
    const desk = await openDesk()
    const runId = await desk.start({ order: 'A-1042', amount: 180 })
    await desk.publish('1.1.0', { 'policies/refund-limit.yaml': ['value: 100', 'value: 500'] })
    await desk.operator.call('POST /runs/:id/cancel', { id: runId, body: {} })
    const { page, problems } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/runs/${runId}`)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByLabel('Version').selectOption('1.1.0')
    await page.getByRole('button', { name: 'Resume the run' }).click()
    await page.getByText('Version 1.1.0 may do more than 1.0.0').waitFor()
    expect(problems.splice(0)).toEqual([expect.stringContaining('409')])
    await page.getByLabel('It may do more, and that is intended.').check()
    await page.getByRole('button', { name: 'Resume the run' }).click()
    await page.getByText('Completed', { exact: true }).first().waitFor()
  })

  test('offers after a failure to undo what it made, shows each call with its arguments, and undoes it', async () => {
    const desk = await openDesk()
    const labels = `svc/undone-by: acme.refunds
    svc/undo-arguments: '{"order": "A-2002", "amount": "{args.amount}", "currency": "EUR"}'`
    await desk.publish('1.1.0', {
      'tools/refunds.yaml': [
        'svc/effect-key: refund:{args.order}',
        `svc/effect-key: refund:{args.order}\n    ${labels}`,
      ],
      'models/refund-desk.yaml': [
        "say: { refunded: '${results.refunds.amount}'",
        "fail: No more.\n- say: { refunded: '${results.refunds.amount}'",
      ],
    })
    await desk.operator.call('POST /deploy', {
      body: { agent: 'acme.refund-desk', version: '1.1.0' },
    })
    const runId = await desk.start({ order: 'A-1001', amount: 40 })
    const { page, problems } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/runs/${runId}`)
    await page.getByText('A call that this run made can be undone.').waitFor()
    await page.getByRole('button', { name: 'Undo…' }).click()
    const plan = page.getByRole('region', { name: 'Calls, newest first' })
    await plan.getByText('{"order":"A-1001","amount":40,"currency":"EUR"}').waitFor()
    await plan.getByText('{"order":"A-2002","amount":40,"currency":"EUR"}').waitFor()
    await page.getByLabel('Reason').fill('A wrong order.')
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Undo this call' }).click()
    await page.getByText('A call that this run made can be undone.').waitFor({ state: 'detached' })
    await page.getByRole('row').filter({ hasText: 'acme.refunds with acme.refunds' }).waitFor()
    await page.getByRole('link', { name: 'Effects' }).click()
    await page.getByText(/^undone by run \w{6}, for operator ana: A wrong order\.$/).waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
    expect(problems).toEqual([])
  })
})

describeInBrowser('the pages of agents', () => {
  test('pause an agent with a reason, show who paused it, and let it go on', async () => {
    const desk = await openDesk()
    const { page, problems } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/agents/acme.refund-desk`)
    await page.getByRole('button', { name: 'Pause agent' }).click()
    await page.getByLabel('Reason').fill('The bank called.')
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Pause it' }).click()
    await page.getByText('Paused: agent acme.refund-desk').waitFor()
    expect((await desk.operator.call('GET /pauses', { query: {} })).items).toMatchObject([
      { kind: 'agent', name: 'acme.refund-desk', by: 'operator:ana', reason: 'The bank called.' },
    ])
    expect(await page.getByRole('button', { name: 'Pause agent' }).count()).toBe(0)
    // The list of agents shows every pause.
    await page.goto(`${desk.server.consoleUrl}/agents`)
    const note = page.getByRole('status').filter({ hasText: 'Paused: agent acme.refund-desk' })
    await note.waitFor()
    expect(await note.innerText()).toContain('by operator ana: The bank called.')
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: /^End the pause ?: agent acme/ }).click()
    await page.getByRole('button', { name: 'End the pause', exact: true }).click()
    await page.getByText('Paused: agent').waitFor({ state: 'detached' })
    expect((await desk.operator.call('GET /pauses', { query: {} })).items).toEqual([])
    expect(problems).toEqual([])
  })
})
