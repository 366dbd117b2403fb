/** Sums of an evaluation: how many runs passed, which changed, and whether it passes its gate. Source: docs/design/evals.md#the-gate */
import { joinCosts, NO_COST, type CostSum } from '../../spec/price.ts'
import type { BrokenLine } from './dataset.ts'
import type { CaseResult, EvaluatedCase } from './evaluate.ts'
import { countSamples, isFlaky, samplesOf } from './samples.ts'
import { areApart, clusteredInterval, type ShareInterval } from './wilson.ts'

/** The runs of one version: one for each case, or as many as it was played. */
export interface SideSummary {
  readonly name: string
  readonly passed: number
  readonly failed: number
  /** Neither: not judged, not answered by a recording, or the model was away. */
  readonly undecided: number
  /** Of the runs that passed, among all; cases are what is drawn. */
  readonly interval?: ShareInterval
  /** Cases of which some runs passed, and not all; absent where each was played once. */
  readonly flaky?: number
  readonly tokens: number
  readonly cost: CostSum
}

export function summarizeSide(name: string, results: readonly CaseResult[]): SideSummary {
  const samples = results.flatMap(samplesOf)
  const count = (outcome: CaseResult['outcome']): number => samples.filter((each) => each.outcome === outcome).length
  const interval = clusteredInterval(results.map(countSamples))
  return {
    name,
    passed: count('passed'),
    failed: count('failed'),
    undecided: count('undecided'),
    ...(interval && { interval }),
    ...(samples.length > results.length && { flaky: results.filter(isFlaky).length }),
    tokens: samples.reduce((sum, { run }) => sum + (run?.tokens ?? 0), 0),
    cost: joinCosts(samples.map(({ run }) => run?.cost ?? NO_COST)),
  }
}

export interface EvalSummary {
  readonly now: SideSummary
  readonly before?: SideSummary
  /** Cases whose outcome changed. */
  readonly changed: readonly EvaluatedCase[]
  /** Cases that passed before and do not pass now. */
  readonly worse: readonly EvaluatedCase[]
  /** Decisions of the runs before, and how many the policies of now make otherwise. */
  readonly decisions: number
  readonly flips: number
  /** History measures that policies of now read and the recorded decisions did not: counted over the recorded calls. */
  readonly assumed: readonly string[]
  /** True if the intervals have no point in common: then chance alone hardly explains the difference. */
  readonly isApart: boolean
}

export function summarize(
  cases: readonly EvaluatedCase[],
  names: { readonly now: string; readonly before?: string },
): EvalSummary {
  const now = summarizeSide(
    names.now,
    cases.map((each) => each.now),
  )
  const before =
    names.before === undefined
      ? undefined
      : summarizeSide(
          names.before,
          cases.flatMap((each) => each.before ?? []),
        )
  const changed = cases.filter((each) => each.before && each.before.outcome !== each.now.outcome)
  return {
    now,
    ...(before && { before }),
    changed,
    worse: changed.filter((each) => each.before?.outcome === 'passed'),
    decisions: cases.reduce((sum, each) => sum + each.decisions, 0),
    flips: cases.reduce((sum, each) => sum + each.flips.length, 0),
    assumed: [...new Set(cases.flatMap((each) => each.assumed))].sort(),
    isApart: now.interval !== undefined && before?.interval !== undefined && areApart(now.interval, before.interval),
  }
}

export const GATES = ['failed', 'worse', 'decisions', 'nothing'] as const
export type EvalGate = (typeof GATES)[number]

/**
 * What an evaluation ends with: 2 for a dataset with broken lines, whatever the gates say, 1 where a gate is not passed.
 * @param atLeast percentage of the runs that must pass for the gate `failed`
 */
export function exitOfEval(
  { now, worse, flips }: EvalSummary,
  broken: readonly BrokenLine[],
  { gates, atLeast }: { readonly gates: readonly EvalGate[]; readonly atLeast: number },
): number {
  const total = now.passed + now.failed + now.undecided
  const isStopped: Readonly<Record<EvalGate, boolean>> = {
    failed: now.passed * 100 < atLeast * total,
    worse: worse.length > 0,
    decisions: flips > 0,
    nothing: false,
  }
  if (gates.some((gate) => isStopped[gate])) return 1
  return broken.length > 0 ? 2 : 0
}
