/** What two versions decide about the same calls. Source: policies, section 7; bundles, section 5. */
import { canonicalJson, type JsonObject, type JsonValue } from '../../base/json.ts'
import { decideByPolicies } from '../../policy/decide.ts'
import type { PolicyDecision, PolicySets } from '../../policy/condition/decision.ts'
import { readCondition } from '../../policy/condition/condition.ts'
import type { ValueClass } from '../../policy/prove/classes.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { checkValue } from '../../tools/check.ts'
import { entriesFor, factsOf, type ComparedCallee, type CallContext } from './callee.ts'
import {
  ASKED,
  questionDomains,
  leavesIn,
  type DomainAnswer,
  type DomainInterview,
  type DomainQuestion,
  type ComparedSide,
} from './questions.ts'
import { proposeWitnesses, type ProposedCall } from './proposals.ts'
import { isLooser } from './strictness.ts'
import { wideningsOf, type Widening } from './widening.ts'

export type AuthorityVerdict = 'equal' | 'tightened' | 'loosened' | 'not_proven'

/** A call that the earlier version stopped, or stopped harder, than the later one. */
export interface WitnessCall {
  /** `namespace.name` of what is called. */
  readonly tool: string
  readonly arguments: JsonObject
  /** What else the call depends on, where it matters: `run.depth`, `history.…`. */
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

/** One version's part of the comparison. */
export interface ComparedVersion {
  readonly callee: ComparedCallee
  readonly sets: PolicySets
}

/**
 * Comparisons that one proof, and one search for a witness, may cost. A bound on work and not on time: the same two versions
 * have the same verdict on every machine. It is some tenths of a second.
 */
const MAX_WORK = 300_000
/** Counterexamples that are tried as calls. */
const MAX_LEADS = 32

/** Compares what both versions make of every call that the later one accepts. */
export function compareAuthority(before: ComparedVersion, after: ComparedVersion): AuthorityComparison {
  const decided = compareDecisions(before, after)
  if (decided.witness) return decided
  const accepted = compareAccepted(before, after)
  if (accepted.witness) return accepted
  return accepted.verdict === 'equal' ? decided : accepted
}

/** What the policies of both make of the calls that the later version accepts. */
function compareDecisions(before: ComparedVersion, after: ComparedVersion): AuthorityComparison {
  const [old, now] = sidesOf(before, after)
  if (sameQuestions(old, now)) return { verdict: 'equal' }
  const whole = prove(old, now)
  if (isProven(whole)) return { verdict: whole.verdict }
  const changed = whole.verdict === 'not_proven' ? proveChanged(old, now) : undefined
  if (changed && isProven(changed)) return { verdict: changed.verdict }
  const witness = findWitness(before, after, [old, now], changed?.leads ?? whole.leads, [])
  return witness ? { verdict: 'loosened', witness } : { verdict: 'not_proven' }
}

/**
 * `equal` where the later version stops every call that only it accepts. How strictly it does is told by the policies, which
 * are compared for these calls as for any other.
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

/** Decides a witness again: the proof of it. */
export function replayWitness(
  { callee, sets }: ComparedVersion,
  { arguments: args, context }: WitnessCall,
): PolicyDecision {
  return decideByPolicies(sets, callee.wire, factsOf(callee, args, context), callee.sideEffectClass)
}

/** True where both sides ask the same policies the same things, whatever is called. */
function sameQuestions(old: ComparedSide, now: ComparedSide): boolean {
  if (old.callee.sideEffectClass !== now.callee.sideEffectClass) return false
  const [a, b] = [old, now].map(({ entries }) => entries.map(contentOf).sort().join('\n'))
  if (a !== b) return false
  const [facts, others] = [old, now].map(({ callee }) => {
    const { agent, tool } = factsOf(callee, {})
    return canonicalJson({ agent, tool })
  })
  return facts === others || !old.entries.some(asksWhoCalls)
}

/** What an entry does, without what it says. */
const contentOf = ({ effect, when, allow, obligations }: ComparedSide['entries'][number]): string =>
  canonicalJson({ effect, when, allow, obligations })

function asksWhoCalls({ when }: ComparedSide['entries'][number]): boolean {
  const { condition } = when ? readCondition(when) : {}
  return (
    condition !== undefined && leavesIn(condition).some(({ path }) => path.root === 'tool' || path.root === 'agent')
  )
}

interface Proof {
  /** `loosened`: there is a combination of answers that is looser; whether it is a call is another question. */
  readonly verdict: AuthorityVerdict
  readonly leads: readonly Lead[]
}

const isProven = ({ verdict }: Proof): boolean => verdict === 'equal' || verdict === 'tightened'

/** Answers under which the later version is looser. */
type Lead = ReadonlyMap<DomainQuestion, DomainAnswer>

/** Asks all combinations of answers; `not_proven` where there are too many. */
function prove(old: ComparedSide, now: ComparedSide): Proof {
  const asked = questionDomains(old, now, now.callee.schemas)
  if (!asked) return { verdict: 'not_proven', leads: [] }
  const { questions } = asked
  const total = questions.reduce((product, { answers }) => product * answers.length, 1)
  // Without a class of values there is nothing to decide about, which proves nothing.
  if (total === 0 || total * (asked.cost + 1) > MAX_WORK) return { verdict: 'not_proven', leads: [] }
  const leads: Lead[] = []
  let stricter = false
  for (let number = 0; number < total; number++) {
    const answers = combination(questions, number)
    const [was, is] = decideBoth(asked, answers, old, now)
    if (was.error !== undefined || is.error !== undefined) return { verdict: 'not_proven', leads: [] }
    if (isLooser(was, is)) leads.push(answers)
    else stricter ||= isLooser(is, was)
    if (leads.length >= MAX_LEADS) break
  }
  return { verdict: leads.length > 0 ? 'loosened' : stricter ? 'tightened' : 'equal', leads }
}

/**
 * Whether every call that is new at this place is stopped: by all policies together, or by one gate alone, which is less to ask.
 * Grants are always asked, since they lift the default of an irreversible action.
 */
function proveStopped(now: ComparedSide, widening: Widening, budget: { left: number }): Proof {
  const whole = proveStoppedBy(now, widening, budget)
  if (whole.verdict !== 'not_proven') return whole
  const grants = now.entries.filter(({ effect }) => effect === 'grant')
  const gates = now.entries.filter(({ effect }) => effect !== 'grant')
  for (const entries of [grants, ...gates.map((gate) => [gate, ...grants])]) {
    const part = proveStoppedBy({ ...now, entries }, widening, budget)
    if (isProven(part)) return part
  }
  return whole
}

/** What all of these proofs may cost together. */
const MAX_BUDGET = 4 * MAX_WORK

function proveStoppedBy(now: ComparedSide, widening: Widening, budget: { left: number }): Proof {
  const nobody: ComparedSide = { callee: now.callee, entries: [] }
  const asked = questionDomains(nobody, now, now.callee.schemas, [widening])
  const total = asked ? asked.questions.reduce((product, { answers }) => product * answers.length, 1) : 0
  const work = asked ? total * (asked.cost + 1) : 0
  if (!asked || total === 0 || work > Math.min(MAX_WORK, budget.left)) return { verdict: 'not_proven', leads: [] }
  budget.left -= work
  const leads: Lead[] = []
  for (let number = 0; number < total && leads.length < MAX_LEADS; number++) {
    const answers = combination(asked.questions, number)
    // A place that is no path may be met by any call.
    if (widening.path !== undefined && ![...answers.values()].some(({ isNew }) => isNew)) continue
    if (decideBoth(asked, answers, nobody, now)[1].decision === 'allow') leads.push(answers)
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
  asked: DomainInterview,
  lead: Lead,
  old: ComparedSide,
  now: ComparedSide,
): readonly [PolicyDecision, PolicyDecision] {
  const args: Record<string, JsonValue> = {}
  for (const [{ key }, { given }] of lead) if (given !== undefined) args[key] = given
  const on = (set: DomainInterview['before'], { callee }: ComparedSide): PolicyDecision =>
    decideByPolicies({ own: set, ancestors: [] }, ASKED, factsOf(callee, args), callee.sideEffectClass)
  return [on(asked.before, old), on(asked.after, now)]
}

/**
 * The same for the policies that differ, without those that both versions have: where these alone are no looser for any call,
 * nor are they together with the same others. Undefined where that is not proven. A grant is no such policy where it lifts the
 * default of an irreversible action: what it does depends on all others.
 */
function proveChanged(old: ComparedSide, now: ComparedSide): Proof | undefined {
  const [before, after] = [new Set(old.entries.map(contentOf)), new Set(now.entries.map(contentOf))]
  const common = (entry: ComparedSide['entries'][number]): boolean =>
    before.has(contentOf(entry)) && after.has(contentOf(entry))
  // What both versions have decides alike only where it asks nothing that differs between them.
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

/** Gates alone, whatever the class asks for. */
function withoutDefault({ callee, entries }: ComparedSide): ComparedSide {
  const { sideEffectClass: _, ...rest } = callee
  return { callee: rest, entries }
}

/** Looks for a call that the later version lets through more easily: around every literal, then in combinations. */
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
    const witness = judge(before, after, proposal, widenings.length > 0)
    // A call that both versions accept shows best what their policies changed.
    if (witness && (witness.before !== 'refused' || widenings.length > 0)) return witness
    second ??= witness
  }
  return second
}

/** @param mayBeNew true where a call counts as well that is allowed and was refused by the earlier input schema */
function judge(
  before: ComparedVersion,
  after: ComparedVersion,
  { args, context }: ProposedCall,
  mayBeNew: boolean,
): WitnessCall | undefined {
  const told = Object.keys(context).length === 0 ? {} : { context }
  const call = { tool: after.callee.id, arguments: args, ...told, before: 'allow', after: 'allow' } as const
  const [was, is] = [replayWitness(before, call), replayWitness(after, call)]
  const looser = isLooser(was, is)
  // Schemas are asked last: one with a pattern is checked under guard, which takes longer than many decisions.
  if (!looser && !(mayBeNew && is.decision === 'allow')) return undefined
  const refused = before.callee.schemas.some((schema) => isRefused(schema, args))
  if (!looser && !refused) return undefined
  if (!after.callee.schemas.every((schema) => checkValue(schema, args).length === 0)) return undefined
  return { ...call, before: refused ? 'refused' : was.decision, after: is.decision }
}

/** True where newly accepted calls count: what only reads, or asks another agent, is judged there. */
const isWriting = (before: ComparedVersion, after: ComparedVersion): boolean =>
  after.callee.kind === 'tool' && [before, after].some(({ callee }) => callee.sideEffectClass !== 'read_only')

function isRefused(schema: JsonSchema, args: JsonObject): boolean {
  const [fault] = checkValue(schema, args)
  return fault !== undefined && !fault.message.startsWith('cannot be checked')
}
