/** Decides recorded calls again under other policies and finds those that come out otherwise. Source: policies, section 7. */
import type { DecisionFlip } from '../../spec/explanation.ts'
import type { RecordedDecision } from '../../spec/operator/decide.ts'
import type { PolicySet } from '../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { CallFacts, PolicySets } from '../condition/decision.ts'
import { effectKeyOf } from '../condition/effect-key.ts'
import { decideByPolicies, describeVerdict } from '../decide.ts'
import { guardEffect } from '../effect-guard.ts'
import { evaluatePolicies } from '../evaluate-policies.ts'
import { indexRecordedCalls } from './recorded-calls.ts'
import { recordedFacts, recordedPolicySets, type ReplayedFacts, type SnapshotLookup } from './recorded-facts.ts'

/** What stands in place of the recorded policies and tools. */
export interface Replacements {
  policiesOf(snapshot: AgentSnapshot): PolicySet
  /** The side-effect class of the tool in a given bundle; undefined = as recorded. */
  classOf(decision: RecordedDecision): CallFacts['tool']['side_effect_class']
}

export interface BacktestResult {
  readonly flips: readonly { readonly decision: RecordedDecision; readonly flip: DecisionFlip }[]
  /** History measures that no recorded decision had read. */
  readonly assumed: readonly string[]
}

/**
 * @param decisions oldest first
 * @param pause called after each decision, so that others have their turn and a reader who has gone ends it
 */
export async function backtest(
  decisions: readonly RecordedDecision[],
  snapshots: SnapshotLookup,
  replacements: Replacements,
  pause: () => Promise<void> | void = () => {},
): Promise<BacktestResult> {
  const calls = indexRecordedCalls(decisions)
  const flips: BacktestResult['flips'][number][] = []
  const assumed = new Set<string>()
  const setsBefore = rememberSets((decision) => recordedPolicySets(decision, snapshots))
  const setsAfter = rememberSets((decision) =>
    recordedPolicySets(decision, snapshots, (snapshot) => replacements.policiesOf(snapshot)),
  )
  for (const decision of decisions) {
    const replayed = recordedFacts(decision, calls)
    const [before, after] = [setsBefore(decision), setsAfter(decision)]
    const sets = { before: 'own' in before ? before : await before, after: 'own' in after ? after : await after }
    const flip = flipOf(decision, sets, replayed, replacements.classOf(decision))
    if (flip) flips.push({ decision, flip })
    replayed.assumed.forEach((each) => assumed.add(each))
    const waiting = pause()
    if (waiting) await waiting
  }
  return { flips, assumed: [...assumed].sort() }
}

/** The sets of a version and those above it, looked up once: most decisions were made under the same few. */
function rememberSets(
  load: (decision: RecordedDecision) => Promise<PolicySets>,
): (decision: RecordedDecision) => PolicySets | Promise<PolicySets> {
  const known = new Map<string, PolicySets>()
  return (decision) => {
    const { agent, versionLabel, ancestors } = decision
    const above = ancestors.map((each) => `${each.agent}@${each.versionLabel}`).join(' ')
    const key = `${agent}@${versionLabel} ${above}`
    return (
      known.get(key) ??
      load(decision).then((sets) => {
        known.set(key, sets)
        return sets
      })
    )
  }
}

/** Undefined where the decision stays the same, or where it had another reason than policies. */
function flipOf(
  recorded: RecordedDecision,
  { before, after }: { readonly before: PolicySets; readonly after: PolicySets },
  { facts, assumed }: ReplayedFacts,
  newClass: CallFacts['tool']['side_effect_class'],
): DecisionFlip | undefined {
  const { runId, toolCallId, ref, tool, decision: was } = recorded
  const changed = newClass === undefined ? facts : { ...facts, tool: { ...facts.tool, side_effect_class: newClass } }
  const verdict = evaluatePolicies(after, tool, changed)
  // What stays as it was needs no words, unless an effect key has a say in it.
  if (verdict.fault === undefined && verdict.decision === was && !mayRepeat(changed)) return undefined
  const decided = guardEffect(describeVerdict(verdict), changed)
  const now = decided.decision
  // A flip that the old policies show too comes from recounted history, not from the new policies.
  if (now === was || now === decideByPolicies(before, tool, facts).decision) return undefined
  const { policies, error } = decided
  const winner = policies[0]
  const isByPolicy = winner !== undefined && winner.matched !== false && !verdict.byDefault
  return {
    runId,
    toolCallId,
    tool: ref,
    was,
    now,
    ...(assumed.size > 0 && { assumed: [...assumed].sort() }),
    by: error ?? (isByPolicy ? `${winner.id}@${winner.version}` : 'default'),
  }
}

function mayRepeat({ tool, effect, args }: CallFacts): boolean {
  const key = effectKeyOf(tool.labels, args)
  return effect?.repeated === true || (key !== undefined && 'missing' in key)
}
