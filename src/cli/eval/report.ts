/** An evaluation for people, for programs and for CI systems. */
import { assumedLine } from '../../policy/replay/recorded-facts.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { describeCost } from '../../spec/price.ts'
import type { EvaluationSide } from '../../spec/evaluation.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import type { TableColumn } from '../../terminal/table.ts'
import { describeShare } from '../../view/evaluation-text.ts'
import type { TestCase } from '../reports/test-report.ts'
import type { evalAnswer } from '../answers/eval.ts'
import type { ValueOf } from '../../operations/schema.ts'
import type { BrokenLine } from './dataset.ts'
import type { CaseResult, EvaluatedCase } from './evaluate.ts'
import type { CheckResult } from './fact-checks.ts'
import type { Judge } from './judge.ts'
import { countSamples, describeSamples, isFlaky, samplesOf } from './samples.ts'
import type { EvalSummary, SideSummary } from './summary.ts'
import { wilsonInterval } from './wilson.ts'

/** An evaluation as it ended. */
export interface EvalReport {
  /** Path of the dataset as the user typed it. */
  readonly dataset: string
  readonly cases: readonly EvaluatedCase[]
  readonly broken: readonly BrokenLine[]
  /** How often each case was played with each version. */
  readonly repeat: number
  /** Cases that were not played, since the evaluation was interrupted. */
  readonly unplayed: number
  readonly summary: EvalSummary
  readonly judge?: Judge
  readonly judgeModel?: NonNullable<NonNullable<ProjectConfig['evals']>['judge']>
}

/** What did not pass, check by check. */
export const notPassedLines = ({ checks }: CaseResult): readonly string[] =>
  checks
    .filter(({ outcome }) => outcome !== 'passed')
    .map(({ check, outcome, message = '' }) => `${check}: ${outcome === 'undecided' ? 'undecided, ' : ''}${message}`)

export const brokenLine = (dataset: string, { line, message }: BrokenLine): string =>
  `${dataset}:${line} ${safeText(message)}`

/** @param repeat how often each case was played */
export const sideColumns = (repeat: number): readonly TableColumn<SideSummary>[] => [
  { title: 'VERSION', cell: ({ name }) => name },
  { title: 'PASSED', cell: ({ passed }) => String(passed), align: 'right' },
  { title: 'FAILED', cell: ({ failed }) => String(failed), align: 'right' },
  { title: 'UNDECIDED', cell: ({ undecided }) => String(undecided), align: 'right' },
  ...(repeat > 1
    ? [{ title: 'FLAKY', cell: ({ flaky = 0 }: SideSummary) => String(flaky), align: 'right' as const }]
    : []),
  { title: 'RATE', cell: ({ interval }) => (interval ? describeShare(interval.share) : ''), align: 'right' },
  {
    title: '95%',
    cell: ({ interval }) => (interval ? `${describeShare(interval.low)}–${describeShare(interval.high)}` : ''),
    align: 'right',
  },
  { title: 'TOKENS', cell: ({ tokens }) => String(tokens), align: 'right', dropOrder: 1 },
  { title: 'COST', cell: ({ cost }) => describeCost(cost) ?? '', align: 'right', dropOrder: 2 },
]

/** `refund of 180: passed → failed (never_calls: …)`. */
export const changedLine = ({ case: { name }, before, now }: EvaluatedCase): string =>
  `changed: ${safeText(name)}: ${before ? describeOutcome(before) : ''} → ${describeOutcome(now)}${now.outcome === 'passed' ? '' : ` (${safeText(notPassedLines(now)[0] ?? '')})`}`

/** `failed`, and of a case that was played several times `failed, 1 of 5`. */
export const describeOutcome = (result: CaseResult): string =>
  result.samples ? `${result.outcome}, ${describeSamples(result)}` : result.outcome

/** Cases of which some runs passed, and not all, each with its own rate. */
const flakyLines = ({ cases }: EvalReport): readonly string[] =>
  cases
    .filter(({ now }) => isFlaky(now))
    .map(({ case: { name }, now }) => {
      const { passed, trials } = countSamples(now)
      const interval = wilsonInterval(passed, trials)
      const range = interval ? ` (${describeShare(interval.low)}–${describeShare(interval.high)})` : ''
      return `flaky: ${safeText(name)}: ${describeSamples(now)} runs passed${range}`
    })

