/**
 * What the effect key of a tool requires in addition to its policies: approval or refusal of a repetition.
 * Source: docs/design/policies.md#effect-keys
 */
import type { CallFacts, PolicyDecision } from './condition/decision.ts'
import { effectKeyOf, effectRepeatOf } from './condition/effect-key.ts'
import { requireApproval } from './require-approval.ts'

/** The reason of a decision about a repetition. */
export const EFFECT_REPEATED = 'effect_repeated'

/** The stricter of the policies' decision and the effect key's requirement. */
export function guardEffect(decision: PolicyDecision, facts: CallFacts): PolicyDecision {
  const { tool, args, effect } = facts
  if (decision.decision === 'deny' || (tool.kind !== 'tool' && tool.kind !== 'mcp')) return decision
  const key = effectKeyOf(tool.labels, args)
  if (key && 'missing' in key)
    return requireApproval(
      decision,
      'effect_key_incomplete',
      `the call has no ${key.missing}, so it cannot be told whether it repeats another one.`,
    )
  if (!effect?.repeated || isGivenEarlierResult(facts)) return decision
  const what = describeEarlier(effect)
  if (effectRepeatOf(tool.labels, tool.side_effect_class) !== 'refuse')
    return requireApproval(decision, EFFECT_REPEATED, what)
  const { obligations: _, ...rest } = decision
  return {
    ...rest,
    decision: 'deny',
    reasons: [EFFECT_REPEATED],
    explanation: `${EFFECT_REPEATED}: ${what}`,
    message: what,
  }
}

/** True for a repetition that gets the known result of the earlier call, as the tool declares. */
export const isGivenEarlierResult = ({ tool, effect }: Pick<CallFacts, 'tool' | 'effect'>): boolean =>
  effect?.previous !== undefined &&
  effectRepeatOf(tool.labels, tool.side_effect_class) === 'return' &&
  effect.previous.outcome === 'done' &&
  effect.previous.same_args &&
  effect.previous.tool === tool.id &&
  effect.hasResult !== false

const OUTCOMES = { done: 'was made at', unknown: 'may have been made at', in_flight: 'is under way since' }

function describeEarlier({ key, previous }: NonNullable<CallFacts['effect']>): string {
  if (!previous) return `${key} was made or is in doubt.`
  const { outcome, at, run_id, agent } = previous
  return `${key} ${OUTCOMES[outcome]} ${at}, by run ${run_id} of ${agent}.`
}
