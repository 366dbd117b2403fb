/** The button of an identity provider in a real browser. Source: docs/design/security.md#sign-in-for-teams */
import { expect, onTestFinished, test } from 'vitest'
import { openCompany } from '../fakes/company.ts'
import { isOidcInstalled } from '../fakes/oidc.ts'
import { describeInBrowser, openPage } from './browser.ts'

describeInBrowser('sign-in at a provider', () => {
  test.skipIf(!isOidcInstalled)(
    'leads there and back to the screen, says what changed, and ends both sessions',
    async () => {
      const company = await openCompany()
      onTestFinished(() => company.close())
      const { page, problems } = await openPage(`${company.url}/costs`)
      const signIn = async (): Promise<void> => {
        await page.getByRole('button', { name: 'Sign in with Acme' }).click()
        const login = page.locator('input[name=login]')
        const costs = page.getByRole('heading', { name: 'Costs' })
        const consent = page.locator('input[name=prompt][value=consent]')
        await login.or(consent).first().waitFor()
        if ((await login.count()) > 0) {
          await login.fill('ana')
          await page.locator('input[name=password]').fill('any')
          await page.locator('button[type=submit]').click()
          await consent.waitFor({ state: 'attached' })
        }
        await page.locator('button[type=submit]').click()
        await costs.waitFor()
        expect(page.url()).toBe(`${company.url}/costs`)
      }
      await signIn()
      await page.locator('.who summary').click()
      expect(await page.locator('.who-more').innerText()).toContain(
        'May approve, by the groups that Acme named when you signed in: treasury.',
      )
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByText('Do you want to sign-out').waitFor()
      await page.locator('button[name=logout]').click()
      company.person.groups = ['auditors']
      await page.waitForURL(`${company.url}/**`)
      await page.goto(`${company.url}/costs`)
      await signIn()
      await page
        .getByText('Your groups changed since your last sign-in, from treasury to auditors: now you may read.')
        .waitFor()
      await page.getByRole('button', { name: 'Got it' }).click()
      await page.reload()
      await page.getByRole('heading', { name: 'Costs' }).waitFor()
      expect(await page.getByText('Your groups changed').count()).toBe(0)
      // Pages of the provider load fonts, which are not there; a stream that signing out ends asks why.
      const ofProvider = /^request to https:\/\/fonts|ERR_NAME_NOT_RESOLVED$|401 \(Unauthorized\)$/
      const own = problems.splice(0).filter((each) => !each.includes(company.provider.issuer) && !ofProvider.test(each))
      expect(own).toEqual([])
    },
  )
})
