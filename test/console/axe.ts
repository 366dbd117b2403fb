/** Findings of axe about a page, as one line each. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export async function findingsOfAxe(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, so that the page's policy stays as it is.
  await page.evaluate(SOURCE)
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${target.join(' ')} ${failureSummary.split('\n')[1] ?? ''}`),
  )
}
