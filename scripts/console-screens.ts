/**
 * Photographs the screens of the console, light, dark and narrow, from a server with the refund template: `npm run
 * screens:console`, or with names of screens. Needs Chromium, as the tests in a browser do. Also writes the picture of the
 * README.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { openRefundServer } from './screens/refund-server.ts'

const DIRECTORY = resolve(import.meta.dirname, '../pictures/console')
const README = resolve(import.meta.dirname, '../docs/console.png')

const LOOKS = [
  { name: 'light', width: 1280, height: 800, colorScheme: 'light' },
  { name: 'dark', width: 1280, height: 800, colorScheme: 'dark' },
  { name: 'narrow', width: 320, height: 720, colorScheme: 'light' },
] as const

async function photograph(): Promise<void> {
  mkdirSync(DIRECTORY, { recursive: true })
  const desk = await openRefundServer()
  const done = await desk.start({ order: 'A-1001', amount: 40 })
  const waiting = await desk.start({ order: 'A-1042', amount: 180 })
  await desk.start({ order: 'A-2001', amount: 1500 })
  await desk.publish('1.1.0', { 'policies/refund-limit.yaml': ['value: 100', 'value: 500'] })
  const { items } = await desk.operator.call('GET /tasks', { query: {} })
  const large = items.find(({ why }) => why.includes('1500'))!
  const screens: Readonly<Record<string, string>> = {
    inbox: '/inbox',
    card: `/inbox/${large.userTaskId}`,
    runs: '/runs',
    run: `/runs/${waiting}`,
    step: `/runs/${waiting}?step=16`,
    conversation: `/runs/${done}?tab=conversation`,
    events: `/runs/${done}?tab=events`,
    agents: '/agents',
    agent: '/agents/acme.refund-desk',
    difference: '/agents/acme.refund-desk?from=1.0.0&version=1.1.0',
    try: '/try/acme.refund-desk',
    files: '/files',
    costs: '/costs',
    admin: '/admin?tab=sessions',
    logs: '/admin?tab=logs',
  }
  const wanted = process.argv.slice(2)
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  const page = await browser.newPage()
  await page.goto(await desk.address())
  await page.locator('.item').first().waitFor()
  for (const { name: look, width, height, colorScheme } of LOOKS) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme })
    for (const [name, path] of Object.entries(screens)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue
      await open(page, desk.server.consoleUrl! + path)
      await page.screenshot({ path: join(DIRECTORY, `${name}-${look}.png`) })
      if (name === 'card' && look === 'light') await page.screenshot({ path: README })
    }
  }
  await browser.close()
  await desk.close()
}

/** Opens a screen, and waits until nothing is read any more. */
async function open(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.locator('#main :is(h1, .card):visible').first().waitFor()
  await page.locator('.loading').waitFor({ state: 'detached' })
}

await photograph()
