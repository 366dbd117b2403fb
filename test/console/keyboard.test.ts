/** A whole approval with Tab, Enter and text alone: no pointer, no key of a card. Source: docs/design/console.md#accessibility */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { RefundServer } from '../../scripts/screens/refund-server.ts'
import { describeInBrowser } from './browser.ts'
import { openAs, openDesk } from './open-desk.ts'

/** Deploys the template with refunds that cannot be undone and whose amount an approver repeats. */
async function deployStrict(desk: RefundServer): Promise<void> {
  for (const name of ['refund-limit', 'large-refunds']) {
    const path = join(desk.directory, `policies/${name}.yaml`)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(/( +)approvals_required: \d\n/, '$&$1comprehension_required: true\n'))
  }
  await desk.publish('1.1.0', {
    'tools/refunds.yaml': ['side_effect_class: non_idempotent_write', 'side_effect_class: irreversible_action'],
  })
  await desk.operator.call('POST /deploy', { body: { agent: 'acme.refund-desk', version: '1.1.0' } })
}

/** What has the focus: its name, or its text. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const at = document.activeElement
    if (!(at instanceof HTMLElement)) return ''
    const label = at instanceof HTMLInputElement ? at.labels?.[0]?.innerText : at.getAttribute('aria-label')
    return (label ?? at.innerText).replaceAll(/\s+/g, ' ').trim()
  })

/** More controls than a screen of this test has. */
const MOST_TABS = 60

async function tabTo(page: Page, name: string): Promise<void> {
  for (let pressed = 0; pressed < MOST_TABS; pressed++) {
    await page.keyboard.press('Tab')
    if ((await focused(page)).includes(name)) return
  }
  throw new Error(`Tab does not reach ${name}.`)
}

/** What is said under the card after a decision. */
const noteOf = (page: Page) => page.locator('.card .note')

async function openCard(page: Page, amount: number): Promise<void> {
  await tabTo(page, `Refund ${amount.toLocaleString('en')} EUR`)
  await page.keyboard.press('Enter')
  await page.locator('.card .digest code').waitFor()
}

async function approve(page: Page, amount: number): Promise<void> {
  await openCard(page, amount)
  await tabTo(page, 'To approve, type amount')
  await page.keyboard.type(String(amount))
  await tabTo(page, 'Hold to approve')
  await page.keyboard.press('Enter')
  await page.getByRole('group', { name: 'Confirm' }).waitFor()
  expect(await focused(page), 'nothing is approved by a second Enter').toBe('Confirm')
  await tabTo(page, 'Yes, approve acme.refunds')
  // The second act counts only once it could be read.
  await page.locator('.decide button.primary:not([aria-disabled])').waitFor()
  await page.keyboard.press('Enter')
}

describeInBrowser('the keyboard alone', () => {
  test('votes on a call that cannot be undone, with two people, and rejects another with a reason', async () => {
    const desk = await openDesk()
    await deployStrict(desk)
    await desk.start({ order: 'A-1042', amount: 180 })
    await desk.start({ order: 'A-2001', amount: 1500 })
    const { page } = await openAs(desk, 'ana@example.com')
    await page.locator('.item').first().waitFor()
    await approve(page, 1500)
    await noteOf(page).getByText('Approved: 1 of 2; waits for another person.').waitFor()
    expect(await focused(page), 'Tab goes on from the outcome').toBe('Approved: 1 of 2; waits for another person.')
    const { page: other } = await openAs(desk, 'bo@example.com')
    await other.locator('.item').first().waitFor()
    await approve(other, 1500)
    await noteOf(other).getByText('approved by operator bo@example.com.').waitFor()
    expect(await focused(other)).toBe('approved by operator bo@example.com.')
    await openCard(page, 180)
    await tabTo(page, 'Reject')
    await page.keyboard.press('Enter')
    await page.getByLabel('Reason').waitFor()
    await page.keyboard.type('Ask the customer first.')
    await tabTo(page, 'Reject')
    await page.keyboard.press('Enter')
    await noteOf(page).getByText('Ask the customer first.').waitFor()
    expect(await focused(page)).toBe('rejected by operator ana@example.com: Ask the customer first.')
  })
})
