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

/** The samples of one case: how often it was played, and how often it passed. */
export interface CaseSamples {
  readonly passed: number
  readonly trials: number
}

/**
 * The share of passed samples with an interval for which cases, not samples, are drawn independently: Wilson's score for the number of
 * independent samples that would vary as much. It is never narrower than samples that are all independent, nor wider than one sample for
 * each case. Source: docs/design/evals.md#intervals
 */
export function clusteredInterval(cases: readonly CaseSamples[]): ShareInterval | undefined {
  const played = cases.filter(({ trials }) => trials > 0)
  const trials = played.reduce((sum, each) => sum + each.trials, 0)
  const passed = played.reduce((sum, each) => sum + each.passed, 0)
  const { length } = played
  if (trials === length) return wilsonInterval(passed, trials)
  const share = passed / trials
  const effective = Math.min(trials, Math.max(length, independentSamples(played, share, trials)))
  const interval = wilsonInterval(share * effective, effective)
  return interval && { ...interval, share }
}

/** So many independent samples would have a share that varies as that of these cases does. */
function independentSamples(cases: readonly CaseSamples[], share: number, trials: number): number {
  const { length } = cases
  const spread = cases.reduce((sum, each) => sum + (each.passed - share * each.trials) ** 2, 0)
  if (length < 2 || share === 0 || share === 1) return length
  const variance = ((length / (length - 1)) * spread) / trials ** 2
  return (share * (1 - share)) / (variance * (studentT(length - 1) / Z) ** 2)
}

/** 97.5 % point of Student's distribution, by the expansion around the normal one. */
const studentT = (freedom: number): number =>
  Z + (Z ** 3 + Z) / (4 * freedom) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * freedom ** 2)

/** True where the intervals have no point in common. */
export const areApart = (one: ShareInterval, other: ShareInterval): boolean =>
  one.high < other.low || other.high < one.low
