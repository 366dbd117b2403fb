/** How evaluations are told, in the terminal and in the browser. */
import type { EvaluationSide } from '../spec/evaluation.ts'

export const describeShare = (share: number): string => `${Math.round(share * 1000) / 10}%`

/** `2 of 3, 66.7% (20.8%–93.9%)`. */
export function describeRate({ passed, failed, undecided, rate }: EvaluationSide): string {
  const total = passed + failed + undecided
  return rate
    ? `${passed} of ${total}, ${describeShare(rate.share)} (${describeShare(rate.low)}–${describeShare(rate.high)})`
    : 'no case'
}
