/**
 * Speed of the console in Chromium: `npm run bench:console`. Each time stands beside that of an empty page of the same server in
 * the same run, because a busy machine slows both. Source: docs/design/console.md#speed
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { chromium, type Page } from '../../test/console/chromium.ts'
import { measureIdle } from './idle.ts'
import { measureLive, openBusyServer } from './live.ts'
import { addLongRun, openWithDecisions } from './recorded.ts'

const DECISIONS = Number(process.env['DECISIONS'] ?? 100_000)
const LENGTHS = (process.env['STEPS'] ?? '1000,10000,100000').split(',').map(Number)
const ROUNDS = 3

const desk = await openWithDecisions(DECISIONS)
const url = desk.server.consoleUrl!
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
})
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
// The loader of this file names functions by a helper that the page does not have.
await context.addInitScript('globalThis.__name = (named) => named')
const page = await context.newPage()
await page.goto(await desk.address())
await page.getByRole('heading', { name: 'Inbox' }).waitFor()

/** Milliseconds from the request until something of the page is there, by the page's own clock; the best of some rounds. */
async function timeUntil(path: string, selector: string, look: Page = page): Promise<number> {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    await look.goto(url + path, { waitUntil: 'commit' })
    await look.waitForFunction((wanted) => document.querySelector(wanted) !== null, selector, { polling: 'raf' })
    best = Math.min(best, await look.evaluate(() => performance.now()))
  }
  return best
}

const firstPaint = async (): Promise<number> => {
  // The browser tells of it after it has painted.
  const entry = await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
  return (await entry.jsonValue())!
}

const empty = await timeUntil('/nowhere', '.empty-title')
const line = (goal: string, text: string, ms: number, aim: string): void =>
  console.log(
    `${goal.padEnd(3)} ${text.padEnd(46)} ${ms.toFixed(0).padStart(6)} ms  ${(ms / empty).toFixed(2).padStart(6)} x  goal ${aim}`,
  )
line('', 'empty page', empty, '-')

await desk.start({ order: 'A-1042', amount: 180 })
const inbox = await timeUntil('/inbox', '.item')
line('C1', 'first paint', await firstPaint(), '150 ms')
line('C1', 'inbox with a task', inbox, '300 ms')

for (const steps of LENGTHS) {
  const path = await addLongRun(desk, steps)
  const first = await timeUntil(path, '[role=row]')
  line(steps > 10_000 ? 'C8' : 'C2', `run of ${steps} steps, first rows`, first, steps > 10_000 ? '1500 ms' : '200 ms')
  const { frame, work } = await scroll()
  line('C3', `  scrolled, frame p95 (own work ${work.toFixed(1)} ms)`, frame, '20 ms')
}

/** Scrolls 37 rows a frame for 120 frames. */
async function scroll(): Promise<{ readonly frame: number; readonly work: number }> {
  return await page.evaluate(async () => {
    const rows = document.querySelector('.timeline-rows')!
    const frames: number[] = []
    const works: number[] = []
    let last = await new Promise<number>((next) => requestAnimationFrame(next))
    for (let at = 0; at < 120; at++) {
      rows.scrollTop += 37 * 30
      const begun = performance.now()
      rows.dispatchEvent(new Event('scroll'))
      works.push(performance.now() - begun)
      const now = await new Promise<number>((next) => requestAnimationFrame(next))
      frames.push(now - last)
      last = now
    }
    const p95 = (all: number[]): number => all.sort((a, b) => a - b)[Math.floor(all.length * 0.95)]!
    return { frame: p95(frames), work: p95(works) }
  })
}

const other = await (await browser.newContext()).newPage()
await other.goto(await desk.address())
await other.locator('.item').first().waitFor()
const begunAt = Date.now()
const second = desk.start({ order: 'A-1043', amount: 190 })
await other.waitForFunction(() => document.querySelectorAll('.item').length === 2, undefined, { polling: 'raf' })
const shownAt = Date.now()
const tasks = await desk.operator.call('GET /tasks', { query: {} })
const createdAt = Math.max(...tasks.items.map((task) => Date.parse(task.createdAt)))
line('C6', 'new task to its card in another browser', shownAt - createdAt, 'p95 150 ms')
line('C6', '  since its run was started', shownAt - begunAt, '-')
await second

await page.goto(`${url}/inbox`)
await page.locator('.item', { hasText: '180' }).click()
const approve = page.getByRole('button', { name: /^Approve/ })
await approve.waitFor()
await page.waitForFunction(() => document.querySelector('.digest code') !== null)
const approving = page.evaluate(
  () =>
    new Promise<number>((done) => {
      const begun = performance.now()
      document.querySelector<HTMLButtonElement>('.decide .primary')!.click()
      const look = (): void =>
        void (document.querySelector('.note.ok') ? done(performance.now() - begun) : requestAnimationFrame(look))
      look()
    }),
)
line('C5', 'approve to saved on the screen', await approving, '100 ms')

const { files } = await desk.operator.call('GET /sources', { query: { id: 'acme.refund-desk' } })
const limit = files.find(({ path }) => path.endsWith('refund-limit.yaml'))!
const edits = [{ path: limit.path, text: limit.text.replace('value: 100', 'value: 50') }]
const used = process.cpuUsage()
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const askedAt = performance.now()
const answer = await desk.operator.call('POST /what-if', { body: { base: { agent: 'acme.refund-desk' }, edits } })
delay.disable()
const { user, system } = process.cpuUsage(used)
line('C7', `what-if over ${answer.calls} decisions`, performance.now() - askedAt, '3000 ms')
line('C7', '  processor time of it', (user + system) / 1000, '3000 ms')
line('C7', '  longest wait of others meanwhile', delay.max / 1e6, '25 ms')

await desk.close()

const SECONDS = Number(process.env['SECONDS'] ?? 60)
const busy = await openBusyServer(SECONDS)
const watching = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
await watching.goto(await busy.address())
await watching.getByRole('heading', { name: 'Inbox' }).waitFor()
await watching.goto(`${busy.consoleUrl}/runs/${await busy.start()}?all=1`)
await watching.locator('[role=row]').first().waitFor()
const countSteps = async (): Promise<number> =>
  Number((await watching.locator('.facts div', { hasText: 'Steps' }).locator('dd').innerText()).replaceAll(',', ''))
const live = await measureLive(watching, SECONDS, countSteps)
line(
  'C4',
  `live for ${live.seconds} s, ${(live.steps / live.seconds).toFixed(0)} steps/s: longest task`,
  live.longestTaskMs,
  'none > 50 ms',
)
console.log(
  `C4  tasks over 50 ms: ${live.longTasks}; heap ${live.heapGrowthMiB >= 0 ? '+' : ''}${live.heapGrowthMiB.toFixed(1)} MiB, goal <= +10`,
)
await browser.close()
await busy.close()

const { off, on } = await measureIdle()
console.log(
  `C9  serve --console: ${(on.startMs - off.startMs).toFixed(0)} ms and ${(on.rssMiB - off.rssMiB).toFixed(1)} MiB more than serve (${off.startMs.toFixed(0)} ms, ${off.rssMiB.toFixed(0)} MiB), goal <= 6 MiB`,
)
