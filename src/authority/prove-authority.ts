/**
 * Proves, over every combination of answers that policies can tell apart, that one version decides no looser than another.
 * Source: docs/design/prover.md#classes-of-values
 */
import { canonicalJson, type JsonValue } from '../base/json/json.ts'
import { leavesOfEntry } from '../policy/condition/condition.ts'
import type { PolicyDecision } from '../policy/condition/decision.ts'
import { decideByPolicies } from '../policy/decide.ts'
import type { PolicyEntry } from '../spec/policy-set.ts'
import { comparedFactsOf } from './callee.ts'
import {
  QUESTION_WIRE,
  questionDomains,
  type ComparedSide,
  type DomainAnswer,
  type DomainQuestion,
  type DomainQuestions,
} from './questions.ts'
import { isLooser } from './strictness.ts'
import type { Widening } from './widening.ts'
import { nthCombination } from './nth-combination.ts'

export type AuthorityVerdict = 'equal' | 'tightened' | 'loosened' | 'not_proven'

/**
 * Comparisons that one proof, or one search for a witness, may use: some tenths of a second. It limits work and not time,
 * so that the same two versions get the same verdict on every machine.
 */
export const MAX_WORK = 300_000
/** Counterexamples that are tried as calls. */
export const MAX_LEADS = 32

export interface AuthorityProof {
  /** `loosened`: some combination of answers is looser. No actual call may produce that combination. */
  readonly verdict: AuthorityVerdict
  readonly leads: readonly LooserAnswers[]
}

export const isProven = ({ verdict }: AuthorityProof): boolean => verdict === 'equal' || verdict === 'tightened'

/** Answers for which the later version is looser. */
export type LooserAnswers = ReadonlyMap<DomainQuestion, DomainAnswer>

/** Decides every combination of answers; `not_proven` if there are too many. */
export function proveNoLooser(old: ComparedSide, now: ComparedSide): AuthorityProof {
  const domains = questionDomains(old, now, now.callee.schemas)
  if (!domains) return { verdict: 'not_proven', leads: [] }
  const { questions } = domains
  const total = questions.reduce((product, { answers }) => product * answers.length, 1)
  // Without a class of values there is nothing to decide, which proves nothing.
  if (total === 0 || total * (domains.cost + 1) > MAX_WORK) return { verdict: 'not_proven', leads: [] }
  const leads: LooserAnswers[] = []
  let stricter = false
  for (let number = 0; number < total; number++) {
    const answers = combination(questions, number)
    const [was, is] = decideBoth(domains, answers, old, now)
    if (was.error !== undefined || is.error !== undefined) return { verdict: 'not_proven', leads: [] }
    if (isLooser(was, is)) leads.push(answers)
    else stricter ||= isLooser(is, was)
    if (leads.length >= MAX_LEADS) break
  }
  const otherwise = stricter ? 'tightened' : 'equal'
  return { verdict: leads.length > 0 ? 'loosened' : otherwise, leads }
}

/**
 * Whether every call that is new at this place is stopped: by all policies together, or by one gate alone, which needs
 * fewer combinations. Grants always take part, because they lift the default of an irreversible action.
 */
export function proveStopped(now: ComparedSide, widening: Widening, budget: { left: number }): AuthorityProof {
  const proof = proveStoppedBy(now, widening, budget)
  if (proof.verdict !== 'not_proven') return proof
  const grants = now.entries.filter(({ effect }) => effect === 'grant')
  const gates = now.entries.filter(({ effect }) => effect !== 'grant')
  for (const entries of [grants, ...gates.map((gate) => [gate, ...grants])]) {
    const part = proveStoppedBy({ ...now, entries }, widening, budget)
    if (isProven(part)) return part
  }
  return proof
}

/** Comparisons that all proofs of what is newly accepted may use together. */
export const MAX_STOPPED_WORK = 4 * MAX_WORK

