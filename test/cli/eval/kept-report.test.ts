/** What a server gets of an evaluation: sums and names, nothing that a run said. */
import { expect, test } from 'vitest'
import type { CaseResult, EvaluatedCase } from '../../../src/cli/eval/evaluate.ts'
import { mainAgentOf, toKeptReport } from '../../../src/cli/eval/kept-report.ts'
import { summarize } from '../../../src/cli/eval/summary.ts'

const CONTENT = 'what a customer wrote'

const result = (outcome: CaseResult['outcome']): CaseResult => ({
  outcome,
  checks: [{ check: 'expected', isJudged: false, outcome, message: CONTENT }],
  run: { status: 'Completed', output: CONTENT, tokens: 3, cost: { amounts: {}, unpriced: 0 }, seconds: 1 },
  ms: 0,
})
const evaluated = (name: string, now: CaseResult['outcome'], before?: CaseResult['outcome']): EvaluatedCase => ({
  case: { name, line: 1, input: { text: CONTENT }, checks: [], rubrics: new Map() },
  agent: 'acme.desk',
  now: result(now),
  ...(before && { before: result(before) }),
  flips: [],
  decisions: 1,
  assumed: [],
})
const kept = (cases: readonly EvaluatedCase[]) =>
  toKeptReport({
    dataset: 'a.jsonl',
    cases,
    broken: [],
    repeat: 1,
    unplayed: 0,
    summary: summarize(cases, { now: 'workspace', before: 'HEAD' }),
  })

test('has the cases that need a look with the names of their checks, and no content', () => {
  const report = kept([
    evaluated('fine', 'passed', 'passed'),
    evaluated('worse', 'failed', 'passed'),
    evaluated('better', 'passed', 'undecided'),
  ])
  expect(report.cases).toEqual([
    { name: 'worse', outcome: 'failed', before: 'passed', checks: ['expected'], flips: [] },
    { name: 'better', outcome: 'passed', before: 'undecided', checks: [], flips: [] },
  ])
  expect(report).toMatchObject({ dataset: 'a.jsonl', moreCases: 0, exact: { decisions: 3, flips: 0 } })
  expect(JSON.stringify(report)).not.toContain(CONTENT)
})

test('is bounded, and says how many cases it leaves out', () => {
  const report = kept(Array.from({ length: 130 }, (_, at) => evaluated(`${at} ${'x'.repeat(1000)}`, 'failed')))
  expect([report.cases.length, report.moreCases]).toEqual([100, 30])
  expect(Math.max(...report.cases.map(({ name }) => name.length))).toBeLessThanOrEqual(400)
})

test('is about the agent that most cases started', () => {
  const other = { ...evaluated('other', 'passed'), agent: 'acme.other' }
  expect(mainAgentOf([other, evaluated('a', 'passed'), evaluated('b', 'passed')])).toBe('acme.desk')
  expect(mainAgentOf([])).toBeUndefined()
})
