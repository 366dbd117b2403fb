/** What a server keeps of an evaluation. Source: docs/design/evals.md#kept-evaluations */
import { shortenText } from '../../base/text/cut-text.ts'
import { MOST_CASES, MOST_OF_CASE } from '../../operations/evals.ts'
import type { EvaluationCase, EvaluationReport } from '../../spec/evaluation.ts'
import type { CaseResult, EvaluatedCase } from './evaluate.ts'
import { toSide, type EvalReport } from './report.ts'
import { countSamples } from './samples.ts'

/** Characters of a name, which a dataset chooses; a mark of what is cut off comes after them. */
const MOST_CHARACTERS = 399

/** Of the cases those that need a look; of these names and outcomes, and nothing that a run said. */
export function toKeptReport({ dataset, cases, repeat, summary, judge, judgeModel }: EvalReport): EvaluationReport {
  const { now, before, decisions, flips, isApart } = summary
  const worthALook = cases.filter(
    (each) => !hasPassed(each.now) || (each.before && !hasPassed(each.before)) || each.flips.length > 0,
  )
  const work = judge?.work()
  return {
    dataset,
    ...(repeat > 1 && { repeat }),
    now: toSide(now),
    ...(before && { before: toSide(before), exact: { decisions, flips }, isApart }),
    ...(work && judgeModel && { judge: { provider: judgeModel.provider, name: judgeModel.name, calls: work.calls } }),
    cases: worthALook.slice(0, MOST_CASES).map(toKeptCase),
    moreCases: Math.max(0, worthALook.length - MOST_CASES),
  }
}

const toKeptCase = ({ case: { name }, now, before, flips }: EvaluatedCase): EvaluationCase => ({
  name: shorten(name),
  outcome: now.outcome,
  ...(before && { before: before.outcome }),
  ...(now.samples && { passed: countSamples(now).passed }),
  checks: now.checks
    .filter(({ outcome }) => outcome !== 'passed')
    .slice(0, MOST_OF_CASE)
    .map(({ check }) => shorten(check)),
  flips: differentFlips(flips).slice(0, MOST_OF_CASE),
})

/** Runs of one case often have the same decision. */
const differentFlips = (flips: EvaluatedCase['flips']): EvaluationCase['flips'] => [
  ...new Map(
    flips.map(({ tool, was, now, by }) => [JSON.stringify([tool, was, now, by]), { tool, was, now, by }]),
  ).values(),
]

/** In each of its runs. */
function hasPassed(result: CaseResult): boolean {
  const { passed, trials } = countSamples(result)
  return passed === trials
}

const shorten = (text: string): string => shortenText(text, MOST_CHARACTERS)

/** The agent that most cases started; undefined where none could be played. */
export function mainAgentOf(cases: readonly EvaluatedCase[]): string | undefined {
  const counts = new Map<string, number>()
  for (const { agent } of cases) if (agent !== undefined) counts.set(agent, (counts.get(agent) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0]
}