function proveStoppedBy(now: ComparedSide, widening: Widening, budget: { left: number }): AuthorityProof {
  const withoutPolicies: ComparedSide = { callee: now.callee, entries: [] }
  const domains = questionDomains(withoutPolicies, now, now.callee.schemas, [widening])
  const total = domains ? domains.questions.reduce((product, { answers }) => product * answers.length, 1) : 0
  const work = domains ? total * (domains.cost + 1) : 0
  if (!domains || total === 0 || work > Math.min(MAX_WORK, budget.left)) return { verdict: 'not_proven', leads: [] }
  budget.left -= work
  const leads: LooserAnswers[] = []
  for (let number = 0; number < total && leads.length < MAX_LEADS; number++) {
    const answers = combination(domains.questions, number)
    // A widening without a path may apply to any call.
    if (widening.path !== undefined && ![...answers.values()].some(({ isNew }) => isNew)) continue
    if (decideBoth(domains, answers, withoutPolicies, now)[1].decision === 'allow') leads.push(answers)
  }
  return { verdict: leads.length > 0 ? 'loosened' : 'equal', leads }
}

const combination = (questions: readonly DomainQuestion[], number: number): LooserAnswers =>
  new Map(nthCombination(questions, ({ answers }) => answers, number))

function decideBoth(
  domains: DomainQuestions,
  lead: LooserAnswers,
  old: ComparedSide,
  now: ComparedSide,
): readonly [PolicyDecision, PolicyDecision] {
  const args: Record<string, JsonValue> = {}
  for (const [{ key }, { given }] of lead) if (given !== undefined) args[key] = given
  const on = (set: DomainQuestions['before'], { callee }: ComparedSide): PolicyDecision =>
    decideByPolicies({ own: set, ancestors: [] }, QUESTION_WIRE, comparedFactsOf(callee, args), callee.sideEffectClass)
  return [on(domains.before, old), on(domains.after, now)]
}

/**
 * Compares only the policies that differ. If these are no looser for any call, neither are they together with the policies
 * that both versions share. Undefined if that cannot be proven. Grants are excluded when they lift the default of an
 * irreversible action, because their effect depends on all other policies.
 */
export function proveChanged(old: ComparedSide, now: ComparedSide): AuthorityProof | undefined {
  const [before, after] = [new Set(old.entries.map(contentOf)), new Set(now.entries.map(contentOf))]
  const isCommon = (entry: PolicyEntry): boolean => before.has(contentOf(entry)) && after.has(contentOf(entry))
  // Shared policies decide alike only if they read no facts that differ between the versions.
  const isKept = (entry: PolicyEntry): boolean => !isCommon(entry) || asksWhoCalls(entry)
  const reduce = (side: ComparedSide): ComparedSide => ({ ...side, entries: side.entries.filter(isKept) })
  const [fewer, others] = [reduce(old), reduce(now)]
  if (fewer.entries.length === old.entries.length && others.entries.length === now.entries.length) return undefined
  const defaults = [old, now].some(({ callee }) => callee.sideEffectClass === 'irreversible_action')
  const lost = defaults && now.callee.sideEffectClass !== 'irreversible_action'
  if (lost || (defaults && [fewer, others].some(({ entries }) => entries.some(({ effect }) => effect === 'grant'))))
    return undefined
  return proveNoLooser(withoutDefault(fewer), withoutDefault(others))
}

/** The gates alone, without the default of the side-effect class. */
function withoutDefault({ callee, entries }: ComparedSide): ComparedSide {
  const { sideEffectClass: _, ...rest } = callee
  return { callee: rest, entries }
}

/** The effect of an entry, without its texts. */
export const contentOf = ({ effect, when, allow, obligations }: PolicyEntry): string =>
  canonicalJson({ effect, when, allow, obligations })

/** True for a policy that compares facts of the tool or of the agent, which may differ between the versions. */
export const asksWhoCalls = (entry: PolicyEntry): boolean =>
  leavesOfEntry(entry).some(({ path }) => path.root === 'tool' || path.root === 'agent')
