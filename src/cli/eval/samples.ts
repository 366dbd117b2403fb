/** A case that is played several times: what its samples say together. Source: docs/design/evals.md#samples */
import type { CaseResult, EvaluatedCase } from './evaluate.ts'
import type { CheckOutcome } from './fact-checks.ts'
import type { CaseSamples } from './wilson.ts'

/** Each run of a case. */
export const samplesOf = (result: CaseResult): readonly CaseResult[] => result.samples ?? [result]

export function countSamples(result: CaseResult): CaseSamples {
  const samples = samplesOf(result)
  return { passed: samples.filter(({ outcome }) => outcome === 'passed').length, trials: samples.length }
}

/** True if some of its samples passed, and not all. */
export function isFlaky(result: CaseResult): boolean {
  const { passed, trials } = countSamples(result)
  return passed > 0 && passed < trials
}

/** `4 of 5`. */
export function describeSamples(result: CaseResult): string {
  const { passed, trials } = countSamples(result)
  return `${passed} of ${trials}`
}

/** @param samples of one case, at least one */
export function mergeSamples(samples: readonly EvaluatedCase[]): EvaluatedCase {
  const [first] = samples as [EvaluatedCase]
  if (samples.length === 1) return first
  const before = samples.flatMap((each) => each.before ?? [])
  return {
    ...first,
    now: mergeResults(samples.map(({ now }) => now)),
    ...(before.length > 0 && { before: mergeResults(before) }),
    flips: samples.flatMap(({ flips }) => flips),
    decisions: samples.reduce((sum, each) => sum + each.decisions, 0),
    assumed: [...new Set(samples.flatMap(({ assumed }) => assumed))],
  }
}

/** Its checks are those of the first sample that did not pass. */
function mergeResults(samples: readonly CaseResult[]): CaseResult {
  const shown = samples.find(({ outcome }) => outcome !== 'passed') ?? samples[0]
  return {
    outcome: majorityOf(samples.map(({ outcome }) => outcome)),
    checks: shown?.checks ?? [],
    ...(shown?.run && { run: shown.run }),
    ms: samples.reduce((sum, { ms }) => sum + ms, 0),
    samples,
  }
}

/** More than half decide. */
function majorityOf(outcomes: readonly CheckOutcome[]): CheckOutcome {
  const most = (outcome: CheckOutcome): boolean =>
    outcomes.filter((each) => each === outcome).length > outcomes.length / 2
  if (most('passed')) return 'passed'
  return most('failed') ? 'failed' : 'undecided'
}
