/** Policy sets made ready to decide: conditions as functions, entries by wire name in a fixed order. */
import type { Digest } from '../base/digest.ts'
import type { PolicyEffect, PolicyEntry, PolicySet } from '../spec/policy-set.ts'
import type { DecidedPolicy } from '../spec/step.ts'
import { readCondition, type Condition } from './condition/condition.ts'
import { compileDescription, type OutcomeDescription } from './condition/describe.ts'
import { createGround } from './condition/comparison.ts'
import { layOut, type EvaluationLayout } from './condition/evaluate.ts'
import { digestOfSet } from './policy-set.ts'

export interface PolicyRule {
  readonly entry: PolicyEntry
  /** From 1, a grant, to 4, a denial. */
  readonly strictness: number
  /** It stops a call unless its condition is false. */
  readonly isGate: boolean
  /** Absent = always true. */
  readonly condition?: Condition
  readonly describe?: OutcomeDescription
  /** What a decision says about it whatever the call. */
  readonly said: Omit<DecidedPolicy, 'matched' | 'condition'>
}

/** Rules of one set that concern a call, in the fixed order, and what they need to know of it. */
export interface RuleList {
  readonly rules: readonly PolicyRule[]
  /** The frame that these rules look at; the truth of each is kept behind `base`, in their order. */
  readonly layout: EvaluationLayout
}

/** Something that must not happen and denies the call: `what` is the second half of `policy_error:<what>`. */
export class PolicyFault extends Error {
  override readonly name = 'PolicyFault'
  readonly what: string
  constructor(what: string) {
    super(`policy_error:${what}`)
    this.what = what
  }
}

const STRICTNESS: Readonly<Record<PolicyEffect, number>> = {
  grant: 1,
  require_approval: 2,
  escalate: 3,
  deny: 4,
  restrict: 4,
}

/**
 * The rules that concern a call of a wire name.
 * @throws PolicyFault for a set that is not what its digest says or that cannot be compiled, and where nothing is bound to the name
 */
export const rulesOf = (set: PolicySet, wire: string): RuleList =>
  // Calls of one tool follow each other.
  last !== undefined && last.set === set && last.wire === wire ? last.list : look(set, wire)

let last: { readonly set: PolicySet; readonly wire: string; readonly list: RuleList } | undefined

function look(set: PolicySet, wire: string): RuleList {
  const list = compiled(set).of(wire)
  if (!list) throw new PolicyFault('not_bound')
  last = { set, wire, list }
  return list
}

/**
 * The rules that concern calls of descendants too.
 * @throws PolicyFault as `rulesOf`
 */
export const inheritedRulesOf = (set: PolicySet): RuleList => compiled(set).inherited()

/** The order in which rules are named, whatever order they were written in. */
export function byName(a: PolicyRule, b: PolicyRule): number {
  const [left, right] = [nameOf(a.entry), nameOf(b.entry)]
  return left < right ? -1 : left > right ? 1 : 0
}

const nameOf = ({ policy, version, id }: PolicyEntry): string => `${policy}\0${version}\0${id}`

/** A set whose conditions have been read; how those of a list are decided together is worked out when it is first asked for. */
interface ReadPolicySet {
  readonly of: (wire: string) => RuleList | undefined
  readonly inherited: () => RuleList
}

const ready = new WeakMap<PolicySet, ReadPolicySet>()

/** A set is checked against its digest and compiled once for as long as it is held. */
function compiled(set: PolicySet): ReadPolicySet {
  const known = ready.get(set) ?? compileSet(set)
  ready.set(set, known)
  return known
}

function compileSet(set: PolicySet): ReadPolicySet {
  if (digestOfSet(set) !== set.digest) throw new PolicyFault('digest_mismatch')
  const ground = createGround()
  const byId = new Map(set.entries.map((entry) => [entry.id, compileEntry(entry)]))
  const pick = (ids: readonly Digest[]): (() => RuleList) => {
    const rules = ids
      .map((id) => {
        const rule = byId.get(id)
        if (!rule) throw new PolicyFault('entry_missing')
        return rule
      })
      .sort(byName)
    const conditions = rules.map(({ condition }) => condition)
    let list: RuleList | undefined
    return () => (list ??= { rules, layout: layOut(conditions, ground) })
  }
  const index = new Map(Object.entries(set.index).map(([wire, ids]) => [wire, pick(ids)]))
  return { of: (wire) => index.get(wire)?.(), inherited: pick(set.inherited) }
}

function compileEntry(entry: PolicyEntry): PolicyRule {
  const said = sayOf(entry)
  const { effect } = entry
  const strictness = STRICTNESS[effect]
  const isGate = effect !== 'grant' && effect !== 'restrict'
  if (entry.when === undefined) return { entry, strictness, isGate, said }
  const { condition, problems } = readCondition(entry.when)
  if (!condition)
    throw new PolicyFault(problems.some((problem) => problem.code === 'cost') ? 'bound_exceeded' : 'condition_invalid')
  return {
    entry,
    strictness,
    isGate,
    said,
    condition,
    describe: compileDescription(condition),
  }
}

function sayOf(entry: PolicyEntry): PolicyRule['said'] {
  const { policy, version, effect, reason = null, authority_ref = null } = entry
  const source = entry.origin.find(({ path }) => path !== undefined)
  return {
    id: policy,
    version,
    decision: effect === 'grant' || effect === 'restrict' ? 'allow' : effect,
    reason,
    authority_ref,
    ...(source && { source: source.line === undefined ? source.path! : `${source.path}:${source.line}` }),
  }
}
