/** Evaluations that were kept, in a real browser. Source: docs/design/evals.md#kept-evaluations */
import { expect, test } from 'vitest'
import type { EvaluationReport, EvaluationSide } from '../../src/spec/evaluation.ts'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { openDesk } from './open-desk.ts'

const side = (name: string, passed: number): EvaluationSide => ({
  name,
  passed,
  failed: 3 - passed,
  undecided: 0,
  rate: { share: passed / 3, low: 0.2, high: 1 },
  tokens: 1200,
  cost: { amounts: { EUR: '0.02' }, unpriced: 0 },
})

const REPORT: EvaluationReport = {
  dataset: 'evals/refunds.jsonl',
  now: side('workspace', 2),
  before: side('HEAD', 3),
  exact: { decisions: 9, flips: 1 },
  isApart: false,
  cases: [
    {
      name: 'a <b>small</b> refund',
      outcome: 'failed',
      before: 'passed',
      checks: ['expected'],
      flips: [{ tool: 'acme.refunds', was: 'allow', now: 'require_approval', by: 'acme.refund-limit@1.0.0' }],
    },
  ],
  moreCases: 0,
}

/** Of five runs of each case. */
const REPEATED: EvaluationReport = {
  ...REPORT,
  repeat: 5,
  now: { ...side('workspace', 2), passed: 12, failed: 3, flaky: 1 },
  cases: [{ name: 'a large refund', outcome: 'passed', passed: 3, checks: ['expected'], flips: [] }],
}

describeInBrowser('Evals', () => {
  test('shows how many runs of a case passed, where each was played several times', async () => {
    const desk = await openDesk()
    await desk.operator.call('POST /evals', { body: { agent: 'acme.refund-desk', report: REPEATED } })
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/policies/evals`)
    const shown = page.getByRole('article')
    await shown.getByText('1 case needs a look').click()
    const text = await shown.innerText()
    expect(text).toContain(', each case 5 times')
    expect(text).toContain('12 of 15 runs, 66.7% (20%–100%), 1 flaky')
    expect(text).toContain('a large refund 3 of 5 runs passed')
    expect(await findingsOfAxe(page)).toEqual([])
  })

  test('shows both versions, the cases that need a look, and which decisions are another, without a finding of axe', async () => {
    const desk = await openDesk()
    const keep = (agent: string) => desk.operator.call('POST /evals', { body: { agent, report: REPORT } })
    await keep('acme.refund-desk')
    await keep('acme.other')
    const { page } = await openPage(await desk.address())
    await page.goto(`${desk.server.consoleUrl}/policies`)
    await page.getByRole('link', { name: 'Evals' }).click()
    await page.getByRole('heading', { name: 'acme.other' }).waitFor()
    await page.goto(`${desk.server.consoleUrl}/policies/evals?agent=acme.refund-desk`)
    const shown = page.getByRole('article')
    await shown.getByText('1 case needs a look').click()
    expect((await shown.allInnerTexts()).map((text) => text.replace(/^(.*)$\n(?:.*) by operator$/m, '$1'))).toEqual([
      expect.stringMatching(
        new RegExp(
          [
            'acme.refund-desk evals/refunds.jsonl',
            'HEAD',
            '3 of 3, 100% \\(20%–100%\\)',
            '1,200 tokens, EUR 0.02',
            'workspace',
            '2 of 3, 66.7% \\(20%–100%\\)',
            'The intervals overlap, so the difference may be chance.',
            'Exact: of 9 decisions before, policies of now make 1 otherwise.',
            'a <b>small</b> refund',
            'expected',
            'acme.refunds \\(acme.refund-limit@1.0.0\\)',
          ].join('[^]*'),
        ),
      ),
    ])
    expect(await findingsOfAxe(page)).toEqual([])
  })
})
