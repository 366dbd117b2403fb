/**
 * A single policy of up to three comparisons, which most tools have: its values and its truth in one go.
 *
 * Three times the same lines on purpose: an engine remembers for each place in a text what it has found there, and a place
 * that looks up one name is several times as fast as a loop that looks up all of them.
 */
import type { Comparison } from './comparison.ts'
import type { Facts } from './decision.ts'
import { below, isMapping, NOTHING } from './subject.ts'
import type { Judge, Truth, Value } from './truth.ts'

/** Of a frame: a slot for each comparison, then the truth. */
export const STRAIGHT = 3

/**
 * The values and the truth of a call; undefined for comparisons that are not about members of the arguments, or are too many.
 * @param decisive the truth of a comparison that decides alone; without one, an unknown makes all unknown
 * @param otherwise the truth of them all where each has it
 */
export function compileStraight(
  comparisons: readonly Comparison[],
  decisive: Truth,
  otherwise: Truth,
): ((facts: Facts) => [Value, Value, Value, Truth]) | undefined {
  if (comparisons.length > STRAIGHT || comparisons.some(({ subject }) => !subject.names)) return undefined
  const [first, second, third] = comparisons
  const [name1 = '', inner1] = first?.subject.names ?? []
  const [name2 = '', inner2] = second?.subject.names ?? []
  const [name3 = '', inner3] = third?.subject.names ?? []
  const neutral: Judge = () => otherwise
  const { judge: judge1 = neutral } = first ?? {}
  const { judge: judge2 = neutral } = second ?? {}
  const { judge: judge3 = neutral } = third ?? {}
  return ({ args }) => {
    const isThere = isMapping(args)
    const value1 = isThere ? below(args[name1], inner1) : NOTHING
    const value2 = isThere ? below(args[name2], inner2) : NOTHING
    const value3 = isThere ? below(args[name3], inner3) : NOTHING
    let truth = judge1(value1)
    if (truth !== decisive) {
      const two = judge2(value2)
      const three = two === decisive ? two : judge3(value3)
      truth = three === decisive ? three : truth !== otherwise ? truth : two !== otherwise ? two : three
    }
    return [value1, value2, value3, truth]
  }
}
