/** A decision for people: each policy's tree with the values it saw, and what would have changed the outcome. */
import { isJsonObject, type JsonValue } from '../base/json.ts'
import type { SideEffectClass } from '../spec/document.ts'
import type { PolicyEntry } from '../spec/policy-set.ts'
import { leavesOf, type Condition, type Leaf } from './condition.ts'
import { consideredOf, tell } from './decide.ts'
import type { Decision, Facts, Sets } from './decision.ts'
import { describeLeaf, describeValue } from './describe.ts'
import { judge } from './judge.ts'
import { operator } from './operators.ts'
import type { Segment } from './path.ts'
import type { Rule } from './rules.ts'
import { shown, type Truth } from './truth.ts'

export type ExplainedNode =
  | { readonly node: 'all' | 'any' | 'not'; readonly truth: Truth; readonly children: readonly ExplainedNode[] }
  | {
      readonly node: 'leaf'
      readonly truth: Truth
      /** As written: `args.amount > 100`. */
      readonly text: string
      /** With the value in place of the path: `180 > 100`. */
      readonly seen: string
      readonly op: string
      /** What was seen; absent where there was nothing. */
      readonly value?: JsonValue
      /** What it was compared with. */
      readonly literal: JsonValue
    }

export interface ExplainedPolicy {
  readonly policy: string
  readonly version: string
  readonly effect: string
  readonly truth: Truth
  /** True where it took part in the outcome: a gate or a grant that fired. */
  readonly fired: boolean
  readonly source?: string
  /** Of the decision in its document. */
  readonly pointer?: string
  /** Absent = always true. */
  readonly tree?: ExplainedNode
}

export interface Explanation {
  readonly decision: Decision
  readonly policies: readonly ExplainedPolicy[]
  /** What another value of one number would have meant: `allow if args.amount <= 100`. */
  readonly turns: readonly string[]
}

export function explain(sets: Sets, wire: string, facts: Facts, effectiveClass?: SideEffectClass): Explanation {
  const verdict = judge(sets, wire, facts, effectiveClass)
  return {
    decision: tell(verdict),
    policies: consideredOf(verdict).map(explainOne),
    turns: turnsOf(
      verdict.parts.flatMap(({ rules }) => rules),
      verdict.decision,
      (args) => judge(sets, wire, { ...facts, args }, effectiveClass).decision,
      facts,
    ),
  }
}

function explainOne({ rule, truth, values, outcome }: ReturnType<typeof consideredOf>[number]): ExplainedPolicy {
  const { entry, condition, evaluator } = rule
  const seen = values.map((value, at): Seen => ({ truth: evaluator!.leaves[at]!.judge(value), value: shown(value) }))
  return {
    policy: entry.policy,
    version: entry.version,
    effect: entry.effect,
    truth,
    fired: outcome !== 'nothing',
    ...(rule.said.source !== undefined && { source: rule.said.source }),
    ...pointerOf(entry),
    ...(condition && { tree: explainTree(condition, seen.values()) }),
  }
}

function pointerOf({ origin }: PolicyEntry): { readonly pointer?: string } {
  const pointer = origin.find((each) => each.path !== undefined)?.pointer
  return pointer === undefined ? {} : { pointer }
}

/** What one leaf saw. */
interface Seen {
  readonly truth: Truth
  readonly value: JsonValue | undefined
}

function explainTree(condition: Condition, seen: Iterator<Seen>): ExplainedNode {
  if ('leaf' in condition) return explainLeaf(condition.leaf, seen.next().value as Seen)
  if ('not' in condition) {
    const child = explainTree(condition.not, seen)
    return {
      node: 'not',
      truth: child.truth === 'unknown' ? 'unknown' : child.truth === 'true' ? 'false' : 'true',
      children: [child],
    }
  }
  const node = 'all' in condition ? 'all' : 'any'
  const children = ('all' in condition ? condition.all : condition.any).map((member) => explainTree(member, seen))
  const has = (truth: Truth) => children.some((child) => child.truth === truth)
  const [decisive, otherwise]: readonly [Truth, Truth] = node === 'all' ? ['false', 'true'] : ['true', 'false']
  return { node, truth: has(decisive) ? decisive : has('unknown') ? 'unknown' : otherwise, children }
}

