/** Why and What-if in a real browser: lines that decided, other arguments, edited policies. Source: docs/design/console.md#routes */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openWithDecisions } from '../../bench/console/recorded.ts'
import { REFUND_DESK, type RefundServer } from '../../scripts/screens/refund-server.ts'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { closeAfterTest, openDesk } from './open-desk.ts'

const LIMIT = 'policies/refund-limit.yaml'

const limitOf = (desk: RefundServer): string => readFileSync(join(desk.directory, LIMIT), 'utf8')

async function openWhatIf(desk: RefundServer, page: Page): Promise<void> {
  await page.goto(`${desk.server.consoleUrl}/policies?file=${encodeURIComponent(LIMIT)}`)
  await page.getByLabel(`Text of ${LIMIT}`).waitFor()
}

/** Types the end of a line anew, as a person does. */
async function editLine(page: Page, from: string, to: string): Promise<void> {
  await page.locator('.cm-line', { hasText: from }).first().click()
  await page.keyboard.press('End')
  for (let at = 0; at < from.length; at++) await page.keyboard.press('Backspace')
  await page.keyboard.type(to)
  await page.locator('.cm-line', { hasText: to }).first().waitFor()
}

describeInBrowser('why', () => {
  test('shows a hundred decisions of a long run, beginning with those around the one that is named', async () => {
    const desk = await openWithDecisions(250, 250)
    closeAfterTest(desk)
    const { items } = await desk.operator.call('GET /decisions', { query: {} })
    const { page } = await openPage(await desk.address())
    const why = `${desk.server.consoleUrl}/runs/${items[0]!.runId}?tab=why`
    const shown = page.locator('.decision-list p')
    const chosen = page.locator('.decisions [aria-current]')
    await page.goto(why)
    await shown.getByText('151 to 250 of 250').waitFor()
    await page.getByRole('button', { name: 'Earlier' }).click()
    await shown.getByText('51 to 150 of 250').waitFor()
    await page.getByRole('button', { name: 'Earlier' }).click()
    await shown.getByText('1 to 100 of 250').waitFor()
    expect(await page.getByRole('button', { name: 'Earlier' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Later' }).click()
    await shown.getByText('101 to 200 of 250').waitFor()
    await page.goto(`${why}&decision=${items[120]!.decisionId}`)
    await shown.getByText('71 to 170 of 250').waitFor()
    expect(await chosen.locator('code').innerText()).toContain('"A-120"')
    expect(await findingsOfAxe(page)).toEqual([])
  })

  test('shows the line that stopped the call of a card, and what other arguments would do', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.locator('.item').first().click()
    await page.getByRole('button', { name: /^Approve/ }).waitFor()
    await page.keyboard.press('w')
    await page.getByText('acme.refund-limit@1.0.0 requires an approval: args.amount > 100 (180).').waitFor()
    const marked = page.locator('.asked > li').first().locator('.written-line.hit.true')
    expect((await marked.allTextContents()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      '11 field: args.amount',
      '12 op: gt',
      '13 value: 100true 180 > 100',
    ])
    expect(await page.locator('.asked > li').first().locator('figcaption code').textContent()).toBe(LIMIT)
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Other arguments' }).click()
    await page.getByLabel('amount').fill('90')
    await page.getByRole('button', { name: 'Decide again' }).click()
    await page.locator('.compared-after').getByText('allowed', { exact: true }).waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
    const { items } = await desk.operator.call('GET /tasks', { query: {} })
    expect(items.map(({ args }) => args)).toEqual([{ order: 'A-1042', amount: 180, currency: 'EUR' }])
  })
})

describeInBrowser('what if', () => {
  test('decides recorded calls by an edited policy, and opens each before and after', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-7', amount: 40 })
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await openWhatIf(desk, page)
    expect(await page.getByRole('button', { name: 'Decide again' }).isDisabled()).toBe(true)
    await editLine(page, 'value: 100', 'value: 10')
    await page.keyboard.press('Control+Enter')
    await page.getByText('1 of 6 decisions changes: 1 would need an approval.').waitFor()
    await page.locator('.flip-row').click()
    await page.getByText('acme.refund-limit@1.0.0 requires an approval: args.amount > 10 (40).').waitFor()
    expect(await page.locator('.written .badge').allTextContents()).toEqual(['edited'])
    expect(await findingsOfAxe(page)).toEqual([])
    const { calls, flips } = await desk.operator.call('POST /what-if', {
      body: {
        base: { agent: REFUND_DESK },
        edits: [{ path: LIMIT, text: limitOf(desk).replace('value: 100', 'value: 10') }],
      },
    })
    expect([calls, flips.length]).toEqual([6, 1])
  })

  test('warns of a call that could happen with less than before', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await openWhatIf(desk, page)
    await editLine(page, 'value: 100', 'value: 500')
    await page.getByRole('button', { name: 'Decide again' }).click()
    await page.getByText('One call could happen with less than before.').waitFor()
    await page.getByRole('heading', { name: 'What it may do' }).waitFor()
    await page.locator('.changes-list .wider .witness', { hasText: 'needs approval' }).first().waitFor()
  })

  test('says beside the line what is wrong with a text, and decides nothing by it', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await openWhatIf(desk, page)
    await editLine(page, 'op: gt', 'op: above')
    await page.getByRole('list', { name: 'Findings' }).getByText('above').first().waitFor()
    await page.locator('.cm-lintRange-error').first().waitFor()
    await page.getByRole('button', { name: 'Decide again' }).click()
    await page.getByText('The text cannot be decided by').waitFor()
    await page.getByRole('button', { name: 'Undo all' }).click()
    await page.getByText('Change something, then decide again.').waitFor()
    expect(await page.locator('.cm-content').textContent()).toContain('op: gt')
  })

  test('keeps letters that are typed in the editor, and the text while another screen is open', async () => {
    const desk = await openDesk()
    const { page } = await openPage(await desk.address())
    await openWhatIf(desk, page)
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('# grains?')
    expect(new URL(page.url()).pathname).toBe('/policies')
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    await page.getByRole('link', { name: 'Policies', exact: true }).click()
    await page.getByRole('link', { name: `${LIMIT} ●` }).click()
    await page.getByText('# grains?').waitFor()
  })

  test('is used at 320 pixels', async () => {
    const desk = await openDesk()
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address(), { viewport: { width: 320, height: 640 } })
    await page.locator('.item').first().waitFor()
    await openWhatIf(desk, page)
    const wide = (): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)
    expect(await wide()).toBe(320)
    await editLine(page, 'value: 100', 'value: 500')
    await page.getByRole('button', { name: 'Decide again' }).click()
    await page.locator('.flip-row').click()
    await page.locator('.compared-after').waitFor()
    expect(await wide()).toBe(320)
  })
})
