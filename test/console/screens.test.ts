/** The other screens in a real browser: agents, try it, files, costs and admin. Source: docs/design/console.md#screens */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { snapshotOf } from '../server/fixtures.ts'
import { ask, DESK, publishDesk } from '../server/running.ts'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { newCode, openWithConsole } from './browser-session.ts'
import { openDesk } from './open-desk.ts'

const SCREENS = [
  ['/agents', 'acme.refund-desk'],
  ['/agents/acme.refund-desk', 'args.amount > 1000'],
  ['/agents/acme.refund-desk/graph', 'What it reaches'],
  ['/try/acme.refund-desk', 'Number of the order.'],
  ['/policies', 'Change something, then decide again.'],
  ['/files', 'No file was uploaded yet.'],
  ['/costs', 'scripted/refund-desk'],
  ['/admin', 'bo@acme.example'],
  ['/admin?tab=secrets', 'REFUNDS_LEDGER'],
  ['/admin?tab=sessions', 'this browser'],
  ['/admin?tab=server', 'Process'],
  ['/nowhere', 'There is no such screen.'],
] as const

describeInBrowser('every screen', () => {
  test.each(['light', 'dark'] as const)('is read without a finding of axe, in %s', async (colorScheme) => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    await desk.operator.call('POST /operator-keys', { body: { email: 'bo@acme.example', roles: ['treasurer'] } })
    const { page } = await openPage(await desk.address(), { colorScheme })
    await page.locator('.item').first().waitFor()
    const findings: string[] = []
    for (const [path, text] of SCREENS) {
      await page.goto(desk.server.consoleUrl! + path)
      await page.getByText(text).first().waitFor()
      findings.push(...(await findingsOfAxe(page)).map((each) => `${path}: ${each}`))
    }
    expect(findings).toEqual([])
  })

  test('has room at 320 pixels', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    await desk.operator.call('POST /operator-keys', { body: { email: 'bo@acme.example', roles: ['treasurer'] } })
    const { page } = await openPage(await desk.address(), { viewport: { width: 320, height: 640 } })
    await page.locator('.item').first().waitFor()
    const wide: string[] = []
    for (const [path, text] of [['/runs', 'Waits for a person'], ...SCREENS] as const) {
      await page.goto(desk.server.consoleUrl! + path)
      await page.getByText(text).first().waitFor()
      if ((await page.evaluate(() => document.documentElement.scrollWidth)) > 320) wide.push(path)
    }
    expect(wide).toEqual([])
  })
})

