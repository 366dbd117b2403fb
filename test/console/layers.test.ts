/** Keys belong to the topmost layer alone: no dialog and no menu lets a key through to what it covers. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { describeInBrowser, openPage } from './browser.ts'
import { openDesk } from './open-desk.ts'

interface LayerCase {
  /** The module that draws it, below `src/console`. */
  readonly file: string
  /** Where it is opened: over the card of the task, or over its run. */
  readonly over: 'task' | 'run'
  readonly open: (page: Page) => Promise<void>
  readonly shown: string
}

/** Every dialog and every menu of the console: one line each. */
const LAYERS: readonly LayerCase[] = [
  { file: 'views/help.tsx', over: 'task', open: (page) => page.keyboard.press('?'), shown: 'dialog.dialog' },
  { file: 'views/shell.tsx', over: 'task', open: (page) => page.locator('.who > summary').click(), shown: '.who-more' },
  {
    file: 'views/runs/run-actions.tsx',
    over: 'run',
    open: (page) => page.locator('main .menu > summary').first().click(),
    shown: 'main .menu[open] .menu-items',
  },
]

/** Every key that some screen gives a meaning, and pairs. */
const KEYS = ['a', 'r', 'e', 'l', 'w', 'x', 'j', 'k', 'n', '[', ']', '/', 'y', '.', 'g', 'r']

describeInBrowser('a layer', () => {
  test.each(LAYERS)('of $file keeps every key from the screen behind it, and Escape closes it', async (layer) => {
    const desk = await openDesk()
    const run = await desk.start({ order: 'A-1042', amount: 180 })
    await desk.start({ order: 'A-1043', amount: 190 })
    const [item] = (await desk.operator.call('GET /tasks', { query: {} })).items
    const { page } = await openPage(await desk.address())
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    const path = { task: `/inbox/${item!.userTaskId}`, run: `/runs/${run}` }[layer.over]
    await page.goto(desk.server.consoleUrl + path)
    if (layer.over === 'task') await page.locator('.decide button[aria-keyshortcuts="a"]').waitFor()
    const sent: string[] = []
    page.on('request', (request) => request.method() !== 'GET' && sent.push(request.url()))
    await layer.open(page)
    await page.locator(layer.shown).waitFor()
    for (const key of KEYS) await page.keyboard.press(key)
    await page.locator(layer.shown).waitFor()
    await page.keyboard.press('Escape')
    await page.locator(layer.shown).waitFor({ state: 'hidden' })
    expect(new URL(page.url()).pathname, 'no key led to another screen').toBe(path)
    expect(sent.filter((url) => !url.endsWith('/live'))).toEqual([])
    expect((await desk.operator.call('GET /tasks', { query: {} })).items).toHaveLength(2)
    if (layer.over !== 'task') return
    await page.getByRole('group', { name: 'Decide' }).waitFor()
    // Without a layer the same key decides.
    await page.keyboard.press('a')
    await page.locator('.card.closed').waitFor()
  })

  test('that opens while a key is held ends the hold', async () => {
    const desk = await openDesk()
    await desk.publish('1.1.0', {
      'tools/refunds.yaml': ['side_effect_class: non_idempotent_write', 'side_effect_class: irreversible_action'],
    })
    await desk.operator.call('POST /deploy', { body: { agent: 'acme.refund-desk', version: '1.1.0' } })
    await desk.start({ order: 'A-1042', amount: 180 })
    const { page } = await openPage(await desk.address())
    await page.locator('.item').first().click()
    await page.locator('.decide button[aria-keyshortcuts="a"]').waitFor()
    await page.keyboard.down('a')
    await page.locator('.hold.held').waitFor()
    await page.keyboard.press('?')
    await page.locator('dialog.dialog').waitFor()
    await page.locator('.hold:not(.held)').waitFor({ state: 'attached' })
    await page.keyboard.up('a')
    expect((await desk.operator.call('GET /tasks', { query: {} })).items).toHaveLength(1)
  })
})

describe('the table of layers', () => {
  test('names every module of the console that draws a dialog or a menu', () => {
    const files = readdirSync('src/console', { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.tsx?$/.test(file),
    )
    const drawing = files.filter((file) =>
      /<dialog\b|<details\b|popover=/.test(readFileSync(join('src/console', file), 'utf8')),
    )
    expect(LAYERS.map(({ file }) => file).sort()).toEqual(drawing.sort())
  })
})
