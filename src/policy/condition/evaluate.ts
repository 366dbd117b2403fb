/**
 * Conditions as functions of the facts of a call, in three-valued logic. What the conditions of a list are about is read
 * once for a call, into a frame with a slot for each path; comparisons then look at slots, and those that several conditions
 * have in common are made once. Source: policies, section 2.
 */
import type { JsonValue } from '../../base/json.ts'
import { createGround, type LeafComparison, type ComparisonGround } from './comparison.ts'
import { leavesOf, type Condition } from './condition.ts'
import type { CallFacts } from './decision.ts'
import { compileStraight, STRAIGHT } from './straight.ts'
import { usableValue, isMapping, NO_SUBJECT, type LeafSubject } from './subject.ts'
import { showValue, type TruthValue, type SubjectValue } from './truth.ts'

/**
 * The values of a call by slot, then the truth of the comparisons that several conditions share, then the truths of the
 * conditions. It is the trace of a decision: one list a call, and what it says is put into words where somebody reads it.
 */
export type EvaluationFrame = SubjectValue[]

/** Conditions that are decided together. */
export interface EvaluationLayout {
  /** A frame with the values of a call. */
  readonly read: (facts: CallFacts) => EvaluationFrame
  /** The conditions in their order. */
  readonly evaluators: readonly ConditionEvaluator[]
  /** Where the truths of the conditions are kept, in their order. */
  readonly base: number
}

export interface ConditionEvaluator {
  readonly run: (frame: EvaluationFrame) => TruthValue
  /** The comparisons from left to right. */
  readonly leaves: readonly PlacedComparison[]
}

/** A comparison and where its value lies. */
interface PlacedComparison extends LeafComparison {
  readonly slot: number
}

/** @param conditions undefined = always true */
export function layOut(conditions: readonly (Condition | undefined)[], ground: ComparisonGround): EvaluationLayout {
  const [first, ...others] = conditions
  return (first && others.length === 0 && layOutStraight(first, ground)) || layOutAll(conditions, ground)
}

/** The truth of conditions, and what each leaf saw. */
export function evaluateConditions(
  condition: Condition,
  facts: CallFacts,
): { readonly truth: TruthValue; readonly seen: readonly { truth: TruthValue; value: JsonValue | undefined }[] } {
  const { read, evaluators } = layOut([condition], createGround())
  const frame = read(facts)
  const { run, leaves } = evaluators[0]!
  return {
    truth: run(frame),
    seen: leaves.map(({ slot, judge }) => ({ truth: judge(frame[slot]), value: showValue(frame[slot]) })),
  }
}

/** Undefined for a condition that is not one list of a few comparisons. */
function layOutStraight(condition: Condition, ground: ComparisonGround): EvaluationLayout | undefined {
  const { members, decisive, otherwise } = listOf(condition)
  const leaves = members.flatMap((member, slot) => ('leaf' in member ? { ...ground(member.leaf), slot } : []))
  const read = leaves.length < members.length ? undefined : compileStraight(leaves, decisive, otherwise)
  return read && { read, evaluators: [{ run: (frame) => frame[STRAIGHT] as TruthValue, leaves }], base: STRAIGHT }
}

function layOutAll(conditions: readonly (Condition | undefined)[], ground: ComparisonGround): EvaluationLayout {
  const asked = conditions.map((condition) => (condition ? leavesOf(condition).map(ground) : []))
  const { subjects, shared, placed } = place(asked.flat())
  const readInto = compileReads(subjects)
  const evaluators = conditions.map((condition, at) => {
    const leaves = asked[at]!.map((comparison) => placed.get(comparison)!)
    return { run: condition ? compileRun(condition, leaves.values()) : always, leaves }
  })
  // Copied for each call: growing a list costs more than the comparisons.
  const empty: EvaluationFrame = [...subjects, ...shared, ...conditions].map(() => undefined)
  return {
    read(facts) {
      const frame = empty.slice()
      readInto(frame, facts)
      for (let at = 0; at < shared.length; at++) {
        const { judge, slot, truth } = shared[at]!
        frame[truth] = judge(frame[slot])
      }
      return frame
    },
    evaluators,
    base: subjects.length + shared.length,
  }
}

/** Written out for the first few, which are then looked up as in `compileStraight`. */
function compileReads(subjects: readonly LeafSubject[]): (frame: EvaluationFrame, facts: CallFacts) => void {
  const reads = subjects.map(({ read }) => read)
  const [read1, read2, read3] = reads as [LeafSubject['read'], LeafSubject['read'], LeafSubject['read']]
  const [[name1, inner1] = [], [name2, inner2] = [], [name3, inner3] = []] = subjects.map(({ names }) => names)
  return (frame, facts) => {
    const { args } = facts
    const isThere = isMapping(args)
    frame[0] = name1 === undefined || !isThere ? read1(facts) : usableValue(args[name1], inner1)
    frame[1] = name2 === undefined || !isThere ? read2(facts) : usableValue(args[name2], inner2)
    frame[2] = name3 === undefined || !isThere ? read3(facts) : usableValue(args[name3], inner3)
    for (let at = 3; at < reads.length; at++) frame[at] = reads[at]!(facts)
  }
}