describeInBrowser('an agent', () => {
  test('is tried with a form of its input contract, and its run is shown', async () => {
    const desk = await openDesk()
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/agents/acme.refund-desk`)
    await page.getByRole('link', { name: 'Try it' }).click()
    const start = page.getByRole('button', { name: 'Start' })
    expect(await start.isDisabled()).toBe(true)
    await page.getByLabel('order').fill('A-7')
    await page.getByLabel('amount').fill('20')
    await start.click()
    await page.waitForURL(/\/runs\//)
    await page.getByText('Completed', { exact: true }).waitFor()
    const { items } = await desk.operator.call('GET /runs', { query: { roots: 'true', preview: 'true' } as never })
    expect(items.map(({ inputPreview }) => inputPreview)).toEqual(['{"order":"A-7","amount":20}'])
  })

  test('is tried on a version that is not deployed, where it is chosen', async () => {
    const desk = await openDesk()
    await desk.publish('1.1.0', { 'policies/refund-limit.yaml': ['value: 100', 'value: 500'] })
    const { page, problems } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/try/acme.refund-desk`)
    await page.getByText('This is a real run of the deployed version').waitFor()
    await page.getByRole('combobox', { name: 'Version' }).selectOption('1.1.0')
    await page.getByText('This is a real run of 1.1.0, which is not deployed').waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByLabel('order').fill('A-8')
    await page.getByLabel('amount').fill('180')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(/\/runs\//)
    await page.getByText('Completed', { exact: true }).waitFor()
    const { items } = await desk.operator.call('GET /runs', { query: { roots: 'true' } })
    expect(items.map(({ versionLabel }) => versionLabel)).toEqual(['1.1.0'])
    await page.goto(`${desk.server.consoleUrl}/try/acme.refund-desk?version=9.9.9`)
    await page.getByText('Version 9.9.9 is not published, or is yanked.').waitFor()
    expect(problems).toEqual([])
  })

  test('goes on with the conversation of a run that ended, in its session, and says why another cannot', async () => {
    const desk = await openDesk()
    const first = await desk.start({ order: 'A-1001', amount: 40 })
    const { page, problems } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/runs/${first}`)
    await page.locator('.more-actions > summary').click()
    await page.getByRole('link', { name: 'Follow up' }).click()
    await page.getByText('"refunded": 40').waitFor()
    await page.getByLabel('order').fill('A-1042')
    await page.getByLabel('amount').fill('180')
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(first))
    await page.getByText('Waits for a person', { exact: true }).first().waitFor()
    await page.getByText('A-1001').first().waitFor()
    await page.getByText('A-1042').first().waitFor()
    const { items } = await desk.operator.call('GET /runs', { query: { roots: 'true' } })
    expect(items.map(({ runId }) => runId)).toEqual([new URL(page.url()).pathname.slice('/runs/'.length), first])
    expect(new Set(items.map(({ sessionId }) => sessionId)).size).toBe(1)
    // The second run waits, so there is no form for a third one until it has ended.
    await page.goto(`${desk.server.consoleUrl}/try/acme.refund-desk?after=${first}`)
    await page.getByText('A run of the session has not ended; its status is WaitingForHITL.').waitFor()
    expect(await page.getByRole('button', { name: 'Start' }).count()).toBe(0)
    await desk.operator.call('POST /runs/:id/cancel', { id: items[0]!.runId, body: {} })
    await page.getByRole('button', { name: 'Start' }).waitFor()
    await desk.operator.call('DELETE /sessions/:id', { id: items[0]!.sessionId })
    await page.reload()
    await page.getByText('The content of this session was erased, so it cannot be continued.').waitFor()
    expect(await page.getByRole('button', { name: 'Start' }).count()).toBe(0)
    expect(problems).toEqual([])
    await page.goto(`${desk.server.consoleUrl}/try/acme.refund-desk?after=${first.replace(/.{6}$/, '000000')}`)
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('button', { name: 'Start' }).count()).toBe(0)
    expect(problems.splice(0)).toContainEqual(expect.stringContaining('404'))
  })

  test('is sent a message where no contract asks for more, as often as its session may go on', async () => {
    const server = await openWithConsole()
    const snapshot = snapshotOf(DESK, '1.0.0', {
      model: { provider: 'scripted', name: 'script', script: [{ say: 'You said ${input.message}.' }] },
      sessionLimits: { runs: 2 },
    })
    await publishDesk(server.operator, {}, snapshot)
    const first = await ask<{ runId: string }>(server.operator, 'POST /runs', {
      agent: DESK,
      input: { message: 'one' },
    })
    const { page, problems } = await openPage(`${server.consoleUrl}/#code=${await newCode(server)}`)
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${server.consoleUrl}/runs/${first.runId}`)
    const goOn = page.getByRole('link', { name: 'Follow up' })
    await page.locator('.more-actions > summary').click()
    await goOn.click()
    await page.getByText('You said one.').waitFor()
    await page.getByLabel('message').fill('two')
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('You said two.').first().waitFor()
    await page.locator('.more-actions > summary').click()
    await goOn.click()
    await page.getByLabel('message').fill('three')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('The session has reached svc/max-runs-per-session of 2.').waitFor()
    expect(await page.getByLabel('message').inputValue()).toBe('three')
    expect(problems.splice(0)).toEqual([expect.stringContaining('409')])
  })

  test('shows what a version may do more, with a call that shows it, before it is deployed', async () => {
    const desk = await openDesk()
    await desk.publish('1.1.0', { 'policies/refund-limit.yaml': ['value: 100', 'value: 500'] })
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/agents/acme.refund-desk`)
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.getByText('may do more').first().waitFor()
    expect(await page.locator('.witness').first().textContent()).toMatch(
      /acme\.refunds .* was needs approval.*, is allowed/,
    )
    const deploy = page.getByRole('button', { name: 'Deploy 1.1.0' })
    expect(await deploy.isDisabled()).toBe(true)
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByLabel('It may do more than before, and that is intended.').check()
    expect(await deploy.isDisabled()).toBe(true)
    await page.getByLabel('Why').fill('Refunds to 500 need nobody.')
    await deploy.click()
    await page.getByRole('row', { name: /1\.1\.0\s+deployed/ }).waitFor()
    const [agent] = (await desk.operator.call('GET /agents', { query: {} })).items.filter(
      ({ name }) => name === 'acme.refund-desk',
    )
    expect(agent!.deployed!.versionLabel).toBe('1.1.0')
    await page.getByRole('button', { name: 'Roll back to it' }).click()
    await page.getByLabel('Why').fill('Too many at once.')
    await page.getByRole('button', { name: 'Deploy 1.0.0' }).click()
    await page.getByRole('row', { name: /1\.0\.0\s+deployed/ }).waitFor()
    const history = page.getByRole('region', { name: 'Deployments' }).getByRole('row')
    await history.filter({ hasText: 'Too many at once.' }).waitFor()
    expect((await history.allTextContents()).slice(1).map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(/^1\.0\.0 after 1\.1\.0.*ana.*Too many at once\..*What it changed$/),
      expect.stringMatching(/^1\.1\.0 after 1\.0\.0.*ana.*Refunds to 500 need nobody\..*What it changed$/),
      expect.stringMatching(/^1\.0\.0.*ana.*nobody said$/),
    ])
    expect(await findingsOfAxe(page)).toEqual([])
  })
})

