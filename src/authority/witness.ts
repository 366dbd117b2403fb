/** Searches for a call that one version restricts less than another. Source: docs/design/prover.md#witnesses */
import type { JsonObject } from '../base/json/json.ts'
import type { PolicyDecision } from '../policy/condition/decision.ts'
import type { CallContext } from '../policy/condition/first-call.ts'
import { decideByPolicies } from '../policy/decide.ts'
import type { ValueClass } from '../policy/prove/classes.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { checkValue } from '../tools/check/check.ts'
import { comparedFactsOf, type ComparedVersion } from './callee.ts'
import { proposeWitnesses, type ProposedCall } from './proposals.ts'
import { MAX_WORK, type LooserAnswers } from './prove-authority.ts'
import type { ComparedSide } from './questions.ts'
import { isLooser } from './strictness.ts'
import type { Widening } from './widening.ts'

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

/** Searches for a call that the later version restricts less: around every literal first, then in combinations. */
export function findWitness(
  before: ComparedVersion,
  after: ComparedVersion,
  sides: readonly [ComparedSide, ComparedSide],
  leads: readonly LooserAnswers[],
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

/** Decides a witness again, to confirm it. */
export function replayWitness(
  { callee, sets }: ComparedVersion,
  { arguments: args, context }: WitnessCall,
): PolicyDecision {
  return decideByPolicies(sets, callee.wire, comparedFactsOf(callee, args, context), callee.sideEffectClass)
}

function isRefused(schema: JsonSchema, args: JsonObject): boolean {
  const [fault] = checkValue(schema, args)
  return fault !== undefined && !fault.message.startsWith('cannot be checked')
}
