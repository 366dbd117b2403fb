/** Policy sets, checked against their digest and compiled so that they can decide many calls. */
import { compareText } from '../base/values/compare-text.ts'
import type { PolicyEntry, PolicySet } from '../spec/policy-set.ts'
import type { DecidedPolicy } from '../spec/step.ts'
import { readCondition, type Condition } from './condition/condition.ts'
import { compileCondition, type ConditionEvaluator } from './condition/evaluate.ts'
import { digestOfSet } from './policy-set.ts'

export interface PolicyRule {
  readonly entry: PolicyEntry
  /** Absent = always true. */
  readonly condition?: Condition
  /** Set exactly where `condition` is. */
  readonly evaluate?: ConditionEvaluator
  /** The part of a recorded decision that is the same for every call. */
  readonly summary: Omit<DecidedPolicy, 'matched' | 'condition'>
}

/** The call is denied: `what` is the second half of `policy_error:<what>`. */
export class PolicyFault extends Error {
  override readonly name = 'PolicyFault'
  readonly what: string
  constructor(what: string) {
    super(`policy_error:${what}`)
    this.what = what
  }
}

/**
 * The rules for calls of a wire name, in the order of their names.
 * @throws PolicyFault for a set that does not match its digest or cannot be compiled, and where nothing is bound to the name
 */
export function rulesForWire(set: PolicySet, wire: string): readonly PolicyRule[] {
  const rules = compiledSet(set).byWire.get(wire)
  if (!rules) throw new PolicyFault('not_bound')
  return rules
}

/**
 * The rules that apply to calls of descendants too.
 * @throws PolicyFault as `rulesForWire`
 */
export const inheritedRules = (set: PolicySet): readonly PolicyRule[] => compiledSet(set).inherited

/** Orders rules by policy, version and id, in whatever order they were written. */
export function compareRules({ entry: a }: PolicyRule, { entry: b }: PolicyRule): number {
  return compareText(a.policy, b.policy) || compareText(a.version, b.version) || compareText(a.id, b.id)
}

interface CompiledSet {
  readonly byWire: ReadonlyMap<string, readonly PolicyRule[]>
  readonly inherited: readonly PolicyRule[]
}

const compiledSets = new WeakMap<PolicySet, CompiledSet>()

/** Compiles a set once; a weak cache keeps the result as long as the set. */
function compiledSet(set: PolicySet): CompiledSet {
  const compiled = compiledSets.get(set) ?? compileSet(set)
  compiledSets.set(set, compiled)
  return compiled
}

function compileSet(set: PolicySet): CompiledSet {
  if (digestOfSet(set) !== set.digest) throw new PolicyFault('digest_mismatch')
  const rules = new Map<string, PolicyRule>(set.entries.map((entry) => [entry.id, compileEntry(entry)]))
  const pick = (ids: readonly string[]): readonly PolicyRule[] =>
    ids
      .map((id) => {
        const rule = rules.get(id)
        if (!rule) throw new PolicyFault('entry_missing')
        return rule
      })
      .sort(compareRules)
  return {
    byWire: new Map(Object.entries(set.index).map(([wire, ids]) => [wire, pick(ids)])),
    inherited: pick(set.inherited),
  }
}

function compileEntry(entry: PolicyEntry): PolicyRule {
  const summary = summarize(entry)
  if (entry.when === undefined) return { entry, summary }
  const { condition, problems } = readCondition(entry.when)
  if (!condition)
    throw new PolicyFault(problems.some((problem) => problem.code === 'cost') ? 'bound_exceeded' : 'condition_invalid')
  return { entry, summary, condition, evaluate: compileCondition(condition) }
}

function summarize(entry: PolicyEntry): PolicyRule['summary'] {
  const { policy, version, effect, reason = null, authority_ref = null } = entry
  const source = entry.origin.find(({ path }) => path !== undefined)
  return {
    id: policy,
    version,
    decision: effect === 'grant' || effect === 'restrict' ? 'allow' : effect,
    reason,
    authority_ref,
    ...(source?.path !== undefined && {
      source: source.line === undefined ? source.path : `${source.path}:${source.line}`,
    }),
  }
}
