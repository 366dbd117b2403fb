/** Interval of a share by Wilson's score: it stays within 0 and 1 and holds for few cases, too. Source: docs/design/evals.md#intervals */

/** Quantile of the normal distribution for 95 %. */
const Z = 1.959963984540054

/** A share with its 95 % interval, each from 0 to 1. */
export interface ShareInterval {
  readonly share: number
  readonly low: number
  readonly high: number
}

/** Undefined for no trial. @param passed 0 to `trials` */
export function wilsonInterval(passed: number, trials: number): ShareInterval | undefined {
  if (trials === 0) return undefined
  const share = passed / trials
  const scale = 1 + Z ** 2 / trials
  const middle = (share + Z ** 2 / (2 * trials)) / scale
  const reach = (Z / scale) * Math.sqrt((share * (1 - share)) / trials + Z ** 2 / (4 * trials ** 2))
  // Rounding may miss the ends, which are exact where all or none passed.
  return {
    share,
    low: passed === 0 ? 0 : Math.max(0, middle - reach),
    high: passed === trials ? 1 : Math.min(1, middle + reach),
  }
}

/** True where the intervals have no point in common. */
export const areApart = (one: ShareInterval, other: ShareInterval): boolean =>
  one.high < other.low || other.high < one.low