function explainLeaf(leaf: Leaf, { truth, value }: Seen): ExplainedNode {
  const { word } = operator(leaf.op)
  const seen =
    leaf.op === 'exists' ? describeValue(value) : `${describeValue(value)} ${word} ${describeValue(leaf.value)}`
  return {
    node: 'leaf',
    truth,
    text: describeLeaf(leaf),
    seen,
    op: leaf.op,
    literal: leaf.value,
    ...(value !== undefined && { value }),
  }
}

/** Decisions along one number, however many thresholds a set has, are made at most this many times. */
const MAX_THRESHOLDS = 32
const ORDERED = new Set(['eq', 'ne', 'gt', 'gte', 'lt', 'lte'])

function turnsOf(
  rules: readonly Rule[],
  now: Decision['decision'],
  decideWith: (args: JsonValue) => Decision['decision'],
  facts: Facts,
): readonly string[] {
  const thresholds = new Map<string, { readonly segments: readonly Segment[]; readonly values: Set<number> }>()
  for (const { path, op, value, each } of rules.flatMap(({ condition }) => (condition ? leavesOf(condition) : []))) {
    if (path.root !== 'args' || path.fn || each || !ORDERED.has(op) || typeof value !== 'number') continue
    const known = thresholds.get(path.text) ?? { segments: path.segments, values: new Set() }
    if (known.values.size < MAX_THRESHOLDS) known.values.add(value)
    thresholds.set(path.text, known)
  }
  return [...thresholds].flatMap(([text, { segments, values }]) => {
    const decideAt = (value: number) => {
      const args = withValue(facts.args, segments, value)
      return args === undefined ? now : decideWith(args)
    }
    return stretches(
      [...values].sort((a, b) => a - b),
      decideAt,
    )
      .filter((stretch) => stretch.decision !== now)
      .map((stretch) => `${stretch.decision} if ${describeStretch(text, stretch)}`)
  })
}

interface Bound {
  readonly at: number
  readonly included: boolean
}
interface Stretch {
  readonly decision: Decision['decision']
  readonly from?: Bound
  readonly to?: Bound
}

/** The number line cut where the decision changes: every threshold and every gap between two is asked once. */
function stretches(
  thresholds: readonly number[],
  decideAt: (value: number) => Decision['decision'],
): readonly Stretch[] {
  const found: Stretch[] = []
  const add = (next: Stretch) => {
    const last = found.at(-1)
    if (last?.decision !== next.decision) found.push(next)
    else
      found[found.length - 1] = {
        decision: last.decision,
        ...(last.from && { from: last.from }),
        ...(next.to && { to: next.to }),
      }
  }
  thresholds.forEach((at, position) => {
    const before = thresholds[position - 1]
    const gap = decideAt(before === undefined ? at - 1 : (before + at) / 2)
    add({
      decision: gap,
      ...(before !== undefined && { from: { at: before, included: false } }),
      to: { at, included: false },
    })
    add({ decision: decideAt(at), from: { at, included: true }, to: { at, included: true } })
  })
  const last = thresholds.at(-1)
  if (last !== undefined) add({ decision: decideAt(last + 1), from: { at: last, included: false } })
  return found
}

function describeStretch(field: string, { from, to }: Stretch): string {
  if (from && to && from.at === to.at) return `${field} == ${from.at}`
  const low = from && `${field} ${from.included ? '>=' : '>'} ${from.at}`
  const high = to && `${field} ${to.included ? '<=' : '<'} ${to.at}`
  return [low, high].filter((part) => part !== undefined).join(' and ')
}

/** A copy of the arguments with another value at a path; undefined where the path leads through something else. */
function withValue(args: JsonValue, [segment, ...more]: readonly Segment[], value: number): JsonValue | undefined {
  if (!segment) return value
  if ('each' in segment) return undefined
  if ('index' in segment) {
    if (!Array.isArray(args) || segment.index >= args.length) return undefined
    const inner = withValue(args[segment.index]!, more, value)
    return inner === undefined ? undefined : args.with(segment.index, inner)
  }
  if (!isJsonObject(args)) return undefined
  const inner = withValue(Object.hasOwn(args, segment.key) ? args[segment.key]! : {}, more, value)
  return inner === undefined
    ? undefined
    : Object.defineProperty({ ...args }, segment.key, {
        value: inner,
        enumerable: true,
        configurable: true,
        writable: true,
      })
}