/** A comparison whose truth may be known: it is at `truth`, made once for all that ask; -1 where only one condition asks. */
interface SharedComparison extends PlacedComparison {
  readonly truth: number
}

/** Slots for what comparisons are about, three at least, and behind them for the truth of those that are there several times. */
function place(comparisons: readonly LeafComparison[]) {
  const once = new Set<LeafComparison>()
  const several = new Set<LeafComparison>()
  for (const comparison of comparisons) (once.has(comparison) ? several : once).add(comparison)
  const subjects = [...new Set([...once].map(({ subject }) => subject))]
  while (subjects.length < 3) subjects.push(NO_SUBJECT)
  const slots = new Map(subjects.map((subject, slot) => [subject, slot]))
  const truths = new Map([...several].map((comparison, at) => [comparison, subjects.length + at]))
  const placed = new Map<LeafComparison, SharedComparison>()
  for (const comparison of once) {
    // Written out: objects that are spread from others are slower to read, and these are read in each decision.
    const { subject, judge } = comparison
    placed.set(comparison, { subject, judge, slot: slots.get(subject)!, truth: truths.get(comparison) ?? -1 })
  }
  return { subjects, shared: [...several].map((comparison) => placed.get(comparison)!), placed }
}

type EvaluationRun = ConditionEvaluator['run']

const always: EvaluationRun = () => 'true'

/** Members of which one with the `decisive` truth decides alone; without it one unknown makes all unknown. */
interface ConditionList {
  readonly members: readonly Condition[]
  readonly decisive: TruthValue
  /** The truth of a list of which all members have it. */
  readonly otherwise: TruthValue
}

function listOf(condition: Condition): ConditionList {
  if ('any' in condition) return { members: condition.any, decisive: 'true', otherwise: 'false' }
  return { members: 'all' in condition ? condition.all : [condition], decisive: 'false', otherwise: 'true' }
}

/** @param leaves the comparisons of the condition and of what follows it, from left to right */
function compileRun(condition: Condition, leaves: Iterator<SharedComparison>): EvaluationRun {
  if ('leaf' in condition) {
    const { judge, slot, truth } = leaves.next().value as SharedComparison
    return truth === -1 ? (frame) => judge(frame[slot]) : (frame) => frame[truth] as TruthValue
  }
  if ('not' in condition) {
    const inner = compileRun(condition.not, leaves)
    return (frame) => {
      const truth = inner(frame)
      return truth === 'true' ? 'false' : truth === 'false' ? 'true' : 'unknown'
    }
  }
  const { members, decisive, otherwise } = listOf(condition)
  if (members.every((member) => 'leaf' in member))
    return compileLeaves(
      members.map(() => leaves.next().value as SharedComparison),
      decisive,
      otherwise,
    )
  const runs = members.map((member) => compileRun(member, leaves))
  return (frame) => {
    let result = otherwise
    for (let at = 0; at < runs.length; at++) {
      const truth = runs[at]!(frame)
      if (truth === decisive) return decisive
      if (truth !== otherwise) result = truth
    }
    return result
  }
}

/** A list of comparisons, which most conditions are: at most one call for each, and none between. */
function compileLeaves(
  leaves: readonly SharedComparison[],
  decisive: TruthValue,
  otherwise: TruthValue,
): EvaluationRun {
  const [first, second, third, ...more] = leaves
  // Written out for the few that most conditions have, which is a third faster than the loop.
  if (first && second && more.length === 0)
    return (frame) => {
      const one = first.truth === -1 ? first.judge(frame[first.slot]) : (frame[first.truth] as TruthValue)
      if (one === decisive) return decisive
      const two = second.truth === -1 ? second.judge(frame[second.slot]) : (frame[second.truth] as TruthValue)
      if (two === decisive) return decisive
      if (third === undefined) return one === otherwise ? two : one
      const three = third.truth === -1 ? third.judge(frame[third.slot]) : (frame[third.truth] as TruthValue)
      if (three === decisive) return decisive
      return one !== otherwise ? one : two !== otherwise ? two : three
    }
  return (frame) => {
    let result = otherwise
    for (let at = 0; at < leaves.length; at++) {
      const { judge, slot, truth } = leaves[at]!
      const told = truth === -1 ? judge(frame[slot]) : (frame[truth] as TruthValue)
      if (told === decisive) return decisive
      if (told !== otherwise) result = told
    }
    return result
  }
}