/** What is exact, and what a model judged: the two are told apart. */
export function basisLines(report: EvalReport): readonly string[] {
  const { cases, summary, repeat, judge, judgeModel } = report
  const { before, now, decisions, flips, assumed, isApart } = summary
  const assumption = assumedLine(assumed)
  const exact = before
    ? [
        `exact: of ${countOf(decisions, 'decision')} in the runs of ${before.name}, the policies of ${now.name} make ${flips} otherwise`,
        // Runs of one case often have the same decision.
        ...new Set(
          cases.flatMap(({ case: { name }, flips: own }) =>
            own.map((flip) => `  ${safeText(`${name}: ${flip.tool}: ${flip.was} → ${flip.now} (${flip.by})`)}`),
          ),
        ),
        ...(assumption === undefined ? [] : [assumption]),
      ]
    : []
  const played = before
    ? [isApart ? 'played: the intervals are apart' : 'played: the intervals overlap, so the difference may be chance']
    : []
  const repeated = repeat > 1 ? [`each case was played ${repeat} times; the interval is about cases`] : []
  const results = cases
    .flatMap((each) => [...samplesOf(each.now), ...(each.before ? samplesOf(each.before) : [])])
    .flatMap(({ checks }) => checks)
  const judged = results.filter(({ isJudged }) => isJudged)
  const model = judgeModel ? ` by ${judgeModel.provider}/${judgeModel.name}` : ''
  const work = judge?.work()
  const cost = work && describeCost(work.cost)
  return [
    ...exact,
    ...played,
    ...repeated,
    ...flakyLines(report),
    ...(judged.length === 0
      ? []
      : [
          `judged${model}: ${countVerdicts(judged)}, ${countOf(work?.calls ?? 0, 'answer')}${cost === undefined ? '' : `, ${cost}`}`,
          ...rubricLines(cases),
        ]),
  ]
}

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

function countVerdicts(judged: readonly CheckResult[]): string {
  const count = (outcome: CheckResult['outcome']): number => judged.filter((each) => each.outcome === outcome).length
  const left = count('undecided')
  return `${count('passed')} passed, ${count('failed')} failed${left > 0 ? `, ${left} not judged` : ''}`
}

const rubricsOf = (cases: readonly EvaluatedCase[]): readonly string[] => [
  ...new Set(cases.flatMap(({ case: { rubrics } }) => [...rubrics.values()].map(({ digest }) => digest))),
]

const rubricLines = (cases: readonly EvaluatedCase[]): readonly string[] =>
  rubricsOf(cases).map((digest) => `  rubric ${digest}`)

/** `2 cases were not played: interrupted`; undefined where all were. */
export const interruptedLine = ({ unplayed }: EvalReport): string | undefined =>
  unplayed === 0 ? undefined : `${unplayed} ${unplayed === 1 ? 'case was' : 'cases were'} not played: interrupted`

export const testCasesOf = (report: EvalReport): readonly TestCase[] => [
  ...[interruptedLine(report) ?? []].flat().map((why) => failedTest(report.dataset, 'the evaluation', why)),
  ...report.broken.map(({ line, message }) => failedTest(report.dataset, `line ${line}`, message)),
  ...playedTests(report),
]

const failedTest = (file: string, name: string, why: string): TestCase => ({
  file,
  name,
  ok: false,
  failure: [why],
  ms: 0,
})

const playedTests = ({ dataset, cases }: EvalReport): readonly TestCase[] =>
  cases.map(({ case: { name }, now }) => {
    const { passed, trials } = countSamples(now)
    const ok = passed === trials
    const counted = trials > 1 && !ok ? [`${describeSamples(now)} runs passed`] : []
    return { file: dataset, name, ok, failure: [...counted, ...notPassedLines(now)], ms: now.ms }
  })

export function toEvalAnswer(
  { dataset, cases, broken, unplayed, summary, repeat, judge, judgeModel }: EvalReport,
  code: number,
): ValueOf<typeof evalAnswer> {
  const { now, before, changed, worse, decisions, flips, assumed, isApart } = summary
  const work = judge?.work()
  return {
    ok: code === 0,
    dataset,
    ...(repeat > 1 && { repeat }),
    now: toSide(now),
    ...(before && { before: toSide(before), changed: changed.length, worse: worse.length, isApart }),
    ...(before && { exact: { decisions, flips, assumed: [...assumed] } }),
    ...(work &&
      judgeModel && {
        judge: {
          provider: judgeModel.provider,
          name: judgeModel.name,
          calls: work.calls,
          cost: work.cost,
          rubrics: rubricsOf(cases),
        },
      }),
    broken: broken.map((each) => ({ ...each })),
    ...(unplayed > 0 && { unplayed }),
    cases: cases.map(({ case: { name, line }, now: result, before: earlier, flips: own }) => ({
      name,
      line,
      ...toResult(result),
      ...(earlier && { before: toResult(earlier) }),
      ...(earlier && { flips: own.map(({ tool, was, now: decision, by }) => ({ tool, was, now: decision, by })) }),
    })),
  }
}

export const toSide = ({
  name,
  passed,
  failed,
  undecided,
  interval,
  flaky,
  tokens,
  cost,
}: SideSummary): EvaluationSide => ({
  name,
  passed,
  failed,
  undecided,
  ...(flaky !== undefined && { flaky }),
  rate: interval ? { ...interval } : null,
  tokens,
  cost,
})

const toResult = (result: CaseResult) => ({
  ...toSample(result),
  ...(result.samples && { samples: result.samples.map(toSample) }),
})

const toSample = ({ outcome, checks, run, ms }: CaseResult) => ({
  outcome,
  checks: checks.map(({ check, isJudged, outcome: each, rubric, message }) => ({
    check,
    isJudged,
    outcome: each,
    ...(rubric !== undefined && { rubric }),
    ...(message !== undefined && { message }),
  })),
  run: run
    ? { status: run.status, output: run.output, tokens: run.tokens, cost: run.cost, seconds: run.seconds }
    : null,
  ms,
})
