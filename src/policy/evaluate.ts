/**
 * Conditions as functions of the facts of a call, in three-valued logic. What the conditions of a set are about is read
 * once for a call, into a frame with a slot for each path; comparisons then look at slots, and those that several conditions
 * have in common are made once. Source: policies, section 2.
 */
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { Condition, Leaf } from './condition.ts'
import type { Facts } from './decision.ts'
import { FIELDS } from './fields.ts'
import { FUNCTIONS } from './functions.ts'
import { operator } from './operators.ts'
import { step, type Path, type Segment } from './path.ts'
import { isOutOfRange, shown, Unclear, type Judge, type Truth, type Value } from './truth.ts'

/**
 * The values of a call by slot, then the truth of the comparisons that several conditions share, then the truths of the
 * conditions. It is the trace of a decision: one list a call, and what it says is put into words where somebody reads it.
 */
export type Frame = Value[]

/** A frame as it is made for each call. */
export interface Layout {
  /** A frame with the values and the shared truths of a call. */
  readonly read: (facts: Facts) => Frame
  /** Where the truths of the conditions begin. */
  readonly base: number
}

type Read = (facts: Facts) => Value

/** A comparison of a condition. */
export interface Comparison {
  /** Where its value lies. */
  readonly slot: number
  /** The value is a time, which people read otherwise than as a number. */
  readonly isMoment: boolean
  readonly judge: Judge
  /** Where its truth lies, made once for all that ask; -1 where only one condition asks. */
  shared: number
}

export interface Evaluator {
  readonly run: (frame: Frame) => Truth
  /** The comparisons from left to right. */
  readonly leaves: readonly Comparison[]
}

/** What conditions that are decided together have in common: each path is read once, each comparison is made once. */
export interface Ground {
  comparisonOf(leaf: Leaf): Comparison
  /** The frame of a list of conditions, some of which are always true; to be asked for when all of them are compiled. */
  layout(conditions: readonly (Evaluator | undefined)[]): Layout
}

export function createGround(): Ground {
  const reads: Read[] = []
  const slots = new Map<string, number>()
  const comparisons = new Map<string, Comparison & { uses: number }>()
  const slotOf = (leaf: Leaf): number => {
    const key = `${leaf.windowMs ?? ''} ${leaf.path.text}`
    const slot = slots.get(key) ?? reads.push(compileRead(leaf)) - 1
    slots.set(key, slot)
    return slot
  }
  return {
    comparisonOf(leaf) {
      const { path, op, value, each, ifMissing, windowMs } = leaf
      const key = JSON.stringify([path.text, op, value, each, ifMissing, windowMs])
      const known = comparisons.get(key) ?? {
        slot: slotOf(leaf),
        isMoment: path.root === 'time',
        judge: compileLeaf(leaf),
        shared: -1,
        uses: 0,
      }
      known.uses++
      comparisons.set(key, known)
      return known
    },
    layout(conditions) {
      const shared = [...comparisons.values()].filter(({ uses }) => uses > 1)
      shared.forEach((comparison, at) => (comparison.shared = reads.length + at))
      const leaves = new Set(conditions.flatMap((condition) => condition?.leaves ?? []))
      const slots = new Set([...leaves].map(({ slot }) => slot))
      const values = reads.flatMap((read, slot) => (slots.has(slot) ? { slot, read } : []))
      const truths = shared.filter((comparison) => leaves.has(comparison))
      const base = reads.length + shared.length
      // Copied for each call: growing a list costs more than the comparisons.
      const empty: Frame = [...reads, ...shared, ...conditions].map(() => undefined)
      return { base, read: compileReads(empty, values, truths) }
    },
  }
}

interface Filled {
  readonly slot: number
  readonly read: Read
}

/** Written out for the few that most calls have: each is then called where nothing else is, which is much faster. */
function compileReads(empty: Frame, values: readonly Filled[], truths: readonly Comparison[]): Layout['read'] {
  const [first, second, third] = values
  if (truths.length > 0 || values.length > 3)
    return (facts) => {
      const frame = empty.slice()
      for (let at = 0; at < values.length; at++) {
        const { slot, read } = values[at]!
        frame[slot] = read(facts)
      }
      for (let at = 0; at < truths.length; at++) {
        const { slot, judge, shared } = truths[at]!
        frame[shared] = judge(frame[slot])
      }
      return frame
    }
  if (!first) return () => empty.slice()
  const { slot: slot1, read: read1 } = first
  if (!second)
    return (facts) => {
      const frame = empty.slice()
      frame[slot1] = read1(facts)
      return frame
    }
  const { slot: slot2, read: read2 } = second
  if (!third)
    return (facts) => {
      const frame = empty.slice()
      frame[slot1] = read1(facts)
      frame[slot2] = read2(facts)
      return frame
    }
  const { slot: slot3, read: read3 } = third
  return (facts) => {
    const frame = empty.slice()
    frame[slot1] = read1(facts)
    frame[slot2] = read2(facts)
    frame[slot3] = read3(facts)
    return frame
  }
}

