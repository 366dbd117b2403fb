/** A call whose MCP server reports what it does and asks a person: the timeline, and the form of the question. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startFakeMcp } from '../fakes/mcp.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { openDesk } from './open-desk.ts'

/** Replaces the documents of the desk by an agent whose only tool is that of a server. */
const writeAgent =
  (url: string) =>
  (directory: string): void => {
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.yaml')) rmSync(join(directory, name))
    writeFileSync(join(directory, 'svc.config.yaml'), 'workspace: asks\n')
    writeFileSync(
      join(directory, 'script.yaml'),
      "- call: { tool: book, arguments: { room: A } }\n- say: 'Done: ${results.book}'\n",
    )
    writeFileSync(
      join(directory, 'agent.yaml'),
      `
apiVersion: svc/v1
kind: Agent
metadata: { name: refund-desk, namespace: acme, version: 1.0.0 }
spec:
  purpose: Books rooms.
  instructions: { text: You book rooms. }
  model: { provider: scripted, name: desk, provider_options: { script: script.yaml } }
  mcp_servers: [{ name: rooms, url: "${url}" }]
  tools: [{ ref: acme.book, side_effect_class: read_only, mcp: { server: rooms } }]
  limits: { max_loop_iterations: 5 }
`,
    )
  }

const defer = () => {
  let resolve!: () => void
  return { done: new Promise<void>((set) => (resolve = set)), resolve: () => resolve() }
}

const setHidden = (page: Page, isHidden: boolean): Promise<void> =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)

describeInBrowser('a call whose server asks', () => {
  test('shows what it reports, then a form that says who wrote it, and gets the answer', async () => {
    const [isWatched, mayAsk] = [defer(), defer()]
    let answer: object | undefined
    const fake = await startFakeMcp('sessions', [
      {
        name: 'book',
        async answer(_, { ask, report }) {
          await isWatched.done
          await report!({ progress: 2, total: 5, message: 'reading rooms' })
          await mayAsk.done
          const properties = {
            seats: { type: 'integer', minimum: 1, default: 2 },
            view: { type: 'boolean', description: 'With a view?' },
          }
          answer = await ask!({
            mode: 'form',
            message: 'Which room?',
            requestedSchema: { type: 'object', properties, required: ['seats'] },
          })
          return { content: [{ type: 'text', text: 'booked' }] }
        },
      },
    ])
    onTestFinished(() => fake.close())
    const desk = await openDesk(writeAgent(fake.url))
    const { runId } = await desk.operator.call('POST /runs', { body: { agent: 'acme.refund-desk', input: {} } })
    const { page } = await openPage(await desk.address())
    await page.goto(new URL(`/runs/${runId}`, page.url()).href)
    const isReports = (request: { url(): string }): boolean => /\/stream\?after=\d+$/.test(request.url())
    await page.waitForRequest(isReports)
    // A tab that nobody looks at keeps no connection, of which a browser has six for all tabs.
    const isLeft = page.waitForEvent('requestfailed', isReports)
    await setHidden(page, true)
    await isLeft
    const isFollowed = page.waitForRequest(isReports)
    await setHidden(page, false)
    await isFollowed
    isWatched.resolve()
    await page.locator('.step-report', { hasText: '2 of 5: reading rooms' }).waitFor()
    expect(await page.locator('.step-report .deadline-bar span').getAttribute('style')).toBe('width: 40%;')
    mayAsk.resolve()
    await page.getByRole('link', { name: 'Decide' }).click()
    const card = page.locator('.card')
    await card.getByText('MCP server rooms, in a call of acme.book. svc has not checked what it says.').waitFor()
    expect(await card.getByLabel('seats').inputValue()).toBe('2')
    await card.getByLabel('seats').fill('4')
    await card.getByLabel('view').selectOption('true')
    await card.getByRole('button', { name: 'Answer', exact: true }).click()
    await page.goto(new URL(`/runs/${runId}`, page.url()).href)
    await page.getByText('Completed').first().waitFor()
    expect(answer).toEqual({ action: 'accept', content: { seats: 4, view: true } })
    expect(await page.locator('.step-report').count()).toBe(0)
  })
})
