/**
 * Photographs the screens of the console, light, dark, narrow, on a tablet and wide, from a server with the refund template: `npm run
 * screens:console`, or with names of screens. Needs Chromium, as the tests in a browser do. Also writes the picture of the
 * README.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { chromium, type Page } from '../test/console/chromium.ts'
import { openRefundServer } from './screens/refund-server.ts'

const DIRECTORY = resolve(import.meta.dirname, '../pictures/console')
const README = resolve(import.meta.dirname, '../docs/console.png')

const LOOKS = [
  { name: 'light', width: 1280, height: 800, colorScheme: 'light' },
  { name: 'dark', width: 1280, height: 800, colorScheme: 'dark' },
  { name: 'narrow', width: 320, height: 720, colorScheme: 'light' },
  { name: 'tablet', width: 768, height: 1024, colorScheme: 'light' },
  { name: 'wide', width: 1920, height: 1080, colorScheme: 'dark' },
] as const

async function photograph(): Promise<void> {
  mkdirSync(DIRECTORY, { recursive: true })
  const desk = await openRefundServer()
  const done = await desk.start({ order: 'A-1001', amount: 40 })
  const waiting = await desk.start({ order: 'A-1042', amount: 180 })
  await desk.start({ order: 'A-1043', amount: 240 })
  await desk.start({ order: 'A-2001', amount: 1500 })
  await desk.operator.call('POST /triggers', {
    body: {
      agent: 'acme.refund-desk',
      type: 'schedule',
      cron: '0 7 * * 1-5',
      timeZone: 'Europe/Berlin',
      input: { order: 'A-1001', amount: 40 },
    },
  })
  await desk.publish('1.1.0', { 'policies/refund-limit.yaml': ['value: 100', 'value: 500'] })
  const { items } = await desk.operator.call('GET /tasks', { query: {} })
  const small = items.find(({ why }) => why.includes('180'))!
  const large = items.find(({ why }) => why.includes('1500'))!
  const screens: Readonly<Record<string, string>> = {
    inbox: '/inbox',
    card: `/inbox/${large.userTaskId}`,
    similar: `/inbox/${small.userTaskId}/similar`,
    runs: '/runs',
    run: `/runs/${waiting}`,
    step: `/runs/${waiting}?step=16`,
    fork: `/runs/${done}?fork=1`,
    conversation: `/runs/${done}?tab=conversation`,
    why: `/runs/${waiting}?tab=why`,
    effects: `/runs/${waiting}?tab=effects`,
    events: `/runs/${done}?tab=events`,
    agents: '/agents',
    agent: '/agents/acme.refund-desk',
    difference: '/agents/acme.refund-desk?from=1.0.0&version=1.1.0',
    graph: '/agents/acme.refund-desk/graph',
    'what-if': '/policies?file=policies/refund-limit.yaml',
    try: '/try/acme.refund-desk?version=1.1.0',
    'go-on': `/try/acme.refund-desk?after=${done}`,
    files: '/files',
    keys: '/admin',
    costs: '/costs?by=agent,version',
    outcomes: '/costs?by=outcomes',
    admin: '/admin?tab=sessions',
    triggers: '/admin?tab=triggers',
    secrets: '/admin?tab=secrets',
    logs: '/admin?tab=logs',
    server: '/admin?tab=server',
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
      if (name === 'what-if') await tryAnEdit(page)
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

/** Raises the limit, and opens the first call that would be decided otherwise. */
async function tryAnEdit(page: Page): Promise<void> {
  await page.locator('.cm-line', { hasText: 'value: 100' }).first().click()
  await page.keyboard.press('End')
  await page.keyboard.type('0')
  await page.getByRole('button', { name: 'Decide again' }).click()
  await page.locator('.flip-row').first().click()
  await page.locator('.compared-after').waitFor()
}

await photograph()
