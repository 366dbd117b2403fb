/** Compares what two versions decide about the same calls. Source: policies, section 7; bundles, section 5. */
import { canonicalJson, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { decideByPolicies } from '../../policy/decide.ts'
import type { CallContext } from '../../policy/condition/first-call.ts'
import type { PolicyDecision, PolicySets } from '../../policy/condition/decision.ts'
import { leavesOf, readCondition } from '../../policy/condition/condition.ts'
import type { ValueClass } from '../../policy/prove/classes.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { checkValue } from '../../tools/check.ts'
import { entriesFor, comparedFactsOf, type ComparedCallee } from './callee.ts'
import {
  QUESTION_WIRE,
  questionDomains,
  type DomainAnswer,
  type DomainQuestions,
  type DomainQuestion,
  type ComparedSide,
} from './questions.ts'
import { proposeWitnesses, type ProposedCall } from './proposals.ts'
import { isLooser } from './strictness.ts'
import { wideningsOf, type Widening } from './widening.ts'

export type AuthorityVerdict = 'equal' | 'tightened' | 'loosened' | 'not_proven'

/** A call that the earlier version stopped, or restricted more than the later one. */
export interface WitnessCall {
  /** `namespace.name` of the called tool or agent. */
  readonly tool: string
  readonly arguments: JsonObject
  /** Facts other than arguments that the decision depends on: `run.depth`, `history.…`. */
  readonly context?: CallContext
  /** `refused`: the earlier version's input schema does not accept it. */
  readonly before: PolicyDecision['decision'] | 'refused'
  readonly after: PolicyDecision['decision']
}

export interface AuthorityComparison {
  readonly verdict: AuthorityVerdict
  /** Set for `loosened`. */
  readonly witness?: WitnessCall
}

/** One of the two versions that are compared. */
export interface ComparedVersion {
  readonly callee: ComparedCallee
  readonly sets: PolicySets
}

/**
 * Comparisons that one proof, or one search for a witness, may use: some tenths of a second. It limits work and not time,
 * so that the same two versions get the same verdict on every machine.
 */
const MAX_WORK = 300_000
/** Counterexamples that are tried as calls. */
const MAX_LEADS = 32

/** Compares the decisions of both versions on every call that the later one accepts. */
export function compareAuthority(before: ComparedVersion, after: ComparedVersion): AuthorityComparison {
  const decided = compareDecisions(before, after)
  if (decided.witness) return decided
  const accepted = compareAccepted(before, after)
  if (accepted.witness) return accepted
  return accepted.verdict === 'equal' ? decided : accepted
}

/** Compares the policies of both versions on the calls that the later version accepts. */
function compareDecisions(before: ComparedVersion, after: ComparedVersion): AuthorityComparison {
  const [old, now] = sidesOf(before, after)
  if (sameQuestions(old, now)) return { verdict: 'equal' }
  const proof = prove(old, now)
  if (isProven(proof)) return { verdict: proof.verdict }
  const changed = proof.verdict === 'not_proven' ? proveChanged(old, now) : undefined
  if (changed && isProven(changed)) return { verdict: changed.verdict }
  const witness = findWitness(before, after, [old, now], changed?.leads ?? proof.leads, [])
  return witness ? { verdict: 'loosened', witness } : { verdict: 'not_proven' }
}

/**
 * `equal` if the later version stops every call that only its input schema accepts. `compareDecisions` covers how strictly
 * it stops them.
 */
export function compareAccepted(before: ComparedVersion, after: ComparedVersion): AuthorityComparison {
  const sides = sidesOf(before, after)
  const [was, is] = [before.callee, after.callee]
  if (!isWriting(before, after)) return { verdict: 'equal' }
  const widenings = wideningsOf(was.schemas, is.schemas)
  if (widenings.length === 0) return { verdict: 'equal' }
  const budget = { left: MAX_BUDGET }
  const open = widenings.map((widening) => proveStopped(sides[1], widening, budget)).filter((proof) => !isProven(proof))
  if (open.length === 0) return { verdict: 'equal' }
  const leads = open.flatMap((proof) => proof.leads).slice(0, MAX_LEADS)
  const witness = findWitness(before, after, sides, leads, widenings)
  return witness ? { verdict: 'loosened', witness } : { verdict: 'not_proven' }
}

const sidesOf = (...versions: readonly [ComparedVersion, ComparedVersion]): readonly [ComparedSide, ComparedSide] =>
  versions.map(({ callee, sets }): ComparedSide => ({ callee, entries: entriesFor(sets, callee) })) as [
    ComparedSide,
    ComparedSide,
  ]

/** Decides a witness again, to confirm it. */
export function replayWitness(
  { callee, sets }: ComparedVersion,
  { arguments: args, context }: WitnessCall,
): PolicyDecision {
  return decideByPolicies(sets, callee.wire, comparedFactsOf(callee, args, context), callee.sideEffectClass)
}

/** True if both sides have the same policies and these read no facts that differ. */
function sameQuestions(old: ComparedSide, now: ComparedSide): boolean {
  if (old.callee.sideEffectClass !== now.callee.sideEffectClass) return false
  const [a, b] = [old, now].map(({ entries }) => entries.map(contentOf).sort().join('\n'))
  if (a !== b) return false
  const [facts, others] = [old, now].map(({ callee }) => {
    const { agent, tool } = comparedFactsOf(callee, {})
    return canonicalJson({ agent, tool })
  })
  return facts === others || !old.entries.some(asksWhoCalls)
}

/** The effect of an entry, without its texts. */
const contentOf = ({ effect, when, allow, obligations }: ComparedSide['entries'][number]): string =>
  canonicalJson({ effect, when, allow, obligations })

function asksWhoCalls({ when }: ComparedSide['entries'][number]): boolean {
  const { condition } = when ? readCondition(when) : {}
  return (
    condition !== undefined && leavesOf(condition).some(({ path }) => path.root === 'tool' || path.root === 'agent')
  )
}

interface Proof {
  /** `loosened`: some combination of answers is looser. No actual call may produce that combination. */
  readonly verdict: AuthorityVerdict
  readonly leads: readonly Lead[]
}

const isProven = ({ verdict }: Proof): boolean => verdict === 'equal' || verdict === 'tightened'

/** Answers for which the later version is looser. */
type Lead = ReadonlyMap<DomainQuestion, DomainAnswer>

/** Decides every combination of answers; `not_proven` if there are too many. */
function prove(old: ComparedSide, now: ComparedSide): Proof {
  const domains = questionDomains(old, now, now.callee.schemas)
  if (!domains) return { verdict: 'not_proven', leads: [] }
  const { questions } = domains
  const total = questions.reduce((product, { answers }) => product * answers.length, 1)
  // Without a class of values there is nothing to decide, which proves nothing.
  if (total === 0 || total * (domains.cost + 1) > MAX_WORK) return { verdict: 'not_proven', leads: [] }
  const leads: Lead[] = []
  let stricter = false
  for (let number = 0; number < total; number++) {
    const answers = combination(questions, number)
    const [was, is] = decideBoth(domains, answers, old, now)
    if (was.error !== undefined || is.error !== undefined) return { verdict: 'not_proven', leads: [] }
    if (isLooser(was, is)) leads.push(answers)
    else stricter ||= isLooser(is, was)
    if (leads.length >= MAX_LEADS) break
  }
  return { verdict: leads.length > 0 ? 'loosened' : stricter ? 'tightened' : 'equal', leads }
}

/**
 * Whether every call that is new at this place is stopped: by all policies together, or by one gate alone, which needs
 * fewer combinations. Grants always take part, because they lift the default of an irreversible action.
 */
function proveStopped(now: ComparedSide, widening: Widening, budget: { left: number }): Proof {
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

/** Comparisons that all of these proofs may use together. */
const MAX_BUDGET = 4 * MAX_WORK

function proveStoppedBy(now: ComparedSide, widening: Widening, budget: { left: number }): Proof {
  const withoutPolicies: ComparedSide = { callee: now.callee, entries: [] }
  const domains = questionDomains(withoutPolicies, now, now.callee.schemas, [widening])
  const total = domains ? domains.questions.reduce((product, { answers }) => product * answers.length, 1) : 0
  const work = domains ? total * (domains.cost + 1) : 0
  if (!domains || total === 0 || work > Math.min(MAX_WORK, budget.left)) return { verdict: 'not_proven', leads: [] }
  budget.left -= work
  const leads: Lead[] = []
  for (let number = 0; number < total && leads.length < MAX_LEADS; number++) {
    const answers = combination(domains.questions, number)
    // A widening without a path may apply to any call.
    if (widening.path !== undefined && ![...answers.values()].some(({ isNew }) => isNew)) continue
    if (decideBoth(domains, answers, withoutPolicies, now)[1].decision === 'allow') leads.push(answers)
  }
  return { verdict: leads.length > 0 ? 'loosened' : 'equal', leads }
}

function combination(questions: readonly DomainQuestion[], number: number): Lead {
  let rest = number
  return new Map(
    questions.map((question) => {
      const answer = question.answers[rest % question.answers.length]!
      rest = Math.floor(rest / question.answers.length)
      return [question, answer]
    }),
  )
}

function decideBoth(
  domains: DomainQuestions,
  lead: Lead,
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
function proveChanged(old: ComparedSide, now: ComparedSide): Proof | undefined {
  const [before, after] = [new Set(old.entries.map(contentOf)), new Set(now.entries.map(contentOf))]
  const common = (entry: ComparedSide['entries'][number]): boolean =>
    before.has(contentOf(entry)) && after.has(contentOf(entry))
  // Shared policies decide alike only if they read no facts that differ between the versions.
  const kept = (entry: ComparedSide['entries'][number]): boolean => !common(entry) || asksWhoCalls(entry)
  const [fewer, others] = [old, now].map((side): ComparedSide => ({ ...side, entries: side.entries.filter(kept) })) as [
    ComparedSide,
    ComparedSide,
  ]
  if (fewer.entries.length === old.entries.length && others.entries.length === now.entries.length) return undefined
  const defaults = [old, now].some(({ callee }) => callee.sideEffectClass === 'irreversible_action')
  const lost = defaults && now.callee.sideEffectClass !== 'irreversible_action'
  if (lost || (defaults && [fewer, others].some(({ entries }) => entries.some(({ effect }) => effect === 'grant'))))
    return undefined
  return prove(withoutDefault(fewer), withoutDefault(others))
}

/** The gates alone, without the default of the side-effect class. */
function withoutDefault({ callee, entries }: ComparedSide): ComparedSide {
  const { sideEffectClass: _, ...rest } = callee
  return { callee: rest, entries }
}

/** Searches for a call that the later version restricts less: around every literal first, then in combinations. */
function findWitness(
  before: ComparedVersion,
  after: ComparedVersion,
  sides: readonly [ComparedSide, ComparedSide],
  leads: readonly Lead[],
  widenings: readonly Widening[],
): WitnessCall | undefined {
  const cost = sides.reduce((sum, { entries }) => sum + entries.length, 1)
  const starts = leads.map((lead) => {
    const chosen = new Map<string, readonly ValueClass[]>()
    for (const [{ subject }, { classes }] of lead) if (subject) chosen.set(subject.text, classes)
    return chosen
  })
  let second: WitnessCall | undefined
  for (const proposal of proposeWitnesses(
    sides,
    after.callee.schemas,
    starts,
    widenings,
    Math.ceil(MAX_WORK / cost / 5),
  )) {
    const witness = decideProposal(before, after, proposal, widenings.length > 0)
    // A call that both versions accept shows best what the policies changed.
    if (witness && (witness.before !== 'refused' || widenings.length > 0)) return witness
    second ??= witness
  }
  return second
}

/** @param mayBeNew true if a call counts that is allowed now and was refused by the earlier input schema */
function decideProposal(
  before: ComparedVersion,
  after: ComparedVersion,
  { args, context }: ProposedCall,
  mayBeNew: boolean,
): WitnessCall | undefined {
  const facts = Object.keys(context).length === 0 ? {} : { context }
  const call = { tool: after.callee.id, arguments: args, ...facts, before: 'allow', after: 'allow' } as const
  const [was, is] = [replayWitness(before, call), replayWitness(after, call)]
  const looser = isLooser(was, is)
  // Check schemas last: a schema with a pattern is checked within a time limit, which takes longer than many decisions.
  if (!looser && !(mayBeNew && is.decision === 'allow')) return undefined
  const refused = before.callee.schemas.some((schema) => isRefused(schema, args))
  if (!looser && !refused) return undefined
  if (!after.callee.schemas.every((schema) => checkValue(schema, args).length === 0)) return undefined
  return { ...call, before: refused ? 'refused' : was.decision, after: is.decision }
}

/** True if newly accepted calls count: a read changes nothing, and the calls of a sub-agent are compared for that sub-agent. */
const isWriting = (before: ComparedVersion, after: ComparedVersion): boolean =>
  after.callee.kind === 'tool' && [before, after].some(({ callee }) => callee.sideEffectClass !== 'read_only')

function isRefused(schema: JsonSchema, args: JsonObject): boolean {
  const [fault] = checkValue(schema, args)
  return fault !== undefined && !fault.message.startsWith('cannot be checked')
}
