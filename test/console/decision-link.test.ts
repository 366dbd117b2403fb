/** The page of a one-time link on a phone, without JavaScript. Source: docs/design/notifications.md#links-that-decide */
import { expect, test } from 'vitest'
import { hasMailServer } from '../server/notify/mail-server.ts'
import { openMailedRefund, PEOPLE } from '../server/notify/mailed-refund.ts'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage } from './browser.ts'

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, javaScriptEnabled: false }

describeInBrowser('a one-time link', () => {
  test.skipIf(!hasMailServer)('decides by its form, on a phone and without a script, and once', async () => {
    const { linkOf, statusOf, answerOf } = await openMailedRefund()
    const link = linkOf(PEOPLE.ana)!
    const { page } = await openPage(link, PHONE)
    await page.getByRole('heading', { name: 'Approval needed · acme.refunds@1.0.0' }).waitFor()
    // Nothing is chosen beforehand, and a browser sends no form without a choice.
    await page.getByRole('button', { name: 'Send the decision' }).click()
    expect(await statusOf()).toBe('pending')
    await page.getByLabel('Approve').check()
    await page.getByLabel('Comment').fill('checked with the customer')
    await page.getByRole('button', { name: 'Send the decision' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(await answerOf()).toMatchObject({
      outcome: 'approved',
      completed_by: 'operator:ana@acme.example',
      comment: 'checked with the customer',
      channel: 'email',
      proof: 'link',
    })
  })

  test.skipIf(!hasMailServer)('fits 320 px, and axe finds nothing', async () => {
    const { linkOf } = await openMailedRefund()
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await openPage(linkOf(PEOPLE.ana)!, { viewport: { width: 320, height: 700 }, colorScheme })
      expect(await findingsOfAxe(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
      if (process.env['PICTURES'])
        await page.screenshot({ path: `${process.env['PICTURES']}/link-${colorScheme}.png`, fullPage: true })
    }
  })
})
