/** What the console hands over as a file or on the clipboard. Source: docs/design/console.md#screens */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Download, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { writeCsv } from '../../src/console/parts/download.ts'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { openDesk } from './open-desk.ts'

const textOf = async (download: Download): Promise<string> => readFileSync((await download.path())!, 'utf8')

async function saved(page: Page, button: string): Promise<Download> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: button }).click()
  return await download
}

test('a cell that a spreadsheet would take for a formula is text, and quotes are doubled', () => {
  expect(
    writeCsv(
      ['a', 'b'],
      [
        ['=1+1', -5],
        ['@x', '+y'],
        ['say "hi", twice', null],
        ['two\nlines', '\u202eevil'],
      ],
    ),
  ).toBe('a,b\r\n\'=1+1,-5\r\n\'@x,\'+y\r\n"say ""hi"", twice",\r\ntwo\\nlines,\\u202eevil\r\n')
})

describeInBrowser('runs', () => {
  test('are exported as the filters have them', async () => {
    const desk = await openDesk()
    const done = await desk.start({ order: 'A-1001', amount: 40 })
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/runs`)
    await page.getByRole('link', { name: 'Completed' }).click()
    await page.getByRole('row').nth(1).waitFor()
    await page.getByText('Waits for a person').first().waitFor({ state: 'detached' })
    const download = await saved(page, 'Export CSV')
    expect(download.suggestedFilename()).toBe('runs.csv')
    const lines = (await textOf(download)).trim().split('\r\n')
    expect(lines).toEqual([
      'run,session,agent,version,status,started,finished,tokens,cost,trigger,input',
      expect.stringMatching(
        new RegExp(
          `^${done},[0-9a-f-]{36},acme.refund-desk,1.0.0,Completed,.*Z,.*Z,\\d+,,operator,"\\{""order"":""A-1001`,
        ),
      ),
    ])
    expect(await findingsOfAxe(page)).toEqual([])
  })
})

describeInBrowser('costs', () => {
  test('are exported as they are grouped', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1001', amount: 40 })
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/costs`)
    await page.getByRole('region', { name: 'Costs' }).waitFor()
    const [head, ...rows] = (await textOf(await saved(page, 'Export CSV'))).trim().split('\r\n')
    expect(head).toBe(
      'day,agent,version,provider,model,completions,input tokens,cached input tokens,output tokens,cost',
    )
    const { items } = await desk.operator.call('GET /costs', { query: { by: 'agent,model' } })
    expect(rows).toEqual(
      items.map(
        ({ agent, provider, model, completions, inputTokens, cachedInputTokens, outputTokens }) =>
          `,${agent},,${provider},${model},${completions},${inputTokens},${cachedInputTokens},${outputTokens},`,
      ),
    )
  })
})

describeInBrowser('an edited policy', () => {
  test('is saved and copied as a patch that git applies', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${desk.server.consoleUrl}/policies?file=policies/refund-limit.yaml`)
    await page.locator('.cm-line', { hasText: 'value: 100' }).first().click()
    const buttons = [page.getByRole('button', { name: 'Save as patch' }), page.getByRole('button', { name: 'Copy' })]
    for (const button of buttons) expect(await button.isDisabled()).toBe(true)
    await page.keyboard.press('End')
    await page.keyboard.type('0')
    const download = await saved(page, 'Save as patch')
    expect(download.suggestedFilename()).toBe('policies.patch')
    const patch = await textOf(download)
    expect(patch).toMatch(/^--- a\/policies\/refund-limit\.yaml\n\+\+\+ b\/policies\/refund-limit\.yaml\n@@ /)
    expect(patch).toContain('\n-    value: 100\n+    value: 1000\n')
    await buttons[1]!.click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(patch)
    execFileSync('git', ['init', '-q'], { cwd: desk.directory })
    execFileSync('git', ['apply', (await download.path())!], { cwd: desk.directory })
    expect(readFileSync(join(desk.directory, 'policies/refund-limit.yaml'), 'utf8')).toContain('    value: 1000\n')
  })
})