describeInBrowser('the graph of a version', () => {
  test('has a link for each node, and its list says the same', async () => {
    const desk = await openDesk()
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/agents/acme.refund-desk`)
    await page.getByRole('link', { name: 'Graph' }).click()
    const drawing = page.getByRole('region', { name: 'Graph' })
    await drawing.getByRole('link').first().waitFor()
    const graph = await desk.operator.call('GET /graph', { query: { agent: 'acme.refund-desk' } })
    const names = await drawing
      .getByRole('link')
      .evaluateAll((all) => all.map((each) => each.textContent.trim().replace('MCP server', 'mcp_server')))
    expect(names.toSorted()).toEqual(
      graph.nodes.map(({ kind, name, version }) => `${kind} ${name}@${version}`).toSorted(),
    )
    expect(await page.getByRole('region', { name: 'Edges' }).getByRole('row').count()).toBe(graph.edges.length + 1)
    await page.getByRole('row', { name: /acme\.refunds.*asks for an approval.*acme\.refund-limit/ }).waitFor()
    await drawing.getByRole('link', { name: 'agent acme.fraud-check@1.0.0' }).click()
    await page.getByRole('heading', { name: 'acme.fraud-check' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/agents/acme.fraud-check')
  })
})

describeInBrowser('a file', () => {
  test('is kept when it is chosen, and handed to the run', async () => {
    const server = await openWithConsole()
    const reference = { type: 'object', properties: { svcFile: { const: true }, filename: { type: 'string' } } }
    const snapshot = snapshotOf(DESK, '1.0.0', {
      model: { provider: 'scripted', name: 'script', script: [{ say: 'Read ${input.document.filename}.' }] },
      inputContract: { type: 'object', properties: { document: reference }, required: ['document'] },
    })
    await publishDesk(server.operator, {}, snapshot)
    const { page } = await openPage(`${server.consoleUrl}/#code=${await newCode(server)}`)
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${server.consoleUrl}/try/${DESK}`)
    const start = page.getByRole('button', { name: 'Start' })
    expect(await start.isDisabled()).toBe(true)
    const bytes = Buffer.from('Total: 180 EUR')
    await page.getByLabel('document').setInputFiles({ name: '<b>bill.txt', mimeType: 'text/plain', buffer: bytes })
    await page.getByText(/^Kept as .*b-bill\.txt$/).waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
    await start.click()
    await page.getByText('Completed', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Files', exact: true }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: /b-bill\.txt$/ }).click()
    expect(readFileSync((await (await download).path())!, 'utf8')).toBe('Total: 180 EUR')
  })
})

describeInBrowser('administration', () => {
  test('says when a schedule starts next, and which secrets the server lacks', async () => {
    const server = await openWithConsole()
    const secrets = { vendor: { fromEnv: 'SVC_TEST_NO_SUCH_KEY' } }
    await publishDesk(server.operator, {}, snapshotOf(DESK, '1.0.0', { secrets }))
    await ask(server.operator, 'POST /triggers', { agent: DESK, type: 'schedule', cron: '0 9 1 1 *', timeZone: 'UTC' })
    const { page } = await openPage(`${server.consoleUrl}/#code=${await newCode(server)}`)
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${server.consoleUrl}/admin?tab=triggers`)
    await page.getByText(/next in .* 01 Jan \d{4}, /).waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('link', { name: 'Secrets' }).click()
    await page.getByRole('row', { name: /vendor.*SVC_TEST_NO_SUCH_KEY missing nothing/ }).waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
  })

  test('revokes a key after it asked once more', async () => {
    const desk = await openDesk()
    await desk.operator.call('POST /operator-keys', { body: { email: 'bo@acme.example' } })
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/admin`)
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke it now' }).click()
    await page.getByText('revoked', { exact: true }).waitFor()
    const { items } = await desk.operator.call('GET /keys', { query: {} })
    expect(items[0]!.revokedAt).not.toBeNull()
  })
})
