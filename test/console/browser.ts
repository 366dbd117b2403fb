/**
 * A real browser for tests of the console. Every page is watched: an error on its console, a violation of its policy or a request to
 * another origin fails the test that opened it.
 */
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core'
import { afterEach, describe, expect } from 'vitest'
import { chromiumPath } from '../chromium-path.ts'

if (chromiumPath === undefined)
  process.stderr.write('No Chromium: tests of the console are skipped. apt-get install chromium-headless-shell.\n')

/** A browser and a server share few processors with other tests. */
const PATIENCE_MS = 150_000

/** One for all files of a process; it ends with the process. */
let browser: Promise<Browser> | undefined
let watched: { readonly page: Page; readonly problems: string[] }[] = []

export interface OpenedPage {
  readonly page: Page
  /** What went wrong so far; a test that expects something takes it out. */
  readonly problems: string[]
}

/** A group of tests that need a browser. */
export function describeInBrowser(name: string, tests: () => void): void {
  // oxlint-disable-next-line vitest/valid-title
  describe.skipIf(chromiumPath === undefined)(name, { timeout: PATIENCE_MS }, () => {
    afterEach(async () => {
      const all = watched.flatMap(({ problems }) => problems)
      for (const { page } of watched) await page.context().close()
      watched = []
      expect(all).toEqual([])
    })
    tests()
  })
}

/** From now on the page has the time that its clock is given. */
export async function stopTime(page: Page): Promise<void> {
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 1000)
}

/** Lets stopped time go on, a millisecond at a time, until something is shown: answers come in real time, effects run with frames. */
export async function runUntil(page: Page, shown: Locator): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.clock.runFor(1)
        return await shown.count()
      },
      { interval: 5 },
    )
    .toBeGreaterThan(0)
}

async function startBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-dev-shm-usage']
  const started = await chromium.launch({ executablePath: chromiumPath!, args })
  started.on('disconnected', () => (browser = undefined))
  return started
}

/** A session of its own: no cookie is shared with other pages. */
export async function openPage(address: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
  browser ??= startBrowser()
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS / 2)
  const problems: string[] = []
  const { origin } = new URL(address)
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) problems.push(`request to ${url}`)
  })
  watched.push({ page, problems })
  // A page that is left before its code was answered has nobody signed in.
  const isSignIn = (url: string, method: string): boolean => method === 'POST' && url.endsWith('/sign-in')
  const signedIn = address.includes('#code=')
    ? page.waitForResponse((response) => isSignIn(response.url(), response.request().method()))
    : undefined
  await page.goto(address)
  // The page keeps its half of the session a moment after the answer: who leaves it before is signed in nowhere.
  if ((await signedIn)?.ok()) await page.waitForFunction((key) => localStorage.getItem(key) !== null, 'svc-page-key')
  return { page, problems }
}
