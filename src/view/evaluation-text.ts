/** How evaluations are told, in the terminal and in the browser. */
import type { EvaluationSide } from '../spec/evaluation.ts'

export const describeShare = (share: number): string => `${Math.round(share * 1000) / 10}%`

/** `2 of 3, 66.7% (20.8%–93.9%)`; of cases that were played several times, `12 of 15 runs, …, 2 flaky`. */
export function describeRate({ passed, failed, undecided, flaky, rate }: EvaluationSide): string {
  const total = `${passed + failed + undecided}${flaky === undefined ? '' : ' runs'}`
  const varying = flaky === undefined ? '' : `, ${flaky} flaky`
  return rate
    ? `${passed} of ${total}, ${describeShare(rate.share)} (${describeShare(rate.low)}–${describeShare(rate.high)})${varying}`
    : 'no case'
}