/** @throws where a literal has problems, which `readCondition` would have told */
export function compileCondition(condition: Condition, ground: Ground): Evaluator {
  const leaves: Comparison[] = []
  return { run: compileRun(condition, ground, leaves), leaves }
}

/** The truth of conditions, and what each leaf saw. */
export function evaluate(
  condition: Condition,
  facts: Facts,
): { readonly truth: Truth; readonly seen: readonly { truth: Truth; value: JsonValue | undefined }[] } {
  const ground = createGround()
  const evaluator = compileCondition(condition, ground)
  const frame = ground.layout([evaluator]).read(facts)
  return {
    truth: evaluator.run(frame),
    seen: evaluator.leaves.map(({ slot, judge }) => ({ truth: judge(frame[slot]), value: shown(frame[slot]) })),
  }
}

type Run = Evaluator['run']

function compileRun(condition: Condition, ground: Ground, leaves: Comparison[]): Run {
  if ('leaf' in condition) return compileLeaves([addLeaf(condition.leaf, ground, leaves)], 'false', 'true')
  if ('not' in condition) {
    const inner = compileRun(condition.not, ground, leaves)
    return (frame) => {
      const truth = inner(frame)
      return truth === 'true' ? 'false' : truth === 'false' ? 'true' : 'unknown'
    }
  }
  // `decisive` decides alone; without it one unknown makes all unknown.
  const [members, decisive, otherwise]: readonly [readonly Condition[], Truth, Truth] =
    'all' in condition ? [condition.all, 'false', 'true'] : [condition.any, 'true', 'false']
  const only = members.flatMap((member) => ('leaf' in member ? [member.leaf] : []))
  if (only.length === members.length) {
    const compared = only.map((leaf) => addLeaf(leaf, ground, leaves))
    return compileLeaves(compared, decisive, otherwise)
  }
  const runs = members.map((member) => compileRun(member, ground, leaves))
  return (frame) => {
    let result: Truth = otherwise
    for (let at = 0; at < runs.length; at++) {
      const truth = runs[at]!(frame)
      if (truth === decisive) return decisive
      if (truth !== otherwise) result = truth
    }
    return result
  }
}

/** A list of comparisons, which most conditions are: at most one call for each, and none between. */
function compileLeaves(leaves: readonly Comparison[], decisive: Truth, otherwise: Truth): Run {
  const [first, second, third, ...more] = leaves
  // Written out for the few that most conditions have, as in `compileReads`.
  if (first && !second)
    return (frame) => (first.shared === -1 ? first.judge(frame[first.slot]) : (frame[first.shared] as Truth))
  if (first && second && more.length === 0)
    return (frame) => {
      const one = first.shared === -1 ? first.judge(frame[first.slot]) : (frame[first.shared] as Truth)
      if (one === decisive) return decisive
      const two = second.shared === -1 ? second.judge(frame[second.slot]) : (frame[second.shared] as Truth)
      if (two === decisive) return decisive
      if (third === undefined) return one === otherwise ? two : one
      const three = third.shared === -1 ? third.judge(frame[third.slot]) : (frame[third.shared] as Truth)
      if (three === decisive) return decisive
      return one !== otherwise ? one : two !== otherwise ? two : three
    }
  return (frame) => {
    let result = otherwise
    for (let at = 0; at < leaves.length; at++) {
      const { judge, slot, shared } = leaves[at]!
      const truth = shared === -1 ? judge(frame[slot]) : (frame[shared] as Truth)
      if (truth === decisive) return decisive
      if (truth !== otherwise) result = truth
    }
    return result
  }
}

function addLeaf(leaf: Leaf, ground: Ground, leaves: Comparison[]): Comparison {
  const added = ground.comparisonOf(leaf)
  leaves.push(added)
  return added
}

