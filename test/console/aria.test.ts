/** What a screen reader is told of each screen, beside what it was told before. Source: docs/design/console.md#accessibility */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { shortId } from '../../src/base/text/short-text.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { openDesk } from './open-desk.ts'

/** Moments, ids and digests are other ones each time. An id that could be a number of YAML is quoted. */
const steady = (snapshot: string, runIds: readonly string[]): string =>
  runIds
    .reduce((text, runId) => text.replaceAll(new RegExp(`\\b${shortId(runId)}\\b`, 'g'), 'ID'), snapshot)
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'ID')
    .replaceAll(/(?:[0-9a-f]{4} ){3}(?:… )?[0-9a-f]{4}|sha256(?::|%3A)[0-9a-f]+|\b[0-9a-f]{12,}\b/g, 'DIGEST')
    .replaceAll(/\b(?=[a-f]*\d)(?:[0-9a-f]{6}|[0-9a-f]{8})\b/g, 'ID')
    .replaceAll(/(?<=: )"(ID|DIGEST)"$/gm, '$1')
    .replaceAll(/\b\d+(?:\.\d+)? ?(?:ms|[smhd])\b ?(?:ago)?/g, 'TIME ')
    .replaceAll(/just now|now\b/g, 'TIME')
    .replaceAll(/\d\d:\d\d:\d\d/g, 'TIME')
    .replaceAll(/TIME +(?=\w)/g, 'TIME ')
    .replaceAll(/TIME +(?=")/g, 'TIME')
    .replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY')
    .replaceAll(/((?:Seconds of work|Minutes of waiting)\n.*definition: )\d+/g, '$1N')
    .replaceAll(/[^\S\n]+$/gm, '')

test('a time is read alike however long ago it was', () => {
  expect(steady('1,676 25ms 5s ago', [])).toBe(steady('1,676 25ms just now', []))
  const waited = (minutes: number): string => `- term: Minutes of waiting\n- definition: ${minutes} of 1,440`
  expect(steady(waited(1), [])).toBe(steady(waited(0), []))
})

describeInBrowser('every screen', () => {
  test('tells a screen reader what it shows', async () => {
    const desk = await openDesk()
    const done = await desk.start({ order: 'A-1001', amount: 40 })
    const waiting = await desk.start({ order: 'A-1042', amount: 180 })
    const { items } = await desk.operator.call('GET /tasks', { query: {} })
    const { page } = await openPage(await desk.address())
    await page.locator('.item').first().waitFor()
    const screens = {
      card: [`/inbox/${items[0]!.userTaskId}`, '.digest code'],
      runs: ['/runs', 'tbody tr >> nth=1'],
      run: [`/runs/${waiting}`, '[role=row] >> nth=5'],
      conversation: [`/runs/${done}?tab=conversation`, 'text=A-1001'],
      why: [`/runs/${waiting}?tab=why`, '.written-line.hit.true'],
      agents: ['/agents', 'text=acme.refund-desk'],
      agent: ['/agents/acme.refund-desk', 'text=args.amount > 1000'],
      graph: ['/agents/acme.refund-desk/graph', 'text=What it reaches'],
      'what-if': ['/policies', 'text=Change something, then decide again.'],
      try: ['/try/acme.refund-desk', 'text=Number of the order.'],
      files: ['/files', 'text=No file was uploaded yet.'],
      costs: ['/costs', 'text=scripted/refund-desk'],
      admin: ['/admin', '#main h1'],
      none: ['/nowhere', 'text=There is no such screen.'],
    } as const
    for (const [name, [path, sign]] of Object.entries(screens)) {
      await page.goto(desk.server.consoleUrl! + path)
      await page.locator(sign).first().waitFor()
      await page.locator('.loading').first().waitFor({ state: 'detached' })
      const readScreen = async (): Promise<string> =>
        `${steady(await page.locator('#main').ariaSnapshot(), [done, waiting])}\n`
      // Parts of a screen ask for what they show, each by itself.
      const file = join(import.meta.dirname, `aria/${name}.yaml`)
      const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
      await vi.waitUntil(async () => (await readScreen()) === before, { timeout: 10_000 }).catch(() => undefined)
      await expect(await readScreen()).toMatchFileSnapshot(file)
    }
  })
})
