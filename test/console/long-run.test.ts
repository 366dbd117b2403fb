/**
 * Runs of up to a hundred thousand steps in a real browser: only what is in sight is drawn. Times are written to the standard
 * error of the test, beside those of an empty page in the same run. `npm run bench:console` measures more.
 * Source: docs/design/console.md#timeline
 */
import { expect, test } from 'vitest'
import { workspaceIdOf, agentIdOf, versionIdOf } from '../../src/base/ids.ts'
import { publishDesk, DESK, desk } from '../server/running.ts'
import { aRun, aSession, aStep, anUpdate, NO_LIMITS } from '../store/makers.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { newCode, openWithConsole } from './browser-session.ts'
import { isLong } from '../cases.ts'

const TYPES = ['Reasoning', 'PolicyDecision', 'ToolCall', 'ToolResult'] as const

/** A run with that many steps, stored as the engine would store it. */
async function openRunOf(steps: number) {
  const server = await openWithConsole()
  await publishDesk(server.operator)
  const session = aSession('long', {
    workspaceId: workspaceIdOf('acme'),
    agentId: agentIdOf('acme', DESK),
    agentName: DESK,
    agentVersionId: versionIdOf('acme', DESK, desk.digest),
    triggerId: null,
    triggerName: null,
    triggerType: 'operator',
    status: 'Completed',
    finishedAt: Date.UTC(2026, 0, 3),
    lastOrdinal: steps,
  })
  const run = aRun(session, { lastSequence: steps, state: { at: 'done', outcome: 'completed' } as never })
  const rows = Array.from({ length: steps }, (_, at) =>
    aStep(session, at + 1, {
      type: TYPES[at % 4]!,
      content: {
        text: `thought ${at + 1}`,
        name: 'lookup',
        ref: 'acme.orders.lookup',
        decision: 'allow',
        tool_call_id: `c${at >> 2}`,
      },
    }),
  )
  await server.store.start(anUpdate(session, { runs: [run], steps: rows, busy: false }), NO_LIMITS)
  const opened = await openPage(`${server.consoleUrl}/#code=${await newCode(server)}`)
  await opened.page.getByRole('heading', { name: 'Inbox' }).waitFor()
  return { server, ...opened, path: `/runs/${run.id}?all=1` }
}

/** First rows take at most this many times an empty page; a quiet machine needs less than three. */
const MOST = 12

describeInBrowser('a long run', () => {
  test.each([1000, 10_000, ...(isLong ? [100_000] : [])])(
    'of %i steps is drawn row by row in sight, scrolls to its end, and keeps its page small',
    async (steps) => {
      const { page, server, path } = await openRunOf(steps)
      const timeUntil = async (to: string, selector: string): Promise<number> => {
        let best = Infinity
        for (let round = 0; round < 2; round++) {
          await page.goto(server.consoleUrl! + to, { waitUntil: 'commit' })
          await page.locator(selector).first().waitFor()
          best = Math.min(best, await page.evaluate(() => performance.now()))
        }
        return best
      }
      const empty = await timeUntil('/nowhere', '.empty-title')
      const first = await timeUntil(path, '[role=row]')
      process.stderr.write(`empty page ${empty.toFixed(0)} ms, first rows of ${steps} ${first.toFixed(0)} ms\n`)
      expect(first / empty).toBeLessThan(MOST)
      const grid = page.locator(`[role=treegrid][aria-rowcount="${steps}"]`)
      await grid.waitFor()
      expect(await page.getByRole('row').count()).toBeLessThan(60)
      await grid.focus()
      await page.keyboard.press('End')
      await page.getByRole('row', { selected: true }).filter({ hasText: 'Result' }).waitFor()
      expect(page.url()).toContain(`step=${steps}`)
      expect(await page.getByRole('row').count()).toBeLessThan(60)
      expect(await page.evaluate(() => document.getElementsByTagName('*').length)).toBeLessThan(2000)
    },
  )
})