function compileLeaf({ path, op, value, each, ifMissing }: Leaf): Judge {
  const missing = ifMissing === undefined ? 'unknown' : ifMissing ? 'true' : 'false'
  const judge = operator(op).judge(value, missing)
  if (each === undefined) return judge
  const split = path.segments.findIndex((segment) => 'each' in segment)
  const judgeEach = compileEach(path.segments.slice(split + 1), each, clearing(path), judge)
  return (value) => (Array.isArray(value) ? judgeEach(value) : value === undefined ? judge(undefined) : 'unknown')
}

/** Elements combined: `any` of none is false, `all` of none is unknown. */
function compileEach(
  segments: readonly Segment[],
  each: 'any' | 'all',
  clear: (value: Value) => Value,
  judge: Judge,
): (list: readonly JsonValue[]) => Truth {
  const next = segments.findIndex((segment) => 'each' in segment)
  const within = next === -1 ? segments : segments.slice(0, next)
  const deeper = next === -1 ? undefined : compileEach(segments.slice(next + 1), each, clear, judge)
  const decisive: Truth = each === 'any' ? 'true' : 'false'
  const judgeOne = (element: JsonValue): Truth => {
    const value = walk(element, within)
    if (!deeper || value === undefined || value instanceof Unclear) return judge(clear(value))
    return Array.isArray(value) ? deeper(value) : 'unknown'
  }
  return (list) => {
    if (list.length === 0) return each === 'any' ? 'false' : 'unknown'
    let result: Truth = each === 'any' ? 'false' : 'true'
    for (const element of list) {
      const truth = judgeOne(element)
      if (truth === decisive) return decisive
      if (truth === 'unknown') result = 'unknown'
    }
    return result
  }
}

/** What a leaf is about: the value at its path, of which its function was taken, up to its first `[*]`. */
function compileRead({ path, each, windowMs }: Leaf): Read {
  if (path.history) {
    const { scope, whose, measure } = path.history
    // A measure that cannot be told is unknown and not absent: `if_missing` must not excuse it.
    return (facts) => facts.history(scope, whose, measure, windowMs) ?? NOTHING
  }
  const [first, second] = path.segments
  if (path.root === 'args' && !path.fn && each === undefined && first && 'key' in first) {
    // Most paths are one or two names long: what is under each is looked at without a loop.
    const member = compileMember(first.key)
    if (!second) return (facts) => guard(member(facts.args))
    if ('key' in second && path.segments.length === 2) {
      const inner = compileMember(second.key)
      return (facts) => {
        const value = member(facts.args)
        return value === undefined || value === NOTHING ? value : guard(inner(value as JsonValue))
      }
    }
  }
  const split = path.segments.findIndex((segment) => 'each' in segment)
  const read = compileWalk(path, split === -1 ? path.segments : path.segments.slice(0, split))
  if (each !== undefined) return read
  if (path.fn) {
    const clear = clearing(path)
    return (facts) => clear(read(facts))
  }
  return (facts) => guard(read(facts))
}

const guard = (value: Value): Value => (isOutOfRange(value) ? new Unclear(value) : value)

/** Something on the way has no members. */
const NOTHING = new Unclear()

/** Makes a value one that comparisons may use, and takes the path's function of it. */
function clearing({ fn }: Path): (value: Value) => Value {
  const apply = fn && FUNCTIONS[fn]
  return (value) => {
    if (value === undefined || value instanceof Unclear) return value
    const result = apply ? apply(value) : value
    return result === undefined || isOutOfRange(value) ? new Unclear(result) : result
  }
}

function compileWalk({ root }: Path, segments: readonly Segment[]): Read {
  if (root === 'args') return (facts) => walk(facts.args, segments)
  const [first, ...rest] = segments
  const field = FIELDS[root]![(first as { key: string }).key]!
  return rest.length === 0 ? field : (facts) => walk(field(facts), rest)
}

function compileMember(key: string): (value: JsonValue) => Value {
  if (key in Object.prototype)
    return (value) => (isMapping(value) ? (Object.hasOwn(value, key) ? value[key] : undefined) : NOTHING)
  // JSON inherits from nothing else, so what is found under another name is its own; asking twice takes twice as long.
  return (value) => (isMapping(value) ? value[key] : NOTHING)
}

const isMapping = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function walk(start: JsonValue | undefined, segments: readonly Segment[]): Value {
  let value = start
  for (const segment of segments) {
    if (value === undefined) return undefined
    const fits = typeof value === 'object' && value !== null && Array.isArray(value) === 'index' in segment
    if (!fits) return NOTHING
    value = step(value, segment)
  }
  return value
}
