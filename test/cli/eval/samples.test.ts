/** Cases that are played several times: outcome, rate of each, what is flaky, and how it is told. */
import { expect, test } from 'vitest'
import { evalComment } from '../../../src/cli/eval/eval-comment.ts'
import type { CaseResult, EvaluatedCase } from '../../../src/cli/eval/evaluate.ts'
import { toKeptReport } from '../../../src/cli/eval/kept-report.ts'
import { testCasesOf, toEvalAnswer, type EvalReport } from '../../../src/cli/eval/report.ts'
import { mergeSamples } from '../../../src/cli/eval/samples.ts'
import { exitOfEval, summarize } from '../../../src/cli/eval/summary.ts'

type Outcome = CaseResult['outcome']
const run = (outcome: Outcome): CaseResult => ({
  outcome,
  checks: [
    { check: 'calls', isJudged: false, outcome, ...(outcome !== 'passed' && { message: 'acme.pay is not called' }) },
  ],
  run: {
    status: 'Completed',
    output: outcome,
    tokens: 10,
    cost: { amounts: { USD: '0.01' }, unpriced: 0 },
    seconds: 1,
  },
  ms: 3,
})
const FLIP = { runId: 'r', toolCallId: 'c', tool: 'acme.pay', was: 'allow', now: 'deny', by: 'acme.limit@1.0.0' }
const played = (name: string, now: readonly Outcome[], before?: readonly Outcome[]): EvaluatedCase =>
  mergeSamples(
    now.map((outcome, at) => ({
      case: { name, line: 1, input: {}, checks: [], rubrics: new Map() },
      agent: 'acme.desk',
      now: run(outcome),
      ...(before && { before: run(before[at]!) }),
      flips: before ? [FLIP] : [],
      decisions: before ? 2 : 0,
      assumed: [],
    })),
  )
const reportOf = (repeat: number, ...cases: readonly EvaluatedCase[]): EvalReport => ({
  dataset: 'a.jsonl',
  cases,
  broken: [],
  repeat,
  unplayed: 0,
  summary: summarize(cases, { now: 'workspace', ...(cases[0]?.before && { before: 'HEAD' }) }),
})
const [P, F, U] = ['passed', 'failed', 'undecided'] as const

test.each<[readonly Outcome[], Outcome]>([
  [[P], P],
  [[P, P, F], P],
  [[P, F, F], F],
  [[P, F], U],
  [[P, P, U, U], U],
  [[P, F, U], U],
  [[P, P, P, F, U], P],
])('of %j more than half decide: %s', (outcomes, expected) => {
  expect(played('a', outcomes).now.outcome).toBe(expected)
})

test('runs are counted, tokens and costs of all are summed, and a case of which only some passed is flaky', () => {
  const { now } = reportOf(3, played('a', [P, P, F]), played('b', [P, P, P]), played('c', [F, U, F])).summary
  expect(now).toMatchObject({ passed: 5, failed: 3, undecided: 1, flaky: 1, tokens: 90 })
  expect(now.cost).toEqual({ amounts: { USD: '0.09' }, unpriced: 0 })
  expect(now.interval?.share).toBe(5 / 9)
})

test('a case is worse where more than half passed before, and no more than half now', () => {
  const { changed, worse } = reportOf(
    3,
    played('once more', [P, P, F], [P, P, P]),
    played('mostly', [P, F, F], [P, P, F]),
    played('better', [P, P, P], [F, F, P]),
  ).summary
  expect(changed.map(({ case: { name } }) => name)).toEqual(['mostly', 'better'])
  expect(worse.map(({ case: { name } }) => name)).toEqual(['mostly'])
})

test('the gate counts runs: one that fails is not hidden by the others', () => {
  const { summary } = reportOf(5, played('a', [P, P, P, P, F]))
  expect(exitOfEval(summary, [], { gates: ['failed'], atLeast: 100 })).toBe(1)
  expect(exitOfEval(summary, [], { gates: ['failed'], atLeast: 80 })).toBe(0)
})

test('a flaky case fails in JUnit, with what its first failed run says', () => {
  expect(testCasesOf(reportOf(3, played('a', [P, F, P]), played('b', [P, P, P])))).toEqual([
    {
      file: 'a.jsonl',
      name: 'a',
      ok: false,
      failure: ['2 of 3 runs passed', 'calls: acme.pay is not called'],
      ms: 9,
    },
    { file: 'a.jsonl', name: 'b', ok: true, failure: [], ms: 9 },
  ])
})

test('the comment of a review names what is flaky, and a decision once', () => {
  expect(evalComment(reportOf(3, played('a', [P, F, P], [P, P, P]), played('b', [F, F, P], [P, P, P]))))
    .toBe(`### Evals: a.jsonl

| version | passed | failed | undecided | flaky | rate | 95% | tokens | cost |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| HEAD | 6 | 0 | 0 | 0 | 100% | 34.2%–100% | 60 | USD 0.06 |
| workspace | 3 | 3 | 0 | 2 | 50% | 9.5%–90.5% | 60 | USD 0.06 |

| case | before | now | what did not pass |
| --- | --- | --- | --- |
| b | passed, 3 of 3 | failed, 1 of 3 | calls&#58; acme.pay is not called |

- exact&#58; of 12 decisions in the runs of HEAD, the policies of workspace make 6 otherwise
- a&#58; acme.pay&#58; allow → deny &#40;acme.limit&#64;1.0.0&#41;
- b&#58; acme.pay&#58; allow → deny &#40;acme.limit&#64;1.0.0&#41;
- played&#58; the intervals overlap, so the difference may be chance
- each case was played 3 times; the interval is about cases
- flaky&#58; a&#58; 2 of 3 runs passed &#40;20.8%–93.9%&#41;
- flaky&#58; b&#58; 1 of 3 runs passed &#40;6.1%–79.2%&#41;`)
})

test('a server keeps how many runs of a case passed, and the JSON answer has each', () => {
  const report = reportOf(3, played('a', [P, F, P]), played('b', [P, P, P]))
  expect(toKeptReport(report)).toMatchObject({
    repeat: 3,
    now: { passed: 5, flaky: 1 },
    cases: [{ name: 'a', outcome: 'passed', passed: 2, checks: ['calls'] }],
  })
  const { repeat, cases } = toEvalAnswer(report, 1)
  expect(repeat).toBe(3)
  expect(cases[0]?.samples?.map(({ outcome }) => outcome)).toEqual([P, F, P])
  const once = toEvalAnswer(reportOf(1, played('a', [P])), 0)
  expect([once.repeat, once.cases[0]?.samples, once.now.flaky]).toEqual([undefined, undefined, undefined])
})
