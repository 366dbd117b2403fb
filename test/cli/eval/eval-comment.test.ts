/** An evaluation in the comment of a review. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { evalComment } from '../../../src/cli/eval/eval-comment.ts'
import type { CaseResult, EvaluatedCase } from '../../../src/cli/eval/evaluate.ts'
import { summarize } from '../../../src/cli/eval/summary.ts'

const PASSED: CaseResult = { outcome: 'passed', checks: [], ms: 0 }
const failedFor = (message: string): CaseResult => ({
  outcome: 'failed',
  checks: [{ check: 'calls', isJudged: false, outcome: 'failed', message }],
  ms: 0,
})
const evaluated = (name: string, now: CaseResult, before: CaseResult): EvaluatedCase => ({
  case: { name, line: 1, input: {}, checks: [], rubrics: new Map() },
  now,
  before,
  flips: [{ runId: 'r', toolCallId: 'c', tool: 'acme.pay', was: 'allow', now: 'deny', by: 'acme.limit@1.0.0' }],
  decisions: 2,
  assumed: [],
})
const commentOf = (...cases: readonly EvaluatedCase[]): string =>
  evalComment({
    dataset: 'evals/pay.jsonl',
    cases,
    broken: [],
    repeat: 1,
    unplayed: 0,
    summary: summarize(cases, { now: 'workspace', before: 'HEAD' }),
  })

test('has both versions, the cases that changed, and what policies decide otherwise', () => {
  expect(commentOf(evaluated('a small one', failedFor('acme.pay is not called'), PASSED)))
    .toBe(`### Evals: evals/pay.jsonl

| version | passed | failed | undecided | rate | 95% | tokens | cost |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| HEAD | 1 | 0 | 0 | 100% | 20.7%–100% | 0 |  |
| workspace | 0 | 1 | 0 | 0% | 0%–79.3% | 0 |  |

| case | before | now | what did not pass |
| --- | --- | --- | --- |
| a small one | passed | failed | calls&#58; acme.pay is not called |

- exact&#58; of 2 decisions in the runs of HEAD, the policies of workspace make 1 otherwise
- a small one&#58; acme.pay&#58; allow → deny &#40;acme.limit&#64;1.0.0&#41;
- played&#58; the intervals overlap, so the difference may be chance`)
})

test('is bounded, and nothing that a case or a model says is more than text in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (name, said) => {
      const rows = commentOf(evaluated(name, failedFor(said), PASSED)).split('\n')
      const row = rows[rows.indexOf('| --- | --- | --- | --- |') + 1]!
      expect(row.split('|')).toHaveLength(6)
      expect(row.replace(/&#\d+;/g, '')).not.toMatch(/[<>@`*_~[\]!#\\:]/)
    }),
  )
  const many = Array.from({ length: 500 }, (_, n) => evaluated(`case ${n}`, failedFor('no '.repeat(10_000)), PASSED))
  expect(commentOf(...many).length).toBeLessThan(65_536)
})
