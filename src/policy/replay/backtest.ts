/** Decides recorded calls again under other policies and finds those whose decision changes. Source: docs/design/policies.md#replay */
import type { DecisionFlip } from '../../spec/explanation.ts'
import type { RecordedDecision } from '../../operations/decisions.ts'
import type { PolicySet } from '../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { CallFacts, PolicySets } from '../condition/decision.ts'
import { effectKeyOf } from '../condition/effect-key.ts'
import { decideByPolicies, describeVerdict } from '../decide.ts'
import { guardEffect } from '../effect-guard.ts'
import { evaluatePolicies } from '../evaluate-policies.ts'
import { indexRecordedCalls } from './recorded-calls.ts'
import { recordedFacts, recordedPolicySets, type ReplayedFacts, type SnapshotLookup } from './recorded-facts.ts'

/** Replacements of the recorded policies and tools. */
export interface Replacements {
  policiesOf(snapshot: AgentSnapshot): PolicySet
  /** The side-effect class of the tool in a given bundle; undefined = as recorded. */
  classOf(decision: RecordedDecision): CallFacts['tool']['side_effect_class']
}

export interface BacktestResult {
  readonly flips: readonly { readonly decision: RecordedDecision; readonly flip: DecisionFlip }[]
  /** History measures that no recorded decision read. */
  readonly assumed: readonly string[]
}

/**
 * @param decisions oldest first
 * @param pause called after each decision; lets other work run, and throws when the reader is gone
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

/** Undefined if the decision stays the same, or had another reason than policies. */
function flipOf(
  recorded: RecordedDecision,
  { before, after }: { readonly before: PolicySets; readonly after: PolicySets },
  { facts, assumed }: ReplayedFacts,
  newClass: CallFacts['tool']['side_effect_class'],
): DecisionFlip | undefined {
  const { runId, toolCallId, ref, tool, decision: was } = recorded
  const changed = newClass === undefined ? facts : { ...facts, tool: { ...facts.tool, side_effect_class: newClass } }
  const verdict = evaluatePolicies(after, tool, changed)
  // Unchanged verdicts are not reported, unless an effect key contributed.
  if (verdict.fault === undefined && verdict.decision === was && !mayRepeat(changed)) return undefined
  const decided = guardEffect(describeVerdict(verdict), changed)
  const now = decided.decision
  // If the old policies flip as well, the cause is the recounted history and not the new policies.
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
