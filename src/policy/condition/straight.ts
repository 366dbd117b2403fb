/**
 * A single policy of up to four comparisons, which most tools have: its values and its truth in one go.
 *
 * Four times the same lines on purpose. An engine remembers for each place in a text what it has found there: a place that
 * looks up one name, or asks one comparison, takes less than half the time of a loop that does so for all of them.
 */
import type { LeafComparison } from './comparison.ts'
import type { CallFacts } from './decision.ts'
import { usableValue, isMapping, NO_SUBJECT } from './subject.ts'
import type { TruthValue, SubjectValue } from './truth.ts'

/** Where the truth lies in a frame, behind a slot for each comparison. */
export const STRAIGHT = 4

/**
 * What makes the frame of a call. Undefined where there are more comparisons, or two about the same, which would be read twice.
 * @param decisive the truth of a comparison that decides alone; without one, an unknown makes all unknown
 * @param otherwise the truth of them all where each has it
 */
export function compileStraight(
  comparisons: readonly LeafComparison[],
  decisive: TruthValue,
  otherwise: TruthValue,
): ((facts: CallFacts) => [SubjectValue, SubjectValue, SubjectValue, SubjectValue, TruthValue]) | undefined {
  const subjects = new Set(comparisons.map(({ subject }) => subject))
  if (comparisons.length > STRAIGHT || subjects.size < comparisons.length) return undefined
  const none: LeafComparison = { subject: NO_SUBJECT, judge: () => otherwise }
  const [first = none, second = none, third = none, fourth = none] = comparisons
  const { read: read1, names: [name1, inner1] = [] } = first.subject
  const { read: read2, names: [name2, inner2] = [] } = second.subject
  const { read: read3, names: [name3, inner3] = [] } = third.subject
  const { read: read4, names: [name4, inner4] = [] } = fourth.subject
  const [{ judge: judge1 }, { judge: judge2 }, { judge: judge3 }, { judge: judge4 }] = [first, second, third, fourth]
  return (facts) => {
    const { args } = facts
    const isThere = isMapping(args)
    const value1 = name1 === undefined || !isThere ? read1(facts) : usableValue(args[name1], inner1)
    const value2 = name2 === undefined || !isThere ? read2(facts) : usableValue(args[name2], inner2)
    const value3 = name3 === undefined || !isThere ? read3(facts) : usableValue(args[name3], inner3)
    const value4 = name4 === undefined || !isThere ? read4(facts) : usableValue(args[name4], inner4)
    const one = judge1(value1)
    if (one === decisive) return [value1, value2, value3, value4, decisive]
    const two = judge2(value2)
    if (two === decisive) return [value1, value2, value3, value4, decisive]
    const three = judge3(value3)
    if (three === decisive) return [value1, value2, value3, value4, decisive]
    const four = judge4(value4)
    if (four === decisive) return [value1, value2, value3, value4, decisive]
    const truth = one !== otherwise ? one : two !== otherwise ? two : three !== otherwise ? three : four
    return [value1, value2, value3, value4, truth]
  }
}
