/**
 * Values of a megabyte in a real browser: drawn when somebody opens them, while the page goes on answering.
 * Source: docs/design/console.md#timeline
 */
import { expect, test } from 'vitest'
import { snapshotOf } from '../server/fixtures.ts'
import { ask, desk, DESK, publishDesk, tool } from '../server/running.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { newCode, openWithConsole } from './browser-session.ts'

const NOTE = 'words of others '.repeat(65_536)

const reader = snapshotOf(DESK, '1.0.0', {
  model: {
    provider: 'scripted',
    name: 'script',
    script: [
      { say: 'I look it up.', call: { tool: 'refunds', arguments: { amount: 180, note: '${input.note}' } } },
      { say: { refunded: 180 } },
    ],
  },
  tools: [tool('acme.refunds', { sideEffectClass: 'read_only' })],
  policies: desk.policies,
  output: desk.output,
})

describeInBrowser('a run with an argument of a megabyte', () => {
  test.each(['conversation', 'why', 'events', 'effects', 'raw'])('opens its tab %s at once', async (tab) => {
    const server = await openWithConsole()
    await publishDesk(server.operator, {}, reader)
    const { runId, sessionId } = await ask<{ runId: string; sessionId: string }>(server.operator, 'POST /runs', {
      agent: DESK,
      input: { note: NOTE },
    })
    await server.engine.waitForPause({ id: runId, sessionId } as never, AbortSignal.timeout(50_000))
    const { page } = await openPage(`${server.consoleUrl}/#code=${await newCode(server)}`)
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${server.consoleUrl}/runs/${runId}?tab=${tab}`)
    await page.locator('.said, .why-tab, .table, .raw').first().waitFor()
    expect((await page.locator('body').innerText()).length).toBeLessThan(20_000)
  })

  test('fetches it by its digest when it is opened, a part at a time', async () => {
    const server = await openWithConsole()
    await publishDesk(server.operator, {}, reader)
    const { runId, sessionId } = await ask<{ runId: string; sessionId: string }>(server.operator, 'POST /runs', {
      agent: DESK,
      input: { note: NOTE },
    })
    await server.engine.waitForPause({ id: runId, sessionId } as never, AbortSignal.timeout(50_000))
    const { page } = await openPage(`${server.consoleUrl}/#code=${await newCode(server)}`)
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${server.consoleUrl}/runs/${runId}?tab=conversation`)
    const call = page.locator('.message.ToolCall')
    await call.getByRole('button', { name: /^Show [\d,]+ bytes$/ }).click()
    await call.getByText('words of others').first().waitFor()
    await call.getByRole('button', { name: /^Show 100,000 more of 1,048,\d+ characters$/ }).click()
    await expect.poll(async () => (await call.innerText()).length).toBeGreaterThan(100_000)
    // The page answers meanwhile.
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
  })
})
